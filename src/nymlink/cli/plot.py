"""Commands that draw."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from nymlink.cli.common import finish, reported_problems, require_files, seed_option
from nymlink.cli.lazy import LazyCommands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import MissingExtraError
from nymlink.corpus.read import read_corpus
from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.plot.figure import picture_format, save_figure
from nymlink.plot.languages import draw_languages
from nymlink.plot.mentions import MOST, cluster_sizes, draw_clusters, draw_contexts, sample_contexts
from nymlink.plot.retrieval import MOST_LANGUAGES, draw_retrieval, sample_translations
from nymlink.plot.sample import sample_batches, sample_chosen
from nymlink.plot.similarities import PairSimilarities, draw_similarities
from nymlink.plot.space import draw_space
from nymlink.rerank.inputs import entities
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.xlbel.evaluate import COUNTING, reading_of
from nymlink.xlbel.results import accuracies, coverage, read_results

plot = LazyCommands(
    "plot",
    help="Draw names, similarities, mentions and clusters before and after training, and results by language.",
    commands={
        "space": "nymlink.cli.plot:space",
        "similarities": "nymlink.cli.plot:similarities",
        "contexts": "nymlink.cli.plot:contexts",
        "clusters": "nymlink.cli.plot:clusters",
        "languages": "nymlink.cli.plot:languages",
        "retrieval": "nymlink.cli.plot:retrieval",
    },
)


_BATCHES: Final = 4
_MARGIN: Final = 0.2
"""Batches in the picture of similarities, and SapBERT's margin of mining."""

vocabulary_argument = click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
corpus_option = click.option(
    "--corpus", required=True, type=click.Path(path_type=Path), help="Annotated documents: file or folder."
)


def _drawable(_: click.Context, __: click.Parameter, output: Path) -> Path:
    require_files([output])
    picture_format(output)
    return output


output_option = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    callback=_drawable,
    help="Picture to write: .pdf, .png or .svg.",
)
sample_seed_option = seed_option("Seed of the random sample.")


