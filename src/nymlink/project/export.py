"""Export decisions, and mappings with every cell that was read."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TextIO

from nymlink.core.errors import InputError
from nymlink.corpus.readers.tables.usagi import ADDITIONAL, AFTER, NO_CONCEPT
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import open_target, open_writer
from nymlink.linking.writers.writer import LinksInfo
from nymlink.project.links import CANDIDATES
from nymlink.project.project import Project
from nymlink.project.reviewed_links import ProjectTable, ReviewedTerm, TableRow, link_of_row, reviewed_terms
from nymlink.project.rows import stored
from nymlink.tables.delimited import format_record
from nymlink.vocabulary.vocabulary import Vocabulary

Row = dict[str, str]
Key = tuple[str, str]
"""Code and text of a term."""

KEPT: Final = frozenset({"usagi", "sssom"})
"""Formats whose rows are kept."""

_OF_SUBJECT: Final = {
    "usagi": ("sourceCode", "sourceName", "sourceFrequency", "sourceAutoAssignedConceptIds", ADDITIONAL),
    "sssom": ("subject_",),
}
"""Beginnings of columns that say something of the term, whatever it is mapped to."""
_OF_TARGET: Final = {
    "usagi": ("matchScore", "domainId", "mappingType", "createdBy", "createdOn"),
    "sssom": ("object_",),
}
"""Beginnings of columns that say something of a target, whoever chose it."""
_TARGET: Final = {"usagi": "conceptId", "sssom": "object_id"}


@dataclass(frozen=True, slots=True)
class _KeptFile:
    """A file of the format that is written."""

    header: list[str]
    preamble: list[str]


def write_with_kept(
    project: Project,
    format: Literal["usagi", "sssom"],
    out: TextIO,
    info: LinksInfo,
    rows: Sequence[TableRow],
    terms: Mapping[int, ReviewedTerm],
) -> None:
    """Write the terms of all rows as mappings, those of files of the same format as they were read.

    Args:
        project: of the rows.
        format: the format.
        out: a stream of text.
        info: what is known of the links.
        rows: rows of the tables of the project.
        terms: all terms, by number.
    """
    written = _written(format, info, rows, terms)
    kept = _kept_files(project, format)
    if not kept:
        out.write(written)
        return
    metadata, made = _parsed(written, format)
    by_key: dict[Key, list[Row]] = defaultdict(list)
    for row in made:
        by_key[_key(row, format)].append(row)
    result: list[Row] = []
    anew: list[Row] = []
    for _, group in groupby(rows, lambda row: (row.file, row.term, row.code)):
        same = list(group)
        first = same[0]
        if first.term is None:
            continue
        term = terms[first.term]
        key = (first.code or term.text, term.text)
        if first.file not in kept:
            anew += by_key[key]
            result += by_key.pop(key, [])
            continue
        header = kept[first.file].header
        originals = [dict(zip(header, row.cells, strict=True)) for row in same]
        if _is_kept(term, first.file, originals, format):
            result += originals
        else:
            result += [row for row in originals if row.get("predicate_modifier")]
            merged = [_merged(row, originals, format) for row in by_key[key]]
            anew += merged
            result += merged
    columns = _header([file.header for file in kept.values()], result)
    used = {cell.partition(":")[0] for row in anew for cell in row.values()}
    prefixes = {name: iri for name, iri in _prefixes(metadata).items() if name in used}
    for line in _preamble([file.preamble for file in kept.values()], prefixes):
        out.write(line + "\n")
    delimiter = "," if format == "usagi" else "\t"
    for row in ({name: name for name in columns}, *result):
        out.write(_line([row.get(name, "") for name in columns], delimiter) + "\n")


def _written(format: str, info: LinksInfo, rows: Sequence[TableRow], terms: Mapping[int, ReviewedTerm]) -> str:
    """Write all terms as a project without such files is written."""
    buffer = io.StringIO(newline="")
    writer = open_writer(format, buffer, info)
    place = None if info.table is None else info.table.frequency
    for row in rows:
        if row.term is None:
            continue
        record = row.record
        if place is not None:
            # A code of Usagi has a row for each target, and its frequency counts once.
            fields = [*record.fields[:place], str(row.frequency), *record.fields[place + 1 :]]
            record = replace(record, fields=fields)
        writer.write(link_of_row(row, terms), record)
    writer.close()
    return buffer.getvalue()


def _kept_files(project: Project, format: str) -> dict[int, _KeptFile]:
    with project.reading() as connection:
        rows = connection.execute("SELECT id, header, preamble, reading FROM file ORDER BY id").fetchall()
    return {
        row["id"]: _KeptFile(stored(row["header"]), row["preamble"].splitlines())
        for row in rows
        if stored(row["reading"])["format"] == format
    }


def _is_kept(term: ReviewedTerm, file: int, originals: Sequence[Row], format: str) -> bool:
    """Whether rows still say what counts: they were decided there and not since, or there is nothing to add."""
    if term.decision is not None:
        return term.decision.origin == "import" and term.decision.details.get("file") == file
    if format == "sssom":
        return True
    return any(
        row.get("conceptId", "").strip() not in ("", NO_CONCEPT) or row.get("mappingStatus") != "UNCHECKED"
        for row in originals
    )


def _merged(row: Row, originals: Sequence[Row], format: str) -> Row:
    """Give a row that was made anew what the file said of its term and, where it is an old one, of its target."""
    target = _TARGET[format]
    same = next((each for each in originals if each.get(target) == row.get(target)), {})
    own = {name: cell for name, cell in same.items() if name.startswith(_OF_TARGET[format]) and cell}
    subject = {name: cell for name, cell in originals[0].items() if name.startswith(_OF_SUBJECT[format]) and cell}
    reviewer = row.get("assignedReviewer") or originals[0].get("assignedReviewer", "")
    made = {name: cell for name, cell in row.items() if not name.startswith(ADDITIONAL)}
    return {**made, **own, **subject, **({"assignedReviewer": reviewer} if format == "usagi" else {})}


def _key(row: Row, format: str) -> Key:
    if format == "usagi":
        return row["sourceCode"], row["sourceName"]
    label = row.get("subject_label", "")
    _, stated, code = row.get("other", "").partition("code=")
    return row.get("subject_id") or (code if stated else label), label


def _parsed(text: str, format: str) -> tuple[list[str], list[Row]]:
    """Read what a writer wrote: lines of metadata, and rows."""
    if format == "usagi":
        return [], list(csv.DictReader(io.StringIO(text, newline="")))
    lines = text.splitlines()
    metadata = [line for line in lines if line.startswith("#")]
    header, *rows = (line.split("\t") for line in lines[len(metadata) :])
    return metadata, [dict(zip(header, row, strict=True)) for row in rows]


def _header(headers: Sequence[Sequence[str]], rows: Sequence[Row]) -> list[str]:
    """Join the columns of files with those that some row has a value in."""
    joined = list(headers[0])
    others = [name for header in headers[1:] for name in header]
    used = [name for row in rows for name, cell in row.items() if cell]
    for name in dict.fromkeys([*others, *used]):
        if name in joined:
            continue
        at = joined.index(AFTER[0]) if name.startswith(ADDITIONAL) and AFTER[0] in joined else len(joined)
        joined.insert(at, name)
    return joined


def _preamble(preambles: Sequence[Sequence[str]], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield the metadata of the first file, with the prefixes of all, and further ones."""
    first = next(filter(None, preambles), [])
    known = _prefixes(first)
    others = [*map(_prefixes, preambles), prefixes]
    missing = {name: iri for each in others for name, iri in each.items() if name not in known}
    if not missing:
        yield from first
        return
    place = next((at for at, line in enumerate(first) if line.lstrip("# ").startswith("curie_map:")), None)
    if place is None:
        yield from (*first, "#curie_map:", *(f"#  {name}: {iri}" for name, iri in missing.items()))
        return
    yield from first[: place + 1]
    # As the line after it is indented, all entries of the map must be.
    after = first[place + 1] if place + 1 < len(first) else ""
    indent = after[: len(after) - len(after.lstrip("# \t"))] or "#  "
    yield from (f"{indent}{name}: {iri}" for name, iri in missing.items())
    yield from first[place + 1 :]


