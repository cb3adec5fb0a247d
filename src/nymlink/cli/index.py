"""`nymlink index`: make vocabularies searchable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nymlink.cli.annotated_corpus import AnnotatedCorpus, annotated_corpus
from nymlink.cli.common import finish, mapping, reported_problems
from nymlink.cli.lazy import Commands
from nymlink.core.store.output_checks import require_changeable, require_directory
from nymlink.core.terminal import tell
from nymlink.encode.model.folder import MINI
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS, KINDS, MOST_EXACT
from nymlink.index.fusion import METHODS, WEIGHTED, Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import KIND, store_encoder, store_fusion
from nymlink.index.plan import Plan
from nymlink.index.sparse.features import DEFAULT_PRESET, PRESETS
from nymlink.linking.calibration import Calibration
from nymlink.vocabulary.read import open_vocabulary

_fusion_option = click.option(
    "--fusion",
    type=click.Choice(list(METHODS)),
    help="Combine searches by their weighted scores, or by ranks; unchanged if not given.",
)


@click.group(cls=Commands)
def index() -> None:
    """Build, describe and tune indexes: searchable vocabularies."""


@index.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--sparse",
    type=click.Choice(list(PRESETS)),
    default=DEFAULT_PRESET,
    show_default=True,
    help="Sparse search (by spelling): ours, as published for BioSyn or by Le & Nguyen, or none. With ours, names "
    "of the same concepts that differ only in the order of their words are searched as one.",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    default=MINI,
    show_default=True,
    help="Dense search (by meaning) with this encoder: the name of an installed one, such as nymlink-mini, a "
    "folder, or a model on the Hugging Face hub; none: no dense search.",
)
@click.option(
    "--dense",
    type=click.Choice([EXACT_NEIGHBOURS, *KINDS]),
    default=EXACT_NEIGHBOURS,
    show_default=True,
    help="Dense search: exact, or approximate with faiss or a store.",
)
@click.option(
    "--store",
    metavar="URL",
    help="Server to search the vectors, exact or by hnsw: postgresql://USER@HOST/DATABASE (with pgvector; the "
    "password from PGPASSWORD or ~/.pgpass), http://HOST:19530 (Milvus; credentials from NYMLINK_STORE_TOKEN), or "
    "a file of Milvus Lite, NAME.db. If not given, nymlink searches them.",
)
@click.option(
    "--fusion",
    type=click.Choice(list(METHODS)),
    default=WEIGHTED,
    show_default=True,
    help="Combine searches by their weighted scores, or by ranks.",
)
@click.option(
    "--device", help="Device of the encoder: cpu, cuda or cuda:1; if not given, torch uses a GPU if there is one."
)
@click.option("--language", "languages", multiple=True, help="Search names in this language only. Repeatable.")
@click.option(
    "--phrases", is_flag=True, help="Add phrases that annotators and curators used for its concepts, with counts."
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder for vectors of names, used by later builds; a stopped build continues there. If not given, the "
    "user's cache.",
)
def build(
    vocabulary: Path,
    output: Path,
    sparse: str,
    encoder: str,
    dense: str,
    store: str | None,
    fusion: str,
    device: str | None,
    languages: tuple[str, ...],
    phrases: bool,
    cache: Path | None,
) -> None:
    """Build the index of a vocabulary.

    VOCAB is a folder written by `nymlink vocab build`, or a source that it reads without options. The index needs
    only its encoder: the vocabulary can be removed afterwards. An existing index in the folder is replaced, unless
    the folder has other files, too.

    \b
    nymlink index build hp.obo -o hpo-index
    nymlink index build mondo -o mondo-index
    nymlink index build mondo -o mondo-index --encoder my-encoder
    nymlink index build mondo -o mondo-index --store postgresql://me@db.example.org/terms --dense hnsw
    """
    if encoder == "none" and (dense != EXACT_NEIGHBOURS or {store, device, cache} != {None}):
        raise click.UsageError(
            "--dense, --store, --device and --cache are for dense search: give an --encoder too"
        )
    require_directory(output, kind=KIND, inputs=[vocabulary])
    if cache is not None and cache.resolve().is_relative_to(output.resolve()):
        raise click.UsageError("--cache is in the folder to write, which is replaced: choose another place")
    problems = reported_problems()
    loaded, kept = None, None
    if encoder != "none":
        from nymlink.encode.cached_vectors import EmbeddingCache
        from nymlink.encode.encoder import Encoder

        loaded = Encoder.load(encoder, device=device)
        kept = None if cache is None else EmbeddingCache(cache)
    built = Index.build(
        open_vocabulary(vocabulary, problems=problems),
        directory=output,
        sparse=sparse,
        encoder=loaded,
        dense=dense,
        store=store,
        fusion=fusion,
        languages=languages or None,
        phrases=phrases,
        cache=kept,
        progress=True,
    )
    click.echo(f"{built.entries.distinct_names:,} distinct names of {len(built.vocabulary):,} concepts → {output}")
    if encoder != "none" and dense == EXACT_NEIGHBOURS and store is None and len(built.entries) > MOST_EXACT:
        tell("So many names are searched faster with --dense ivf-pq (needs nymlink[faiss]).")
    finish(problems)


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
def info(index: Path, as_json: bool) -> None:
    """Show the contents and settings of an index.

    \b
    nymlink index info mondo-index
    nymlink index info mondo-index --json
    """
    opened = Index.load(index)
    if as_json:
        click.echo(json.dumps(_as_json(opened), ensure_ascii=False, indent=2))
        return
    click.echo(f"concepts  {len(opened.vocabulary):,}")
    click.echo(f"entries   {len(opened.entries):,} of {opened.entries.distinct_names:,} distinct prepared names")
    click.echo(f"fusion    {opened.fusion.method}")
    for name, weight in opened.fusion.weights.items():
        click.echo(f"search    {name}, weight {weight:.3g}")
    click.echo(f"confidence {_calibrated(opened)}")
    if opened.uses is not None:
        click.echo(f"uses      of {len(opened.uses):,} texts, from annotated mentions")
    for name, value in opened.settings.items():
        if name != "fusion":
            _echo_setting(name, value)
    for source in opened.vocabulary.sources:
        click.echo(f"source    {source.name} {source.version or ''}".rstrip())


def _as_json(index: Index) -> dict[str, Any]:
    """Describe an index as JSON values."""
    return {
        "concepts": len(index.vocabulary),
        "names": index.vocabulary.name_count,
        "entries": len(index.entries),
        "fusion": index.fusion.to_dict(),
        "calibrated": None if index.calibration is None else Calibration.of(index).fitted_to,
        "ranker": index.ranker is not None,
        "uses": None if index.uses is None else len(index.uses),
        "settings": dict(index.settings),
        "languages": index.vocabulary.counts("lang"),
        "sources": [source.to_dict() for source in index.vocabulary.sources],
    }


def _calibrated(index: Index) -> str:
    """Describe the data of an index's calibration."""
    if index.calibration is None:
        return "none: it is not calibrated (`nymlink calibrate`)"
    source = f"fitted to {Calibration.of(index).fitted_to}"
    if index.calibration != Plan.from_dict(index.settings).calibration:
        return source
    return f"{source}; no mention of this vocabulary was checked (`nymlink calibrate` does)"


