"""`nymlink vocab info`: show what a vocabulary holds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from nymlink.vocabulary.vocabulary import Vocabulary

_TYPES_SHOWN: Final = 12


@click.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
def info(vocabulary: Path) -> None:
    """Show what a vocabulary holds and where it comes from.

    \b
    nymlink vocab info mondo
    """
    opened = Vocabulary.load(vocabulary)
    obsolete = sum(chunk.true_count for chunk in opened.columns.concepts["obsolete"].chunks)
    click.echo(f"concepts   {len(opened):,}, of them {obsolete:,} obsolete")
    click.echo(f"names      {opened.name_count:,}")
    click.echo(f"redirects  {opened.columns.redirects.num_rows:,} alternate ids")
    for field, label in (("lang", "languages"), ("kind", "kinds")):
        click.echo(
            f"{label:11}" + ", ".join(f"{value} {count:,}" for value, count in opened.counts(field).items())
        )
    types = opened.semantic_types()
    if types:
        more = f" and {len(types) - _TYPES_SHOWN:,} more" if len(types) > _TYPES_SHOWN else ""
        shown = [f"{value} {count:,}" for value, count in list(types.items())[:_TYPES_SHOWN]]
        click.echo(f"types      {', '.join(shown)}{more}")
    for source in opened.sources:
        stated = [f"version {source.version}"] * bool(source.version) + [f"licence {source.licence}"] * bool(
            source.licence
        )
        digest = f"sha256 {source.sha256[:12]}…" if source.sha256 else ""
        details = ", ".join(filter(None, [source.format, source.file, *stated, digest]))
        click.echo(f"source     {source.name} ({details})")