def each_once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a value that is given more than once, as the callback of a repeatable parameter."""
    for value in values:
        if values.count(value) > 1:
            raise click.BadParameter(f"{value} is given more than once")
    return values


def encoders_option(purpose: str) -> Callable[[Any], Any]:
    """Make the option ``--encoder MODEL``, given once or more.

    Args:
        purpose: part of the picture made from each encoder, for the help.
    """
    return click.option(
        "--encoder",
        "encoders",
        multiple=True,
        required=True,
        metavar="MODEL",
        callback=each_once,
        help=f"Folder of an encoder, or its name on the hub. Repeatable: {purpose}",
    )


def require_modules(*modules: str, extra: str, purpose: str) -> None:
    """Check that the libraries for a picture are installed, before anything is encoded for it.

    Raises:
        MissingExtraError: one is not.
    """
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose=purpose)


def titles(models: tuple[str, ...]) -> dict[str, str]:
    """Map short titles to models: the last part of a path, or the whole if two models share that part."""
    last = [Path(name).name for name in models]
    return {short if last.count(short) == 1 else name: name for short, name in zip(last, models, strict=True)}


@click.command(cls=GroupedCommand)
@vocabulary_argument
@encoders_option("a map for each.")
@output_option
@click.option("--concepts", default=10, show_default=True, type=click.IntRange(2, 49), help="Number of concepts.")
@click.option(
    "--concept",
    "chosen",
    multiple=True,
    metavar="ID",
    callback=each_once,
    help="A concept to draw in colour, its names labelled by language; others in grey fill up --concepts. "
    "Repeatable.",
)
@click.option("--names", default=10, show_default=True, type=click.IntRange(2, 100), help="Names per concept.")
@sample_seed_option
def space(
    vocabulary: Path,
    encoders: tuple[str, ...],
    output: Path,
    concepts: int,
    chosen: tuple[str, ...],
    names: int,
    seed: int,
) -> None:
    """Draw a map of the names of some concepts.

    Names with similar vectors lie near each other (t-SNE). With a good encoder the names of a concept lie
    together. VOCAB is a folder written by `nymlink vocab build`.

    \b
    nymlink plot space mondo --encoder base --encoder trained -o space.png
    nymlink plot space hpo-multilingual --concept HP:0001250 --encoder base --encoder trained -o seizure.png
    """
    require_modules("matplotlib", "sklearn", extra="plot", purpose="drawing")
    sample = sample_chosen(Vocabulary.load(vocabulary), chosen, concepts=concepts, names=names, seed=seed)
    views = {title: Encoder.load(name).encode(sample.texts) for title, name in titles(encoders).items()}
    save_figure(draw_space(sample, views, seed=seed), output)
    click.echo(f"{len(sample.texts):,} names of {len(sample.concepts):,} concepts → {output}")


@click.command(cls=GroupedCommand)
@vocabulary_argument
@encoders_option("a row of histograms for each.")
@output_option
@click.option(
    "--batch-pairs", "pairs", default=256, show_default=True, type=click.IntRange(min=2), help="Pairs per batch."
)
@sample_seed_option
def similarities(
    vocabulary: Path,
    encoders: tuple[str, ...],
    output: Path,
    pairs: int,
    seed: int,
) -> None:
    """Draw the similarities of pairs in training batches, before and after mining.

    Mining keeps the hard pairs: distant synonyms, and similar names of other concepts. VOCAB is a folder written
    by `nymlink vocab build`.

    \b
    nymlink plot similarities mondo --encoder base --encoder trained -o similarities.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    require_modules("torch", extra="train", purpose="mining")
    drawn = sample_batches(Vocabulary.load(vocabulary), pairs=pairs, batches=_BATCHES, seed=seed)
    measured = {}
    for title, name in titles(encoders).items():
        encoder = Encoder.load(name)
        encoded = [(encoder.encode(texts), labels) for texts, labels in drawn]
        measured[title] = (
            PairSimilarities.of(encoded, margin=None),
            PairSimilarities.of(encoded, margin=_MARGIN),
        )
    save_figure(draw_similarities(measured, margin=_MARGIN), output)
    click.echo(f"{_BATCHES} batches of {pairs:,} pairs → {output}")


@click.command(cls=GroupedCommand)
@click.argument("rerankers", nargs=-1, required=True, metavar="RERANKER...", callback=each_once)
@click.option(
    "--index", required=True, type=click.Path(path_type=Path), help="Index whose vocabulary has the concepts."
)
@corpus_option
@output_option
@click.option("--concepts", default=6, show_default=True, type=click.IntRange(2, MOST), help="Number of concepts.")
@click.option(
    "--mentions", default=20, show_default=True, type=click.IntRange(2, 100), help="Mentions per concept."
)
@sample_seed_option
def contexts(
    rerankers: tuple[str, ...],
    index: Path,
    corpus: Path,
    output: Path,
    concepts: int,
    mentions: int,
    seed: int,
) -> None:
    """Draw a map of mentions in their contexts, and of their concepts.

    Mentions and concepts with similar vectors lie near each other (multidimensional scaling). With a good
    re-ranker the mentions of a concept lie around it. RERANKER is a folder written by `nymlink train rerank`; each
    has a map.

    \b
    nymlink plot contexts triplet prototype --index mesh-index --corpus CDR_DevelopmentSet.PubTator.txt -o map.png
    """
    require_modules("matplotlib", "sklearn", extra="plot", purpose="drawing")
    require_modules("torch", extra="train", purpose="encoding mentions in their contexts")
    from nymlink.rerank.dual_encoder import DualEncoder

    problems = reported_problems()
    vocabulary = Index.load(index).vocabulary
    annotated = read_corpus(corpus, problems=problems)
    duals = {title: DualEncoder.load(folder) for title, folder in titles(rerankers).items()}
    sample = sample_contexts(
        vocabulary,
        annotated,
        concepts=concepts,
        mentions=mentions,
        max_length=max(dual.settings.max_length for dual in duals.values()),
        seed=seed,
    )
    described = list(entities(vocabulary, sample.concepts))
    views = {
        title: (dual.encode_passages(sample.passages), dual.encode_entities(described))
        for title, dual in duals.items()
    }
    save_figure(draw_contexts(sample, views), output)
    click.echo(f"{len(sample.passages):,} mentions of {concepts:,} concepts → {output}")
    finish(problems)