def _echo_setting(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _echo_setting(f"{name} {key}", inner)
        return
    text = ", ".join(value) if isinstance(value, list) else value
    click.echo(f"setting   {name}: {text or 'none'}")


@index.command("set")
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@_fusion_option
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="SEARCH=WEIGHT",
    help="Weight of a search; 0 for others. If not given, the defaults. Repeatable.",
)
@click.option("--encoder", metavar="MODEL", help="New place of the encoder of the index.")
def set_(index: Path, fusion: str | None, weights: tuple[str, ...], encoder: str | None) -> None:
    """Set the fusion of an index, or the place of its encoder.

    \b
    nymlink index set mondo-index --fusion reciprocal-rank
    nymlink index set mondo-index --weight exact=0.1 --weight sparse=0.3 --weight dense=0.6
    nymlink index set mondo-index --encoder nymlink-mini
    """
    joins = fusion is not None or bool(weights)
    if not joins and encoder is None:
        raise click.UsageError(
            "name a setting: --fusion, --weight or --encoder (`nymlink index info INDEX` says what is set now)"
        )
    require_changeable(index)
    opened = Index.load(index, encoder=encoder)
    if encoder is not None:
        # A loaded encoder is compared with the recorded one.
        loaded = opened.encoder
        assert loaded is not None, "an index without an encoder refuses one"
        assert loaded.name is not None, "it was loaded from a place"
        store_encoder(index, loaded.name)
        click.echo(f"encoder {loaded.name} → {index}")
    if joins:
        joined = Fusion.of(opened.search.parts, fusion or opened.fusion.method, _weights(weights) or None)
        store_fusion(index, joined)
        click.echo(f"{_description(joined)} → {index}")


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@annotated_corpus
@_fusion_option
def fit(index: Path, corpus: AnnotatedCorpus, fusion: str | None) -> None:
    """Fit the weights of an index's searches on an annotated corpus.

    Do this after a change of the encoder, or if your mentions differ much from names; otherwise the default
    weights are as good. New weights remove the ranker and the calibration. CORPUS holds training or development
    mentions, never those of a final evaluation. The index keeps the weights with the highest Acc@1 (by name, as
    published).

    \b
    nymlink index fit medic-index CDR_DevelopmentSet.PubTator.txt --type Disease
    """
    from nymlink.evaluation.fit_fusion import fit_fusion

    require_changeable(index)
    problems = reported_problems()
    gold = corpus.read(problems)
    opened = Index.load(index)
    fitted = fit_fusion(opened, gold, method=fusion, types=corpus.types, language=corpus.language)
    store_fusion(index, fitted.after.fusion)
    for label, outcome in (("before", fitted.before), ("after", fitted.after)):
        accuracies = f"Acc@1 {100 * outcome.acc_1:.1f}  Acc@5 {100 * outcome.acc_5:.1f}"
        click.echo(f"{label:7} {accuracies}  {_description(outcome.fusion)}")
    click.echo(f"{fitted.tried:,} weightings compared on {fitted.mentions:,} mentions → {index}")
    finish(problems)


def _weights(values: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(weight) for name, weight in mapping(values).items()}
    except ValueError as error:
        raise click.BadParameter(f"{error}: a weight is a number, for example dense=0.6") from error


def _description(fusion: Fusion) -> str:
    return f"{fusion.method}: " + ", ".join(f"{name} {weight:.3g}" for name, weight in fusion.weights.items())
