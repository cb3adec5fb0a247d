"""Export decisions; files of mappings keep all the cells that were read."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import BinaryIO, Final, Literal, TextIO

from nymlink.core.errors import InputError
from nymlink.core.prefixes import read_curie_map
from nymlink.corpus.readers.tables.usagi import ADDITIONAL, AFTER, NO_CONCEPT
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import open_target, open_writer
from nymlink.linking.writers.omop import OMOP_FORMATS, is_omop
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
"""Formats of mappings whose rows are kept."""

_OF_SUBJECT: Final = {
    "usagi": ("sourceCode", "sourceName", "sourceFrequency", "sourceAutoAssignedConceptIds", ADDITIONAL),
    "sssom": ("subject_",),
}
"""Beginnings of columns about the term, the same for all targets."""
_OF_TARGET: Final = {
    "usagi": ("matchScore", "domainId", "mappingType", "createdBy", "createdOn"),
    "sssom": ("object_",),
}
"""Beginnings of columns about a target, independent of the decision."""
_TARGET: Final = {"usagi": "conceptId", "sssom": "object_id"}


@dataclass(frozen=True, slots=True)
class _KeptFile:
    """A file in the format of the export."""

    header: list[str]
    preamble: list[str]


def write_with_kept(
    project: Project,
    format: Literal["usagi", "sssom"],
    out: TextIO,
    info: LinksInfo,
    rows: Sequence[TableRow],
    terms: Mapping[int, ReviewedTerm],
    *,
    guesses: bool,
) -> None:
    """Write the terms of rows as mappings; rows from files of the same format keep their cells."""
    kept = _kept_files(project, format)
    written = _written(
        format, info, [row for row in rows if _is_mapped(row, terms, format, guesses=guesses)], terms
    )
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
            anew += by_key.get(key, [])
            result += by_key.pop(key, [])
            continue
        header = kept[first.file].header
        originals = [dict(zip(header, row.cells, strict=True)) for row in same]
        is_open = term.decision is None and not _is_mapped(first, terms, format, guesses=guesses)
        if is_open or _is_kept(term, first.file, originals, format):
            result += originals
        else:
            result += [row for row in originals if row.get("predicate_modifier")]
            merged = [_merged(row, originals, format) for row in by_key[key]]
            anew += merged
            result += merged
    columns = _header([file.header for file in kept.values()], result)
    used = {cell.partition(":")[0] for row in anew for cell in row.values()}
    prefixes = {name: iri for name, iri in read_curie_map(metadata).items() if name in used}
    for line in _preamble([file.preamble for file in kept.values()], prefixes):
        out.write(line + "\n")
    delimiter = "," if format == "usagi" else "\t"
    for row in ({name: name for name in columns}, *result):
        out.write(_line([row.get(name, "") for name in columns], delimiter) + "\n")


def _is_mapped(row: TableRow, terms: Mapping[int, ReviewedTerm], format: str, *, guesses: bool) -> bool:
    """Whether a format of mappings has the term of a row: it is decided, or guessed, or Usagi can flag it."""
    if row.term is None:
        return False
    term = terms[row.term]
    has_guess = guesses and term.link.review is not None
    return term.is_decided or has_guess or (format == "usagi" and term.decision is not None)


def _written(format: str, info: LinksInfo, rows: Sequence[TableRow], terms: Mapping[int, ReviewedTerm]) -> str:
    """Write all terms as if no file of this format had been read."""
    buffer = io.StringIO(newline="")
    writer = open_writer(format, buffer, info)
    place = None if info.table is None else info.table.frequency
    for row in rows:
        record = row.record
        if place is not None:
            # Usagi has a row for each target of a code, and the frequency of the code counts once.
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
    """Whether rows are still valid: decided in that file and not since, or not decided and worth keeping."""
    if term.decision is not None:
        return term.decision.origin == "import" and term.decision.details.get("file") == file
    if format == "sssom":
        return True
    return any(
        row.get("conceptId", "").strip() not in ("", NO_CONCEPT) or row.get("mappingStatus") != "UNCHECKED"
        for row in originals
    )


def _merged(row: Row, originals: Sequence[Row], format: str) -> Row:
    """Add to a new row the file's cells about its term and, if the file has the same target, about the target."""
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
    """Parse the output of a writer: lines of metadata, and rows."""
    if format == "usagi":
        return [], list(csv.DictReader(io.StringIO(text, newline="")))
    lines = text.splitlines()
    metadata = [line for line in lines if line.startswith("#")]
    header, *rows = (line.split("\t") for line in lines[len(metadata) :])
    return metadata, [dict(zip(header, row, strict=True)) for row in rows]


