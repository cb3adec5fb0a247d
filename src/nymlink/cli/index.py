"""`nymlink index`: make vocabularies searchable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import annotated_corpus, finish, mapping, reported_problems
from nymlink.core.store.outputs import require_changeable, require_directory
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus
from nymlink.encode.model.embedded import MINI
from nymlink.index.dense.approximate import EXACTLY, KINDS
from nymlink.index.fusion.fusion import METHODS, WEIGHTED, Fusion
from nymlink.index.index import KIND, Index
from nymlink.index.plan import Plan
from nymlink.index.sparse.presets import DEFAULT_PRESET, PRESETS
from nymlink.index.stored import store_fusion
from nymlink.link.calibration import Calibration
from nymlink.vocabulary.read import open_vocabulary


@click.group()
def index() -> None:
    """Make vocabularies searchable."""


@index.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory to write.")
@click.option(
    "--sparse",
    type=click.Choice(list(PRESETS)),
    default=DEFAULT_PRESET,
    show_default=True,
    help="Sparse search: ours, as published for BioSyn or by Le & Nguyen, or none. With ours, names of the same "
    "concepts that differ in the order of their words alone are searched as one.",
)
@click.option(
    "--encoder",
    metavar="MODEL",
    default=MINI,
    show_default=True,
    help="Dense search with this encoder: the one that comes with nymlink, a folder, or a model on the Hugging "
    "Face hub; none: no dense search.",
)
@click.option(
    "--dense",
    type=click.Choice([EXACTLY, *KINDS]),
    default=EXACTLY,
    show_default=True,
    help="Dense search: exact, or approximate with faiss.",
)
@click.option(
    "--fusion",
    type=click.Choice(list(METHODS)),
    default=WEIGHTED,
    show_default=True,
    help="How searches are joined: by their weighted scores, or by the ranks that they give.",
)
@click.option("--device", help="Where the encoder runs: cpu, cuda or cuda:1.")
@click.option("--language", "languages", multiple=True, help="Search names in this language only. Repeatable.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Folder of vectors encoded before, and to add to: a build that was stopped goes on there. Without it the "
    "user's cache.",
)
def build(
    vocabulary: Path,
    output: Path,
    sparse: str,
    encoder: str,
    dense: str,
    fusion: str,
    device: str | None,
    languages: tuple[str, ...],
    cache: Path | None,
) -> None:
    """Build the index of a vocabulary.

    VOCAB is a directory that `nymlink vocab build` wrote, or a source whose format and columns it would know
    without being told. The index holds all it needs but the encoder: the vocabulary can be removed afterwards.
    Equal names are found by every index. An index that is in the directory is replaced, unless files that are not
    its own are there, too.

    \b
    nymlink index build hp.obo -o hpo-index
    nymlink index build mondo -o mondo-index
    nymlink index build mondo -o mondo-index --encoder my-encoder
    """
    if encoder == "none" and (dense != EXACTLY or device is not None or cache is not None):
        raise click.UsageError("--dense, --device and --cache are for dense search: give an --encoder too")
    require_directory(output, kind=KIND, inputs=[vocabulary])
    if cache is not None and cache.resolve().is_relative_to(output.resolve()):
        raise click.UsageError("--cache is in the directory to write, which is replaced: choose another place")
    problems = reported_problems()
    loaded, kept = None, None
    if encoder != "none":
        from nymlink.encode.cache.embedding_cache import EmbeddingCache
        from nymlink.encode.encoder import Encoder

        loaded = Encoder.load(encoder, device=device)
        kept = EmbeddingCache.of_user() if cache is None else EmbeddingCache(cache)
    built = Index.build(
        open_vocabulary(vocabulary, problems=problems),
        directory=output,
        sparse=sparse,
        encoder=loaded,
        dense=dense,
        fusion=fusion,
        languages=languages or None,
        cache=kept,
        progress=True,
    )
    click.echo(f"{built.entries.distinct_names:,} distinct names of {len(built.vocabulary):,} concepts → {output}")
    finish(problems)


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
def info(index: Path) -> None:
    """Say what an index holds and how it was built."""
    opened = Index.load(index)
    click.echo(f"concepts  {len(opened.vocabulary):,}")
    click.echo(f"entries   {len(opened.entries):,} of {opened.entries.distinct_names:,} distinct prepared names")
    click.echo(f"fusion    {opened.fusion.method}")
    for name, weight in opened.fusion.weights.items():
        click.echo(f"search    {name}, weight {weight:.3g}")
    click.echo(f"confidence {_calibrated(opened)}")
    for name, value in opened.settings.items():
        if name != "fusion":
            _echo_setting(name, value)
    for source in opened.vocabulary.sources:
        click.echo(f"source    {source.name} {source.version or ''}".rstrip())


def _calibrated(index: Index) -> str:
    """How far the confidences of an index were checked."""
    if index.calibration is None:
        return "none: it is not calibrated (`nymlink calibrate`)"
    said = f"fitted to {Calibration.of(index).fitted_to}"
    if index.calibration != Plan.from_dict(index.settings).calibration:
        return said
    return f"{said}; no mention of this vocabulary was checked (`nymlink calibrate` does)"


def _echo_setting(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, each in value.items():
            _echo_setting(f"{name} {key}", each)
        return
    said = ", ".join(value) if isinstance(value, list) else value
    click.echo(f"setting   {name}: {said or 'none'}")


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@click.option("--method", type=click.Choice(list(METHODS)), help="By scores or by ranks; as it is if not given.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="SEARCH=WEIGHT",
    help="Weight of a search, 0 for those not named; without any, the defaults. Repeatable.",
)
def fuse(index: Path, method: str | None, weights: tuple[str, ...]) -> None:
    """Set how the searches of an index are joined.

    \b
    nymlink index fuse mondo-index --method reciprocal-rank
    nymlink index fuse mondo-index --weight exact=0.1 --weight sparse=0.3 --weight dense=0.6
    """
    if method is None and not weights:
        raise click.UsageError(
            "say how the searches are to be joined: give --method, --weight or both (`nymlink index info INDEX` "
            "says how they are joined now)"
        )
    require_changeable(index)
    opened = Index.load(index)
    fusion = Fusion.of(opened.search.parts, method or opened.fusion.method, _weights(weights) or None)
    store_fusion(index, fusion)
    click.echo(f"{_said(fusion)} → {index}")


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@annotated_corpus
@click.option("--method", type=click.Choice(list(METHODS)), help="By scores or by ranks; as it is if not given.")
def fit(
    index: Path,
    corpus: Path,
    format: str | None,
    types: tuple[str, ...],
    columns: tuple[str, ...],
    method: str | None,
    encoder: str | None,
) -> None:
    """Fit the weights of an index's searches on an annotated corpus.

    CORPUS holds training or development mentions, never those that are to be reported. The weights of the highest
    Acc@1 (by name, as published) are stored in the index.

    \b
    nymlink index fit medic-index CDR_DevelopmentSet.PubTator.txt --type Disease
    """
    from nymlink.evaluate.fit import fit as fit_weights

    require_changeable(index)
    problems = reported_problems()
    gold = read_corpus(corpus, format=format, options=CorpusOptions(columns=mapping(columns)), problems=problems)
    found = fit_weights(Index.load(index, encoder=encoder), gold, method=method, types=set(types) or None)
    store_fusion(index, found.after.fusion)
    for label, one in (("before", found.before), ("after", found.after)):
        click.echo(f"{label:7} Acc@1 {100 * one.acc_1:.1f}  Acc@5 {100 * one.acc_5:.1f}  {_said(one.fusion)}")
    click.echo(f"{found.tried:,} weightings compared on {found.mentions:,} mentions → {index}")
    finish(problems)


def _weights(values: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(weight) for name, weight in mapping(values).items()}
    except ValueError as error:
        raise click.BadParameter(f"{error}: a weight is a number, for example dense=0.6") from error


def _said(fusion: Fusion) -> str:
    return f"{fusion.method}: " + ", ".join(f"{name} {weight:.3g}" for name, weight in fusion.weights.items())
