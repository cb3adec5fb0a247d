"""Commands on vocabularies."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from nymlink.cli.common import (
    PREFIX_FORM,
    finish,
    input_format_option,
    map_column_option,
    mapping,
    prefix_option,
    reported_problems,
)
from nymlink.cli.lazy import LazyCommands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.store.output_checks import require_directory
from nymlink.core.terminal import tell
from nymlink.sources.catalogue import choose_sources, known_sources, with_translations
from nymlink.sources.fetch import FetchOptions, cache_folder, read_record
from nymlink.sources.get_vocabulary import fetch_all, get_vocabulary
from nymlink.sources.source import PublishedSource
from nymlink.tables.delimited import tab_line
from nymlink.vocabulary.changes import CHANGES, compare_releases
from nymlink.vocabulary.concepts import KINDS, Concept, Name, ReadOptions
from nymlink.vocabulary.read import added_ids, open_vocabulary, read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.layout import SYNONYM_ROLES
from nymlink.vocabulary.restriction import similar_ids
from nymlink.vocabulary.subset import subset as subset_of
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.vocabulary.vocabulary_folder import KIND

vocab = LazyCommands(
    "vocab",
    help="Get, build, merge, enrich, compare, describe and search vocabularies.",
    commands={
        "build": "nymlink.cli.vocab:build",
        "diff": "nymlink.cli.vocab:diff",
        "enrich": "nymlink.cli.vocab_merge:enrich",
        "get": "nymlink.cli.vocab:get",
        "info": "nymlink.cli.vocab:info",
        "merge": "nymlink.cli.vocab_merge:merge",
        "search": "nymlink.cli.vocab:search",
        "subset": "nymlink.cli.vocab:subset",
    },
)


@click.command(cls=GroupedCommand)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@input_format_option("the sources", VOCABULARY_FORMATS.names())
@click.option(
    "--default-language", default="en", show_default=True, help="Language of names whose source states none."
)
@click.option("--language", "languages", multiple=True, help="Keep names in this language only. Repeatable.")
@click.option(
    "--sab",
    "sabs",
    multiple=True,
    help="UMLS, OMOP: keep this source vocabulary only, for example SNOMEDCT_US. Repeatable.",
)
@click.option("--tty", "ttys", multiple=True, help="UMLS: keep this term type only, for example PT. Repeatable.")
@click.option("--suppressed", is_flag=True, help="UMLS: keep suppressible names too.")
@map_column_option("name=label")
@prefix_option
@click.option(
    "--separator", metavar="TEXT", help="In a table: what separates the synonyms in a cell, if not | or ;."
)
@click.option("--strict", is_flag=True, help="OBO: refuse a file that breaks a rule of the format.")
@click.option(
    "--strict-ids",
    is_flag=True,
    help="Refuse ids of a later SOURCE that no earlier one has; without it, they are listed.",
)
def build(
    sources: tuple[Path, ...],
    output: Path,
    input_format: str | None,
    default_language: str,
    languages: tuple[str, ...],
    sabs: tuple[str, ...],
    ttys: tuple[str, ...],
    suppressed: bool,
    mapped_columns: tuple[str, ...],
    prefixes: tuple[str, ...],
    separator: str | None,
    strict: bool,
    strict_ids: bool,
) -> None:
    """Read ontologies, dictionaries or tables into one vocabulary.

    SOURCE is a file in any known format, plain or .gz, or a folder of UMLS RRF files. Several sources become one
    vocabulary: concepts with the same id are joined, and new ids of later sources are listed. An existing
    vocabulary in the folder is replaced, unless the folder has other files, too.

    \b
    nymlink vocab build hp.obo -o hpo
    nymlink vocab build 2026AA/META -o umls --language en --sab SNOMEDCT_US
    nymlink vocab build terms.csv -o mine --map-column id=code --map-column name=title
    nymlink vocab build hp.obo synonyms.csv -o hpo-enriched --strict-ids
    """
    options = ReadOptions(
        lang=default_language,
        languages=frozenset(languages) or None,
        sources=frozenset(sabs) or None,
        term_types=frozenset(ttys) or None,
        suppressed=suppressed,
        columns=_columns(mapped_columns),
        separator=separator,
        strict=strict,
        prefixes=mapping(prefixes, PREFIX_FORM),
    )
    require_directory(output, kind=KIND, inputs=sources)
    problems = reported_problems()
    vocabulary = read_vocabulary(*sources, format=input_format, options=options, problems=problems, progress=True)
    added = added_ids(vocabulary)
    for source in vocabulary.sources:
        if ids := added.get(source.name):
            message = _new_ids(vocabulary, ids)
            if strict_ids:
                raise InputError(f"{message}: correct them, or leave --strict-ids out", path=source.file)
            tell(message, level="notice", path=source.file)
    vocabulary.save(output)
    click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)


_SHOWN: Final = 5
"""Most new ids that a message lists."""


def _new_ids(vocabulary: Vocabulary, ids: Sequence[str]) -> str:
    """Describe the ids that only a later source has, with the ids of other concepts that may be meant."""
    new, shown = set(ids), []
    for each in ids[:_SHOWN]:
        near = next((other for other in similar_ids(vocabulary, each) if other not in new), None)
        row = None if near is None else vocabulary.row(near)
        shown.append(each if row is None else f"{each} (did you mean {near}, {vocabulary.preferred_name(row)}?)")
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{len(ids):,} new id{'s' * (len(ids) > 1)}, in no source before: {', '.join(shown)}{more}"


def _columns(assignments: tuple[str, ...]) -> dict[str, str | tuple[str, ...]]:
    """Parse assignments of columns, of which those of synonyms may be repeated."""
    several = [text for text in assignments if text.partition("=")[0] in SYNONYM_ROLES]
    columns: dict[str, str | tuple[str, ...]] = dict(mapping(text for text in assignments if text not in several))
    for role in dict.fromkeys(text.partition("=")[0] for text in several):
        headers = [mapping([text])[role] for text in several if text.partition("=")[0] == role]
        columns[role] = headers[0] if len(headers) == 1 else tuple(headers)
    return columns


@click.command(cls=GroupedCommand)
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Keep names in this language only, including translations. Repeatable.",
)
@click.option("--list", "listed", is_flag=True, help="List all sources, or the named ones, and stop.")
@click.option("--only-download", is_flag=True, help="Fetch the files and print their paths; build nothing.")
@click.option("--offline", is_flag=True, help="Use only files in the cache.")
@click.option("--refresh", is_flag=True, help="Replace cached files by newer ones.")
def get(
    names: tuple[str, ...],
    output: Path | None,
    languages: tuple[str, ...],
    listed: bool,
    only_download: bool,
    offline: bool,
    refresh: bool,
) -> None:
    """Download published sources by name and build one vocabulary of them.

    NAME is one of --list, or "open" for all with an open licence. Files are fetched once and kept in the cache
    ($NYMLINK_CACHE, else the user's); an interrupted download is continued. Several sources become one vocabulary:
    concepts with the same id, or mapped to each other by a source of mappings, are joined. For another --language
    than English, translations of a source are fetched, too, if --list has some.

    \b
    nymlink vocab get hpo -o hpo
    nymlink vocab get hpo --language en --language de -o hpo-german
    nymlink vocab get hpo hpo-translations -o hpo-international
    nymlink vocab get mondo doid ordo mondo-mappings -o diseases
    nymlink vocab get open -o meta
    """
    known = known_sources()
    if listed:
        _list(choose_sources(names, known) if names else list(known.values()))
        return
    if not names:
        raise click.UsageError("nothing to get: give names of sources (see --list)")
    if only_download == (output is not None):
        raise click.UsageError("give either a folder to write, -o, or --only-download")
    if offline and refresh:
        raise click.UsageError("--offline and --refresh contradict each other")
    if output is not None:
        require_directory(output, kind=KIND)
    sources = with_translations(choose_sources(names, known), languages, known)
    options = FetchOptions(offline=offline, refresh=refresh)
    problems = reported_problems()
    for source in sources:
        if not source.open:
            tell(f"{source.name} is not open for every use: {source.licence}", level="notice")
    if output is None:
        for source, file in fetch_all(sources, options=options, problems=problems, progress=True):
            click.echo(f"{source.name}\t{file.path}")
    else:
        vocabulary = get_vocabulary(
            sources, languages=languages, options=options, problems=problems, progress=True
        )
        vocabulary.save(output)
        click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)


def _list(sources: list[PublishedSource]) -> None:
    """Print sources: aligned and cut to the width of a terminal, as TSV to a file or a pipe."""
    folder = cache_folder()
    rows = [("name", "open", "size", "cached", "title", "licence", "cite", "url")]
    for source in sources:
        cached = read_record(source, folder)
        date = cached.date[:10] if cached is not None else "no"
        opened = "yes" if source.open else "no"
        about = (source.title, source.licence, source.citation, source.url)
        rows.append((source.name, opened, source.size, date, *about))
    if sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        width = shutil.get_terminal_size((120, 24)).columns
        for row in rows:
            click.echo("  ".join(map(str.ljust, row, widths))[:width].rstrip())
    else:
        for row in rows:
            click.echo("\t".join(row))


_TYPES_SHOWN: Final = 12


@click.command(cls=GroupedCommand)
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
def info(vocabulary: Path) -> None:
    """Show the contents and sources of a vocabulary.

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


@click.command(cls=GroupedCommand)
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.argument("text")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Most concepts.")
def search(vocabulary: Path, text: str, limit: int) -> None:
    """Show concepts by id or by name.

    An id shows its concept; an old id, the present one. A name shows its concepts, in any case and punctuation; if
    there are none, concepts with a name that contains it.

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
        tell(f"nothing in the vocabulary is called {text!r}", level="notice")
    elif len(ids) > limit:
        tell(f"… and {len(ids) - limit:,} more: see --limit")


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


@click.command(cls=GroupedCommand)
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--branch", "branches", multiple=True, metavar="ID", help="Keep this concept and all below it.")
@click.option(
    "--semantic-type",
    "semantic_types",
    multiple=True,
    help="Keep concepts of this semantic type, in any case.",
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
    """Make a smaller vocabulary from a large one.

    All options except -o are conditions and may be repeated: a concept or name must meet every condition, by any
    one of its values. `nymlink vocab info VOCAB` shows the sources, languages and kinds.

    Concepts without a kept name are left out. Old ids still lead to kept concepts.

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
        raise click.UsageError("give a condition: --branch, --semantic-type, --source, --language or --kind")
    require_directory(output, kind=KIND, inputs=[vocabulary])
    whole = Vocabulary.load(vocabulary)
    part = subset_of(whole, **conditions)
    part.save(output)
    click.echo(
        f"{len(part):,} of {len(whole):,} concepts, {part.name_count:,} of {whole.name_count:,} names → {output}"
    )


@click.command(cls=GroupedCommand)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the counts of changes, and all changes.")
def diff(old: Path, new: Path, as_json: bool) -> None:
    """Compare two releases of a vocabulary.

    OLD and NEW are vocabulary folders or source files. The table has a row for each change: its kind, the id and
    the name of the concept, what only OLD has, what only NEW has; several values are separated by " | ". Kinds:
    gone, merged (the id leads to one other concept), split (to several), added, renamed, moved (other parents),
    names (other names). Obsolete concepts count as absent.

    \b
    nymlink vocab diff hpo hp.obo
    nymlink vocab diff hpo hp.obo --json
    """
    problems = reported_problems()
    before, after = (open_vocabulary(path, problems=problems) for path in (old, new))
    changes = compare_releases(before, after)
    counted = Counter(change.kind for change in changes)
    counts = {kind: counted[kind] for kind in CHANGES}
    if as_json:
        listed = [change.to_dict() for change in changes]
        click.echo(json.dumps({"counts": counts, "changes": listed}, ensure_ascii=False, indent=1))
    else:
        click.echo("change\tid\tname\told\tnew")
        for change in changes:
            cells = (change.kind, change.id, change.name, " | ".join(change.old), " | ".join(change.new))
            click.echo(tab_line(cells))
    summary = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    tell(f"{len(before):,} → {len(after):,} concepts: {summary}")
    finish(problems)