@click.command(cls=GroupedCommand)
@corpus_option
@output_option
def clusters(corpus: Path, output: Path) -> None:
    """Draw the number of mentions per concept and document.

    The mentions of one concept in one document are a cluster; re-rankers learn from clusters.

    \b
    nymlink plot clusters --corpus CDR_TrainingSet.PubTator.txt -o clusters.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    problems = reported_problems()
    annotated = read_corpus(corpus, problems=problems)
    sizes = cluster_sizes(annotated)
    save_figure(draw_clusters(sizes, title=annotated.name), output)
    click.echo(f"{sizes.sum():,} mentions in {len(sizes):,} clusters → {output}")
    finish(problems)


@click.command(cls=GroupedCommand)
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@output_option
def languages(results: Path, output: Path) -> None:
    """Draw the accuracy of each stage of a training in each language.

    Each language, and their mean, has a group of bars, one per evaluated index: Acc@1 of all mentions, by name, or
    by concept for re-ranked candidates. The outline of a bar is coverage, the limit set by the dictionary. RESULTS
    is the JSON file written by `nymlink xlbel evaluate -o`.

    \b
    nymlink xlbel evaluate xlbel_v1.0 --index mondo-index --index medic-index -o xlbel.json
    nymlink plot languages xlbel.json -o languages.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    measured = read_results(results)
    reading = reading_of(measured)
    by_stage = accuracies(measured, reading)
    measure = f"Acc@1 of all mentions, {COUNTING[reading]}"
    save_figure(draw_languages(by_stage, measure=measure, coverage=coverage(measured)), output)
    codes = {result.language for result in measured}
    click.echo(f"{len(by_stage):,} stages in {len(codes):,} languages → {output}")


@click.command(cls=GroupedCommand)
@vocabulary_argument
@encoders_option("a heat map for each.")
@output_option
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    callback=each_once,
    help=f"A language to draw. Repeatable; if not given, up to {MOST_LANGUAGES} languages with the most names, "
    "without languages with too few concepts.",
)
@click.option(
    "--concepts", default=200, show_default=True, type=click.IntRange(2, 2000), help="Number of concepts."
)
@sample_seed_option
def retrieval(
    vocabulary: Path,
    encoders: tuple[str, ...],
    output: Path,
    languages: tuple[str, ...],
    concepts: int,
    seed: int,
) -> None:
    """Draw how well names in each language find names of the same concepts in other languages.

    A heat map. Each cell is the share (%) of names in the language of its row whose most similar name in the
    language of its column belongs to the same concept. All cells use the same concepts, a sample of those with
    names in all languages. With a good encoder all cells are dark. VOCAB is a folder written by `nymlink vocab
    build`.

    \b
    nymlink plot retrieval hpo-multilingual --encoder base --encoder trained -o retrieval.png
    nymlink plot retrieval hpo-multilingual --encoder trained --language de --language zh -o retrieval.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    sample = sample_translations(Vocabulary.load(vocabulary), concepts=concepts, languages=languages, seed=seed)
    views = {title: Encoder.load(name).encode(sample.texts) for title, name in titles(encoders).items()}
    save_figure(draw_retrieval(sample, views), output)
    drawn = f"{len(sample.texts):,} names of {concepts:,} concepts in {len(sample.languages):,} languages"
    click.echo(f"{drawn} → {output}")
