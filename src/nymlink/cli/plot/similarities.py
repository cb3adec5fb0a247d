"""`nymlink plot similarities`: draw how similar the pairs of training batches are."""

from __future__ import annotations

import math
from pathlib import Path

import click

from nymlink.cli.plot.options import (
    encoders_option,
    output_option,
    require_modules,
    sample_seed_option,
    titles,
    vocabulary_argument,
)
from nymlink.encode.encoder import Encoder
from nymlink.plot.figure import save_figure
from nymlink.plot.sample import sample_batches
from nymlink.plot.similarities import PairSimilarities, draw_similarities
from nymlink.vocabulary.vocabulary import Vocabulary


def _finite(_: click.Context, option: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter(f"{option.name} must be a finite number, not {value}")
    return value


@click.command()
@vocabulary_argument
@encoders_option("a row of histograms for each.")
@output_option
@click.option(
    "--batch-pairs", "pairs", default=256, show_default=True, type=click.IntRange(min=2), help="Pairs of a batch."
)
@click.option("--batches", default=4, show_default=True, type=click.IntRange(min=1), help="How many batches.")
@click.option("--margin", default=0.2, show_default=True, callback=_finite, help="Margin of mining.")
@sample_seed_option
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
    require_modules("matplotlib", extra="plot", purpose="drawing")
    require_modules("torch", extra="train", purpose="mining")
    drawn = sample_batches(Vocabulary.load(vocabulary), pairs=pairs, batches=batches, seed=seed)
    measured = {}
    for title, name in titles(encoders).items():
        encoder = Encoder.load(name)
        encoded = [(encoder.encode(texts), labels) for texts, labels in drawn]
        measured[title] = (
            PairSimilarities.of(encoded, margin=None),
            PairSimilarities.of(encoded, margin=margin),
        )
    save_figure(draw_similarities(measured, margin=margin), output)
    click.echo(f"{batches:,} batches of {pairs:,} pairs → {output}")
