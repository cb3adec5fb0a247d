"""`nymlink index`: make vocabularies searchable."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.index.index import Index
from nymlink.index.presets import DEFAULT_PRESET, PRESETS
from nymlink.vocabulary.vocabulary import Vocabulary


@click.group()
def index() -> None:
    """Make vocabularies searchable."""


@index.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory to write.")
@click.option(
    "--encoder",
    type=click.Choice(["none"]),
    default="none",
    show_default=True,
    expose_value=False,
    help="Encoder of names for dense search; none: exact and sparse search only.",
)
@click.option(
    "--sparse",
    type=click.Choice(list(PRESETS)),
    default=DEFAULT_PRESET,
    show_default=True,
    help="Sparse search: ours, as published for BioSyn or by Le & Nguyen, or none (equal names only).",
)
def build(vocabulary: Path, output: Path, sparse: str) -> None:
    """Build the index of a vocabulary.

    VOCAB is a directory that `nymlink vocab build` wrote. The index holds all it needs: the vocabulary can be
    removed afterwards.
    """
    built = Index.build(Vocabulary.load(vocabulary), sparse=sparse, progress=True)
    built.save(output)
    click.echo(f"{len(built.entries):,} distinct names of {len(built.vocabulary):,} concepts → {output}")


@index.command()
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
def info(index: Path) -> None:
    """Say what an index holds and how it was built."""
    opened = Index.load(index)
    click.echo(f"concepts  {len(opened.vocabulary):,}")
    click.echo(f"entries   {len(opened.entries):,} distinct prepared names")
    for name, weight in opened.search.weights.items():
        click.echo(f"search    {name}, weight {weight:.3g}")
    for name, value in opened.settings.items():
        click.echo(f"setting   {name}: {value or 'none'}")
    for source in opened.vocabulary.sources:
        click.echo(f"source    {source.name} {source.version or ''}".rstrip())