def _prefixes(lines: Sequence[str]) -> dict[str, str]:
    """Read the prefixes and what they stand for, as they are written."""
    found: dict[str, Any] = {}
    inside = False
    for line in lines:
        text = line[1:]
        if text.strip().startswith("curie_map:"):
            inside = True
        elif inside and text.startswith((" ", "\t")) and ": " in text:
            name, _, iri = text.strip().partition(": ")
            found[name] = iri.strip()
        elif text.strip():
            inside = False
    return found


def _line(cells: Sequence[str], delimiter: str) -> str:
    """Write a row; in TSV quotation marks are ordinary characters."""
    if delimiter == "," or any(mark in cell for cell in cells for mark in "\t\r\n"):
        return format_record(cells, delimiter)
    return delimiter.join(cells)


SUGGESTING: Final = frozenset({"usagi"})
"""Formats that have a place for further candidates of terms that nobody decided; others have the first."""


def export_formats() -> tuple[str, ...]:
    """List the formats that a project can be written in: all that need no documents."""
    return tuple(name for name, format in LINK_FORMATS if not format.needs)


def export_project(
    project: Project,
    target: Path | TextIO | BinaryIO,
    *,
    format: str,
    vocabulary: Vocabulary | None = None,
    decided: bool = False,
) -> None:
    """Write all rows of a project with what was decided of their terms, and what was linked of the others.

    Of each term the last decision of any reviewer counts. Rows that were read from a file of the same format of
    mappings (Usagi, SSSOM) are written as they were, unless their term was decided since.

    Args:
        project: what is written.
        target: a file, which is replaced in one step, or a stream.
        format: name of a format, one of :func:`export_formats`.
        vocabulary: the concepts that it is linked to, of which formats of mappings name source and domains.
        decided: whether only terms are written that were given concepts, or none.

    Raises:
        InputError: the format needs documents, or other concepts (those of OMOP), or there is no row.
        OutputError: it cannot be written; nothing was changed.
    """
    if format not in export_formats():
        raise InputError(f"a project is written as {', '.join(export_formats())}, not as {format[:40]!r}")
    table = ProjectTable(project)
    rows = list(table.rows())
    # After the rows: somebody may be adding a table with further terms.
    terms = reviewed_terms(project, candidates=CANDIDATES if format in SUGGESTING else 1)
    if decided:
        rows = [row for row in rows if row.term is not None and terms[row.term].is_decided]
    info = LinksInfo(
        calibrated=any(term.link.confidence is not None for term in terms.values()),
        reviewed=True,
        table=table.layout if LINK_FORMATS.get(format).keeps_table else None,
        vocabulary=vocabulary,
        title=project.title,
    )
    opened: AbstractContextManager[TextIO | BinaryIO | Path] = (
        open_target(target, format) if isinstance(target, Path) else nullcontext(target)
    )
    with opened as out:
        if format in KEPT:
            write_with_kept(project, format, out, info, rows, terms)  # type: ignore[arg-type]
            return
        writer = open_writer(format, out, info)
        for row in rows:
            writer.write(link_of_row(row, terms), None if info.table is None else row.record)
        writer.close()
