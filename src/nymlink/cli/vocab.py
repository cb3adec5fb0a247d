"""`nymlink vocab`: build, describe and search vocabularies."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import column_option, finish, mapping, reported_problems
from nymlink.vocabulary.model import Concept, Name
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.vocabulary import Vocabulary


@click.group()
def vocab() -> None:
    """Build, describe and search vocabularies."""


@vocab.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory to write.")
@click.option(
    "--format",
    type=click.Choice(VOCABULARY_FORMATS.names()),
    help="Format of the sources; told by their content when not given.",
)
@click.option("--lang", default="en", show_default=True, help="Language of names that the source gives none for.")
@click.option("--language", "languages", multiple=True, help="Keep names in this language only. Repeatable.")
@click.option("--sab", "sabs", multiple=True, help="UMLS: keep this source vocabulary only. Repeatable.")
@click.option("--tty", "ttys", multiple=True, help="UMLS: keep this term type only. Repeatable.")
@click.option("--suppressed", is_flag=True, help="UMLS: keep suppressible names too.")
@column_option("name=label")
def build(
    sources: tuple[Path, ...],
    output: Path,
    format: str | None,
    lang: str,
    languages: tuple[str, ...],
    sabs: tuple[str, ...],
    ttys: tuple[str, ...],
    suppressed: bool,
    columns: tuple[str, ...],
) -> None:
    """Read ontologies, dictionaries or tables into one vocabulary.

    SOURCE is a file in any known format, plain or .gz, or a folder of UMLS RRF files. Several sources become one
    vocabulary: concepts of the same id are joined.

    \b
    nymlink vocab build hp.obo -o hpo
    nymlink vocab build umls/META -o umls --language en --sab SNOMEDCT_US
    nymlink vocab build terms.csv -o mine --column id=code --column name=title
    """
    options = ReadOptions(
        lang=lang,
        languages=frozenset(languages) or None,
        sources=frozenset(sabs) or None,
        term_types=frozenset(ttys) or None,
        suppressed=suppressed,
        columns=mapping(columns),
    )
    problems = reported_problems()
    vocabulary = read_vocabulary(*sources, format=format, options=options, problems=problems, progress=True)
    vocabulary.save(output)
    click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)


@vocab.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
def info(vocabulary: Path) -> None:
    """Say what a vocabulary holds and where it comes from."""
    opened = Vocabulary.load(vocabulary)
    obsolete = sum(chunk.true_count for chunk in opened.columns.concepts["obsolete"].chunks)
    click.echo(f"concepts   {len(opened):,}, of them {obsolete:,} obsolete")
    click.echo(f"names      {opened.name_count:,}")
    click.echo(f"redirects  {opened.columns.redirects.num_rows:,} alternate ids")
    for field, label in (("lang", "languages"), ("kind", "kinds")):
        click.echo(
            f"{label:11}" + ", ".join(f"{value} {count:,}" for value, count in opened.counts(field).items())
        )
    for source in opened.sources:
        stated = [f"version {source.version}"] * bool(source.version) + [f"licence {source.licence}"] * bool(
            source.licence
        )
        digest = f"sha256 {source.sha256[:12]}…" if source.sha256 else ""
        details = ", ".join(filter(None, [source.format, source.file, *stated, digest]))
        click.echo(f"source     {source.name} ({details})")


@vocab.command()
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.argument("text")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Concepts shown at most.")
def search(vocabulary: Path, text: str, limit: int) -> None:
    """Show concepts by id or by name.

    An id shows its concept (an old id: what it stands for now). A name shows the concepts that have it, whatever
    its case and punctuation; failing that, those with a name that contains it.
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
    for name in names[1:]:
        click.echo(f"  - {name.text}  [{name.kind}, {name.lang}]")
