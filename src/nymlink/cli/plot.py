"""`nymlink plot`: draw names, similarities, mentions and clusters before and after training."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import finish, reported_problems, require_files, seed_option
from nymlink.core.errors import MissingExtraError
from nymlink.corpus.read import read_corpus
from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.plot.clusters import cluster_sizes, draw_clusters
from nymlink.plot.contexts import MOST, draw_contexts, sample_contexts
from nymlink.plot.figure import picture_format, save_figure
from nymlink.plot.sample import sample_batches, sample_names
from nymlink.plot.similarities import PairSimilarities, draw_similarities
from nymlink.plot.space import draw_space
from nymlink.rerank.entities import entities
from nymlink.vocabulary.vocabulary import Vocabulary

_vocabulary = click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
_corpus = click.option(
    "--corpus", required=True, type=click.Path(path_type=Path), help="Annotated documents: file or folder."
)


def _drawable(_: click.Context, __: click.Parameter, output: Path) -> Path:
    require_files([output])
    picture_format(output)
    return output


_output = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    callback=_drawable,
    help="Picture to write: .pdf, .png or .svg.",
)
_seed = seed_option("Seed of the random sample.")


def _finite(_: click.Context, option: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter(f"{option.name} must be a finite number, not {value}")
    return value


def _each_once(_: click.Context, __: click.Parameter, models: tuple[str, ...]) -> tuple[str, ...]:
    for name in models:
        if models.count(name) > 1:
            raise click.BadParameter(f"{name} is given more than once")
    return models


def _encoders(purpose: str) -> Callable[[Any], Any]:
    return click.option(
        "--encoder",
        "encoders",
        multiple=True,
        required=True,
        metavar="MODEL",
        callback=_each_once,
        help=f"Folder of an encoder, or its name on the hub. Repeatable: {purpose}",
    )


@click.group()
def plot() -> None:
    """Draw names, similarities, mentions and clusters before and after training."""


@plot.command()
@_vocabulary
@_encoders("a map for each.")
@_output
@click.option("--concepts", default=10, show_default=True, type=click.IntRange(2, 49), help="How many concepts.")
@click.option(
    "--names", default=10, show_default=True, type=click.IntRange(2, 100), help="How many names of each."
)
@_seed
def space(vocabulary: Path, encoders: tuple[str, ...], output: Path, concepts: int, names: int, seed: int) -> None:
    """Draw a map of the names of some concepts.

    Names that are similar to an encoder lie near each other (t-SNE). With a good encoder the names of a concept
    lie together. VOCAB is a folder that `nymlink vocab build` wrote.

    \b
    nymlink plot space mondo --encoder base --encoder trained -o space.png
    """
    _require("matplotlib", "sklearn", extra="plot", purpose="drawing")
    sample = sample_names(Vocabulary.load(vocabulary), concepts=concepts, names=names, seed=seed)
    views = {title: Encoder.load(name).encode(sample.texts) for title, name in _titles(encoders).items()}
    save_figure(draw_space(sample, views, seed=seed), output)
    click.echo(f"{len(sample.texts):,} names of {concepts:,} concepts → {output}")


@plot.command()
@_vocabulary
@_encoders("a row of histograms for each.")
@_output
@click.option(
    "--batch-pairs", "pairs", default=256, show_default=True, type=click.IntRange(min=2), help="Pairs of a batch."
)
@click.option("--batches", default=4, show_default=True, type=click.IntRange(min=1), help="How many batches.")
@click.option("--margin", default=0.2, show_default=True, callback=_finite, help="Margin of mining.")
@_seed
def similarities(
    vocabulary: Path,
    encoders: tuple[str, ...],
    output: Path,
    pairs: int,
    batches: int,
    margin: float,
    seed: int,
) -> None:
    """Draw how similar the pairs of training batches are, before and after mining.

    Mining keeps the pairs that are hard to tell apart: far synonyms, near names of other concepts. VOCAB is a
    folder that `nymlink vocab build` wrote.

    \b
    nymlink plot similarities mondo --encoder base --encoder trained -o similarities.png
    """
    _require("matplotlib", extra="plot", purpose="drawing")
    _require("torch", extra="train", purpose="mining")
    drawn = sample_batches(Vocabulary.load(vocabulary), pairs=pairs, batches=batches, seed=seed)
    measured = {}
    for title, name in _titles(encoders).items():
        encoder = Encoder.load(name)
        encoded = [(encoder.encode(texts), labels) for texts, labels in drawn]
        measured[title] = (
            PairSimilarities.of(encoded, margin=None),
            PairSimilarities.of(encoded, margin=margin),
        )
    save_figure(draw_similarities(measured, margin=margin), output)
    click.echo(f"{batches:,} batches of {pairs:,} pairs → {output}")


@plot.command()
@click.argument("rerankers", nargs=-1, required=True, metavar="RERANKER...", callback=_each_once)
@click.option(
    "--index", required=True, type=click.Path(path_type=Path), help="Index whose vocabulary has the concepts."
)
@_corpus
@_output
@click.option("--concepts", default=6, show_default=True, type=click.IntRange(2, MOST), help="How many concepts.")
@click.option(
    "--mentions", default=20, show_default=True, type=click.IntRange(2, 100), help="How many mentions of each."
)
@_seed
def contexts(
    rerankers: tuple[str, ...],
    index: Path,
    corpus: Path,
    output: Path,
    concepts: int,
    mentions: int,
    seed: int,
) -> None:
    """Draw a map of mentions in their contexts, and of the concepts they mean.

    Mentions and concepts that are similar to a re-ranker lie near each other (multidimensional scaling). With a
    good re-ranker the mentions of a concept lie around it. RERANKER is a folder that `nymlink train rerank` wrote;
    each has a map.

    \b
    nymlink plot contexts triplet prototype --index mesh-index --corpus CDR_DevelopmentSet.PubTator.txt -o map.png
    """
    _require("matplotlib", "sklearn", extra="plot", purpose="drawing")
    _require("torch", extra="train", purpose="encoding mentions in their contexts")
    from nymlink.rerank.dual.dual_encoder import DualEncoder

    problems = reported_problems()
    vocabulary = Index.load(index).vocabulary
    annotated = read_corpus(corpus, problems=problems)
    duals = {title: DualEncoder.load(folder) for title, folder in _titles(rerankers).items()}
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


@plot.command()
@_corpus
@_output
def clusters(corpus: Path, output: Path) -> None:
    """Draw how many mentions a concept has in a document.

    The mentions of one concept in one document are a cluster, from which a re-ranker learns.

    \b
    nymlink plot clusters --corpus CDR_TrainingSet.PubTator.txt -o clusters.png
    """
    _require("matplotlib", extra="plot", purpose="drawing")
    problems = reported_problems()
    annotated = read_corpus(corpus, problems=problems)
    sizes = cluster_sizes(annotated)
    save_figure(draw_clusters(sizes, title=annotated.name), output)
    click.echo(f"{sizes.sum():,} mentions in {len(sizes):,} clusters → {output}")
    finish(problems)


def _require(*modules: str, extra: str, purpose: str) -> None:
    """Check that the libraries for a picture are installed, before anything is encoded for it."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose=purpose)


def _titles(models: tuple[str, ...]) -> dict[str, str]:
    """Map short titles to models: the last part of a path, or the whole where two models share that part."""
    last = [Path(name).name for name in models]
    return {short if last.count(short) == 1 else name: name for short, name in zip(last, models, strict=True)}
