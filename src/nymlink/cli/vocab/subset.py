"""`nymlink vocab subset`: make a smaller vocabulary of a large one."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.core.store.output_checks import require_directory
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.store import KIND
from nymlink.vocabulary.subset import subset as subset_of
from nymlink.vocabulary.vocabulary import Vocabulary


@click.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--branch", "branches", multiple=True, metavar="ID", help="Keep this concept and all below it.")
@click.option(
    "--semantic-type",
    "semantic_types",
    multiple=True,
    help="Keep concepts of this semantic type; upper and lower case are the same.",
)
@click.option("--source", "sources", multiple=True, help="Keep names from this source.")
@click.option("--language", "languages", multiple=True, help="Keep names in this language.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Keep names of this kind.")
def subset(
    vocabulary: Path,
    output: Path,
    branches: tuple[str, ...],
    semantic_types: tuple[str, ...],
    sources: tuple[str, ...],
    languages: tuple[str, ...],
    kinds: tuple[str, ...],
) -> None:
    """Make a smaller vocabulary of a large one.

    All options but -o are conditions and may be repeated: a concept or name must meet every condition, and any one
    value of a condition that is repeated. `nymlink vocab info VOCAB` shows the sources, languages and kinds.

    Concepts of which no name is kept are left out. Old ids still lead to concepts that are kept.

    \b
    nymlink vocab subset umls -o diseases --semantic-type "Disease or Syndrome" \\
        --semantic-type "Neoplastic Process"
    nymlink vocab subset mondo -o cancers --branch MONDO:0004992 --language en
    """
    conditions = {
        "branches": branches,
        "semantic_types": semantic_types,
        "sources": sources,
        "languages": languages,
        "kinds": kinds,
    }
    if not any(conditions.values()):
        raise click.UsageError("say what to keep: --branch, --semantic-type, --source, --language or --kind")
    require_directory(output, kind=KIND, inputs=[vocabulary])
    whole = Vocabulary.load(vocabulary)
    part = subset_of(whole, **conditions)
    part.save(output)
    click.echo(
        f"{len(part):,} of {len(whole):,} concepts, {part.name_count:,} of {whole.name_count:,} names → {output}"
    )
