"""`nymlink vocab search`: show concepts by id or by name."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.vocabulary.model import Concept, Name
from nymlink.vocabulary.vocabulary import Vocabulary


@click.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.argument("text")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Concepts shown at most.")
def search(vocabulary: Path, text: str, limit: int) -> None:
    """Show concepts by id or by name.

    An id shows its concept (an old id: what it stands for now). A name shows the concepts that have it, whatever
    its case and punctuation; failing that, those with a name that contains it.

    \b
    nymlink vocab search mondo "heart attack"
    nymlink vocab search mondo MONDO:0005068
    """
    opened = Vocabulary.load(vocabulary)
    ids = opened.resolve(text) or tuple(dict.fromkeys(name.concept_id for name in opened.find(text)))
    ids = ids or tuple(opened.containing(text, limit=limit))
    for concept_id in ids[:limit]:
        _show(opened[concept_id], opened.names(concept_id))
    if not ids:
        click.echo(f"nothing in the vocabulary is called {text!r}", err=True)
    elif len(ids) > limit:
        click.echo(f"… and {len(ids) - limit:,} more: see --limit", err=True)


def _show(concept: Concept, names: tuple[Name, ...]) -> None:
    click.secho(f"{concept.id}  {concept.name}" + ("  (obsolete)" if concept.obsolete else ""), bold=True)
    for label, values in (
        ("type", concept.semantic_types),
        ("parents", concept.parents),
        ("xrefs", concept.xrefs),
        ("replaced by", concept.replaced_by),
    ):
        if values:
            click.echo(f"  {label}: {', '.join(values)}")
    if concept.definition:
        click.echo(f"  {concept.definition}")
    # A merged vocabulary holds a name once for each source that gives it.
    for line in dict.fromkeys(f"  - {name.text}  [{name.kind}, {name.lang}]" for name in names[1:]):
        click.echo(line)