def _header(headers: Sequence[Sequence[str]], rows: Sequence[Row]) -> list[str]:
    """Join the columns of files with further columns in which any row has a value."""
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
    """Yield the metadata of the first file, with the prefixes of all files and ``prefixes``."""
    first = next(filter(None, preambles), [])
    known = read_curie_map(first)
    others = [*map(read_curie_map, preambles), prefixes]
    missing = {name: iri for each in others for name, iri in each.items() if name not in known}
    if not missing:
        yield from first
        return
    place = next((at for at, line in enumerate(first) if line.lstrip("# ").startswith("curie_map:")), None)
    if place is None:
        yield from (*first, "#curie_map:", *(f"#  {name}: {json.dumps(iri)}" for name, iri in missing.items()))
        return
    yield from first[: place + 1]
    # Entries of the map are indented like the line after it.
    after = first[place + 1] if place + 1 < len(first) else ""
    indent = after[: len(after) - len(after.lstrip("# \t"))] or "#  "
    yield from (f"{indent}{name}: {json.dumps(iri)}" for name, iri in missing.items())
    yield from first[place + 1 :]


def _line(cells: Sequence[str], delimiter: str) -> str:
    """Write a row; in TSV, quotation marks are ordinary characters."""
    if delimiter == "," or any(mark in cell for cell in cells for mark in "\t\r\n"):
        return format_record(cells, delimiter)
    return delimiter.join(cells)


SUGGESTING: Final = frozenset({"usagi"})
"""Formats with further candidates for undecided terms; other formats get only the first candidate."""
MAPPINGS: Final = frozenset({"usagi", "sssom", "fhir-r5", "fhir-r4b", "source-to-concept-map"})
"""Formats of terms; the others have all rows of the tables."""
UNMARKED: Final = frozenset({"source-to-concept-map", "table"})
"""Formats without a place to mark guesses."""


def export_formats(vocabulary: Vocabulary | None = None) -> tuple[str, ...]:
    """List the export formats: all formats of links that need no documents.

    Args:
        vocabulary: leave out formats that need other concepts than those of this vocabulary (those of OMOP).
    """
    names = (name for name, format in LINK_FORMATS if not format.needs)
    return tuple(name for name in names if name not in OMOP_FORMATS or is_omop(vocabulary))


def export_project(
    project: Project,
    target: Path | TextIO | BinaryIO,
    *,
    format: str,
    vocabulary: Vocabulary | None = None,
    guesses: bool = False,
    limit: int | None = None,
) -> None:
    """Write the decisions of a project: all rows of its tables, or the mappings of its decided terms.

    In a table, the row of an undecided term has no concept. Formats of mappings leave undecided and flagged terms
    out; only Usagi has flagged terms, because it can mark them. Rows from a file of the same format (Usagi, SSSOM)
    keep their cells, unless their term was decided since.

    Args:
        project: the project to export.
        target: a file, which is replaced in one step, or a stream.
        format: name of a format, one of :func:`export_formats`.
        vocabulary: the vocabulary that it is linked to; formats of mappings state its sources and domains.
        guesses: whether to write also the first candidate of each undecided or flagged term, marked as a guess.
        limit: write only so many first rows; ``None`` for all.

    Raises:
        InputError: the format needs documents or other concepts (those of OMOP), or has no place to mark guesses.
        OutputError: it cannot be written; nothing was changed.
    """
    if format not in export_formats():
        raise InputError(f"a project cannot be exported as {format[:40]!r}, only as {', '.join(export_formats())}")
    if guesses and format in UNMARKED:
        raise InputError(f"{format} has no place to mark guesses: export decisions only, or choose another format")
    table = ProjectTable(project)
    rows = list(islice(table.rows(), limit))
    # Read terms after the rows, because somebody may be adding a table with further terms.
    most = CANDIDATES if format in SUGGESTING else 1
    terms = reviewed_terms(project, guesses=most if guesses else 0)
    info = LinksInfo(
        calibrated=any(term.link.confidence is not None for term in terms.values()),
        split=any(term.link.parts for term in terms.values()),
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
            write_with_kept(project, format, out, info, rows, terms, guesses=guesses)  # type: ignore[arg-type]
            return
        writer = open_writer(format, out, info)
        for row in rows:
            if format in MAPPINGS and not _is_mapped(row, terms, format, guesses=guesses):
                continue
            writer.write(link_of_row(row, terms), None if info.table is None else row.record)
        writer.close()
