"""Commands on tables with concept ids: check, link again, roll up and cross over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import compress
from pathlib import Path
from typing import Final

import click

from nymlink.cli.common import finish, reported_problems, require_files
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.terminal import tell, track
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.evaluation.concordance import AGREES, DISAGREEMENTS, VERDICTS, Verdict, check_names, fixed_rows
from nymlink.index.index import Index
from nymlink.linking.cells import DENIED
from nymlink.linking.default import default_index
from nymlink.linking.linker import Linker
from nymlink.linking.relink import Former, Release
from nymlink.linking.relink import relink as relinked
from nymlink.tables.coded import CodedTable, table_lines, write_table
from nymlink.tables.delimited import tab_line
from nymlink.vocabulary.crossing import Crossing, RollUp
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

_VERDICT_COLUMNS: Final = [field.name for field in fields(Verdict)]


@click.command(cls=GroupedCommand)
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--name", required=True, metavar="COLUMN", help="Column of the names, by header; by number if there is none."
)
@click.option("--id", "concept_id", required=True, metavar="COLUMN", help="Column of the concept ids.")
@click.option("--index", type=click.Path(path_type=Path), help="The index; without it the embedded default.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Fixed table to write, CSV or TSV: the ids to use where a row disagrees, its verdict and old id.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines instead of tab-separated values.")
def check(table: Path, name: str, concept_id: str, index: Path | None, output: Path | None, as_json: bool) -> None:
    """Check whether the names and the concept ids of a table agree.

    TABLE is CSV, TSV, JSON lines, XLSX or Parquet. The report has a row for each row of the table that does not
    agree, with a verdict and the concept to use: unknown (no such id), obsolete (an old id that nothing replaces),
    replaced (an old id, and the concept that replaces it), opposite (the name contradicts the concept), broader,
    narrower (the name of an ancestor, a descendant), other (the name of another concept), unlike (no name of the
    concept is like it); and similar, missing, which are no disagreements.

    Exit status 1 if a row disagrees.

    \b
    nymlink check coded.csv --name label --id mondo_id --index mondo-index
    nymlink check coded.csv --name label --id mondo_id --index mondo-index -o fixed.csv
    """
    require_files((output,), (table, index))
    problems = reported_problems()
    linker = Linker(_index(index))
    options = CorpusOptions(columns={"mention": name, "concept_id": concept_id})
    counts: Counter[str] = Counter()
    different: list[Verdict] = []
    if not as_json:
        click.echo("\t".join(_VERDICT_COLUMNS))
    for verdict in track(
        check_names(linker, read_documents(table, options=options, problems=problems)), "Checking"
    ):
        counts[verdict.verdict] += 1
        if verdict.verdict == AGREES:
            continue
        different.append(verdict)
        values = verdict.to_dict()
        cells = ("" if value is None else str(value) for value in values.values())
        click.echo(json.dumps(values, ensure_ascii=False) if as_json else tab_line(cells))
    if output is not None:
        # What cannot be read was reported above.
        read = CodedTable.read(table, Problems())
        write_table(*fixed_rows(read, read.place(concept_id, "--id "), different), output)
    found = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if counts[verdict])
    tell(f"{counts.total():,} names and ids: {found or 'nothing to check'}")
    finish(problems)
    if any(counts[verdict] for verdict in DISAGREEMENTS):
        click.get_current_context().exit(1)


@click.command(cls=GroupedCommand)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--old", required=True, type=click.Path(path_type=Path), help="Index, vocabulary or source of the results."
)
@click.option("--new", required=True, type=click.Path(path_type=Path), help="Index of the newer release.")
@click.option("--name", default="mention", show_default=True, metavar="COLUMN", help="Column of the mentions.")
@click.option(
    "--id", "concept_id", default="concept_id", show_default=True, metavar="COLUMN", help="Column of the concepts."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="CSV or TSV to write; if not given, standard output."
)
def relink(results: Path, old: Path, new: Path, name: str, concept_id: str, output: Path | None) -> None:
    """Link former results again, only where a newer release of the vocabulary affects them.

    RESULTS is a table of links, as `nymlink link` writes it. A link is affected if its concept is gone, merged or
    split, lost the name that matched, or if the mention is now a name of another concept; a NIL mention, if
    a new name has all its words, or is made of them. Of composite mentions, the part is linked. Further
    candidates (rank 2 and more) only follow merged concepts. The output has all rows, with the present
    concepts, and the columns why, old_id and new_confidence.

    \b
    nymlink relink links.tsv --old mondo-2024-index --new mondo-index -o links-2025.tsv
    """
    require_files((output,), (results, old, new))
    problems = reported_problems()
    table = CodedTable.read(results, problems)
    at_name, at_id = table.place(name, "--name "), table.place(concept_id, "--id ")
    places = {column: place for place, column in enumerate(table.header)}
    matched, label = places.get("matched_name"), places.get("concept_name")
    index = Index.load(new)
    release = Release(_vocabulary(old, problems), index.vocabulary)
    rank, part = places.get("rank"), places.get("part")
    is_first = [rank is None or cells[rank].strip() in ("", "1") for _, cells in table.rows]
    first = list(compress(table.rows, is_first))
    others = [row for row, taken in zip(table.rows, is_first, strict=True) if not taken]
    former = [
        Former(
            (part is not None and cells[part].removeprefix(DENIED)) or cells[at_name],
            cells[at_id],
            "" if matched is None else cells[matched],
        )
        for _, cells in first
    ]
    counts: Counter[str] = Counter()
    added: dict[int, list[str]] = {}
    for number, cells in others:
        id_, present = cells[at_id], release.vocabulary.resolve(cells[at_id])
        merged = len(present) == 1 and present[0] != id_
        if merged:
            cells[at_id] = present[0]
            if label is not None:
                cells[label] = _name(release.vocabulary, present[0])
        counts["merged" if merged else "not affected"] += 1
        added[number] = [f"merged: {id_} → {present[0]}", id_, ""] if merged else ["", "", ""]
    for (number, cells), before, now in zip(
        first, former, relinked(release, Linker(index).link, former), strict=True
    ):
        kind = now.why.partition(":")[0]
        counts[kind or "not affected"] += 1
        cells[at_id] = now.concept_id
        if label is not None and now.concept_name:
            cells[label] = now.concept_name
        for column, value in (("matched_name", now.matched_name), ("score", now.score)) if now.why else ():
            if (place := places.get(column)) is not None:
                cells[place] = f"{value:.4f}" if isinstance(value, float) else value or ""
        confidence = "" if now.confidence is None else str(now.confidence)
        added[number] = [now.why, before.concept_id if now.why else "", confidence]
    header, rows = table.with_columns(["why", "old_id", "new_confidence"], added)
    _write(header, rows, output)
    found = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
    tell(f"{counts.total():,} links: {found or 'none'}")
    finish(problems)


@click.command(cls=GroupedCommand)
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--id", "concept_id", default="concept_id", show_default=True, metavar="COLUMN", help="Column of the concepts."
)
@click.option("--index", type=click.Path(path_type=Path), help="Index or vocabulary; else the embedded default.")
@click.option("--slim", metavar="ID", multiple=True, help="Roll up to this concept. Repeatable.")
@click.option("--level", type=click.IntRange(min=0), help="Roll up to this level; 0 has the concepts at the top.")
@click.option("--to", "prefixes", metavar="PREFIX", multiple=True, help="Add ids of this prefix. Repeatable.")
@click.option(
    "--mappings",
    "mapping_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="SSSOM file with mappings, beside the cross-references of the vocabulary. Repeatable.",
)
@click.option("--counts", is_flag=True, help="Count the rows by the concepts rolled up to, instead of the table.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="CSV or TSV to write; if not given, standard output."
)
def recode(
    table: Path,
    concept_id: str,
    index: Path | None,
    slim: tuple[str, ...],
    level: int | None,
    prefixes: tuple[str, ...],
    mapping_files: tuple[Path, ...],
    counts: bool,
    output: Path | None,
) -> None:
    """Roll concepts of a table up to a level or a slim, and cross over to ids of other vocabularies.

    TABLE is a table of links, or another with a column of concept ids. Columns are added: rolled_up and
    rolled_up_name; and for each PREFIX its ids, their kind (exact, narrow, close, xref, related, broad) and loss:
    a concept without an id of its own gets that of the nearest concept above. Several values are separated by |.

    \b
    nymlink recode links.tsv --index mondo-index --level 2 --counts
    nymlink recode links.tsv --index mondo-index --to MESH --to DOID --mappings mondo.sssom.tsv -o coded.tsv
    """
    if slim and level is not None:
        raise click.UsageError("--slim and --level both say what to roll up to: give one")
    if not slim and level is None and not prefixes:
        raise click.UsageError("give what to roll up to (--slim or --level), or --to a prefix")
    if counts and (prefixes or (not slim and level is None)):
        raise click.UsageError("--counts goes with --slim or --level alone")
    require_files((output,), (table, index, *mapping_files))
    problems = reported_problems()
    read = CodedTable.read(table, problems)
    place = read.place(concept_id, "--id ")
    vocabulary = default_index(progress=True).vocabulary if index is None else _vocabulary(index, problems)
    rolling = RollUp(vocabulary, slim=slim, level=level) if slim or level is not None else None
    mapped = [read_mappings(path, problems=problems) for path in mapping_files]
    crossings = {prefix: Crossing(vocabulary, prefix, mapped) for prefix in prefixes}
    present = {number: vocabulary.resolve(cells[place]) for number, cells in read.rows if cells[place].strip()}
    if rolling is not None and counts:
        counted = rolling.counts(each for ids in present.values() for each in ids)
        rows = ([id_, _name(vocabulary, id_), str(count)] for id_, count in counted.items())
        _write(["concept_id", "concept_name", "count"], rows, output)
        finish(problems)
        return
    columns = ["rolled_up", "rolled_up_name"] if rolling is not None else []
    columns += [f"{prefix}{ending}" for prefix in prefixes for ending in ("", "_kind", "_loss")]
    added = {}
    for number, ids in present.items():
        cells: list[str] = []
        if rolling is not None:
            above = list(dict.fromkeys(target for each in ids for target in rolling.of(each)))
            cells += ["|".join(above), "|".join(_name(vocabulary, each) for each in above)]
        for crossing in crossings.values():
            found = [crossed for each in ids for crossed in crossing.of(each)]
            cells += ["|".join(values) for values in ([c.id for c in found], [c.kind for c in found])]
            cells.append("|".join(c.loss for c in found) if any(c.loss for c in found) else "")
        added[number] = cells
    _write(*read.with_columns(columns, added), output)
    unknown = sum(not ids for ids in present.values())
    tell(f"{len(read.rows):,} rows, {unknown:,} with an unknown id")
    finish(problems)


def _name(vocabulary: Vocabulary, concept_id: str) -> str:
    row = vocabulary.row(concept_id)
    return "" if row is None else vocabulary.preferred_name(row)


def _write(header: list[str], rows: Iterator[list[str]], output: Path | None) -> None:
    if output is not None:
        write_table(header, rows, output)
        return
    for line in table_lines(header, rows, None):
        click.echo(line)


def _index(path: Path | None) -> Index:
    return default_index(progress=True) if path is None else Index.load(path)


def _vocabulary(path: Path, problems: Problems) -> Vocabulary:
    """Open the vocabulary of an index, a vocabulary folder, or a source file."""
    inside = path / "vocabulary"
    if path.is_dir() and inside.is_dir():
        return Vocabulary.load(inside)
    if not path.exists():
        raise InputError("there is no such index, vocabulary or file", path=path)
    return open_vocabulary(path, problems=problems)
