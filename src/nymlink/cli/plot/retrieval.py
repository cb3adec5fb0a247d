"""`nymlink plot retrieval`: draw how well names in each language find those in each other."""

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
from nymlink.plot.figure import save_figure
from nymlink.plot.retrieval import draw_retrieval
from nymlink.plot.translations import MOST_LANGUAGES, sample_translations
from nymlink.vocabulary.vocabulary import Vocabulary


@click.command()
@vocabulary_argument
@encoders_option("a heat map for each.")
@output_option
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    callback=each_once,
    help=f"A language to draw. Repeatable; if not given, those with most names, at most {MOST_LANGUAGES}, without "
    "those in which too few of the concepts have names.",
)
@click.option(
    "--concepts", default=200, show_default=True, type=click.IntRange(2, 2000), help="How many concepts."
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
    """Draw how well names in each language find the names of the same concepts in each other.

    A heat map, language by language: of the names in the language of a row, the share (%) whose most similar name
    in the language of the column is of the same concept. The concepts are drawn among those that have names in all
    of these languages, so that every cell has the same ones. With a good encoder all cells are dark. VOCAB is a
    folder that `nymlink vocab build` wrote.

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
