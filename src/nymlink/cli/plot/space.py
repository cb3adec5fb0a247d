"""`nymlink plot space`: draw a map of the names of some concepts."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.plot.options import (
    each_once,
    encoders_option,
    output_option,
    require_modules,
    sample_seed_option,
    titles,
    vocabulary_argument,
)
from nymlink.encode.encoder import Encoder
from nymlink.plot.chosen import sample_chosen
from nymlink.plot.figure import save_figure
from nymlink.plot.space import draw_space
from nymlink.vocabulary.vocabulary import Vocabulary


@click.command()
@vocabulary_argument
@encoders_option("a map for each.")
@output_option
@click.option("--concepts", default=10, show_default=True, type=click.IntRange(2, 49), help="How many concepts.")
@click.option(
    "--concept",
    "chosen",
    multiple=True,
    metavar="ID",
    callback=each_once,
    help="A concept to draw in colour, its names labelled by language; random ones in grey make up --concepts. "
    "Repeatable.",
)
@click.option(
    "--names", default=10, show_default=True, type=click.IntRange(2, 100), help="How many names of each."
)
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

    Names that are similar to an encoder lie near each other (t-SNE). With a good encoder the names of a concept
    lie together. VOCAB is a folder that `nymlink vocab build` wrote.

    \b
    nymlink plot space mondo --encoder base --encoder trained -o space.png
    nymlink plot space hpo-multilingual --concept HP:0001250 --encoder base --encoder trained -o seizure.png
    """
    require_modules("matplotlib", "sklearn", extra="plot", purpose="drawing")
    sample = sample_chosen(Vocabulary.load(vocabulary), chosen, concepts=concepts, names=names, seed=seed)
    views = {title: Encoder.load(name).encode(sample.texts) for title, name in titles(encoders).items()}
    save_figure(draw_space(sample, views, seed=seed), output)
    click.echo(f"{len(sample.texts):,} names of {len(sample.concepts):,} concepts → {output}")
