"""`nymlink plot`: pictures of what training does to the space of names."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from nymlink.encode.encoder import Encoder
from nymlink.errors import MissingExtraError
from nymlink.plot.figure import picture_format, save_figure
from nymlink.plot.sample import sample_batches, sample_names
from nymlink.plot.similarities import PairSimilarities, draw_similarities
from nymlink.plot.space import draw_space
from nymlink.vocabulary.vocabulary import Vocabulary

_vocabulary = click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
_output = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Picture to write: .pdf, .png or .svg.",
)
_seed = click.option("--seed", default=0, show_default=True, help="Seed of what is drawn at random.")


def _finite(_: click.Context, option: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter(f"{option.name} must be a finite number, not {value}")
    return value


def _encoders(why: str) -> Callable[[Any], Any]:
    return click.option(
        "--encoder",
        "encoders",
        multiple=True,
        required=True,
        metavar="NAME",
        help=f"Folder of an encoder, or its name on the hub. Repeatable: {why}",
    )


@click.group()
def plot() -> None:
    """Draw what training does to the space of names."""


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

    Names that an encoder takes to be similar lie near each other (t-SNE). A good one has the names of each concept
    together. VOCAB is a directory that `nymlink vocab build` wrote.

    \b
    nymlink plot space mondo --encoder base --encoder trained -o space.png
    """
    picture_format(output)
    _require("matplotlib", "sklearn", extra="plot", purpose="drawing")
    sample = sample_names(Vocabulary.load(vocabulary), concepts=concepts, names=names, seed=seed)
    views = {title: Encoder.load(name).encode(sample.texts) for title, name in _titles(encoders).items()}
    save_figure(draw_space(sample, views, seed=seed), output)
    click.echo(f"{len(sample.texts):,} names of {concepts:,} concepts → {output}")


@plot.command()
@_vocabulary
@_encoders("a row of histograms for each.")
@_output
@click.option("--pairs", default=256, show_default=True, type=click.IntRange(min=2), help="Pairs of a batch.")
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
    directory that `nymlink vocab build` wrote.

    \b
    nymlink plot similarities mondo --encoder base --encoder trained -o similarities.png
    """
    picture_format(output)
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


def _require(*modules: str, extra: str, purpose: str) -> None:
    """See that what a picture needs is installed, before names are encoded for it."""
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose=purpose)


def _titles(encoders: tuple[str, ...]) -> dict[str, str]:
    """Encoders by their last name, or by all of it where that would be another's too."""
    last = [Path(name).name for name in encoders]
    return {short if last.count(short) == 1 else name: name for short, name in zip(last, encoders, strict=True)}
