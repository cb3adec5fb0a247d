"""Links as a table for people, as TSV or JSON lines for programs, or as further columns of the user's table.

Confidences are a column where the index is calibrated. A link that is NIL is written as one without candidates; in
JSON it has its candidates all the same.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from typing import Any, Final, Protocol, TextIO

from wcwidth import wcswidth, wcwidth

from nymlink.delimited import Record
from nymlink.link.model import Candidate, Link

_COLUMNS: Final = ("rank", "concept_id", "concept_name", "matched_name", "score")
_CONFIDENCE: Final = "confidence"


class LinkWriter(Protocol):
    """Writes links one by one."""

    def write(self, link: Link, row: Record | None) -> None:
        """Write a link, and the table row it belongs to where there is one."""
        ...

    def close(self) -> None:
        """Write what comes after the last link."""
        ...


class TableWriter:
    """Columns as wide as the terminal allows."""

    def __init__(self, out: TextIO, *, confidence: bool = False) -> None:
        self._out = out
        width = max(shutil.get_terminal_size((120, 24)).columns, 60)
        last = (5, len(_CONFIDENCE)) if confidence else (5,)
        free = width - 14 - sum(last) - 2 * (3 + len(last))
        self._widths = (free * 3 // 10, 14, free * 4 // 10, free * 3 // 10, *last)
        self._line("mention", "concept", "name", "matched", "score", _CONFIDENCE)
        self._out.write("─" * (sum(self._widths) + 2 * (3 + len(last))) + "\n")

    def write(self, link: Link, row: Record | None) -> None:
        mention = " ".join(link.mention.text.split())
        confidence = "" if link.confidence is None else f"{link.confidence:.3f}"
        if link.nil:
            self._line(mention, "–", "", "", "", confidence)
            return
        for rank, candidate in enumerate(link.candidates):
            self._line(
                mention if rank == 0 else "",
                candidate.concept_id,
                candidate.concept_name,
                candidate.matched.text,
                f"{candidate.score:.3f}",
                confidence if rank == 0 else "",
            )

    def close(self) -> None:
        self._out.flush()

    def _line(self, *cells: str) -> None:
        # Without confidences there is no column for the last cell.
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=False)]
        self._out.write("  ".join(padded).rstrip() + "\n")


class TsvWriter:
    """One line a candidate, under a header; a mention without candidates has one line with empty cells."""

    def __init__(self, out: TextIO, *, confidence: bool = False) -> None:
        self._out = out
        self._confidence = confidence
        self._out.write("\t".join(("mention", *_columns(confidence))) + "\n")

    def write(self, link: Link, row: Record | None) -> None:
        for cells in _cells(link, confidence=self._confidence):
            self._out.write("\t".join(" ".join(cell.split()) for cell in (link.mention.text, *cells)) + "\n")

    def close(self) -> None:
        self._out.flush()


class JsonWriter:
    """One JSON object a link: mention, query, decision, candidates; under ``row`` the cells of a user's table."""

    def __init__(self, out: TextIO, *, header: Sequence[str] = ()) -> None:
        self._out = out
        self._header = header

    def write(self, link: Link, row: Record | None) -> None:
        value: dict[str, Any] = {
            "mention": link.mention.text,
            "query": link.query,
            "confidence": link.confidence,
            "nil": link.nil,
            "candidates": [candidate.to_dict() for candidate in link.candidates],
        }
        if row is not None:
            value["row"] = dict(zip(self._header, row.fields, strict=True))
        self._out.write(json.dumps(value, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._out.flush()


class CsvWriter:
    """The user's table, as it is, with the columns of the link added; a row is repeated for each candidate."""

    def __init__(self, out: TextIO, header: Record, delimiter: str, *, confidence: bool = False) -> None:
        self._out = out
        self._confidence = confidence
        self._delimiter = delimiter
        self._cells = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        taken = set(header.fields)
        columns = _columns(confidence)
        self._add(header, [f"nymlink_{name}" if name in taken else name for name in columns])

    def write(self, link: Link, row: Record | None) -> None:
        assert row is not None, "a table's links come with their rows"
        for cells in _cells(link, confidence=self._confidence):
            self._add(row, cells)

    def close(self) -> None:
        self._out.flush()

    def _add(self, row: Record, cells: Sequence[str]) -> None:
        added = [" ".join(cell.split()) for cell in cells]
        if row.as_written:
            # Its stray quotation mark would swallow what is added: it is quoted properly.
            self._cells.writerow([*row.fields, *added])
        else:
            self._out.write(row.text + self._delimiter)
            self._cells.writerow(added)


FORMATS: Final = ("table", "tsv", "jsonl")


def link_writer(format: str, out: TextIO, *, confidence: bool) -> LinkWriter:
    """The writer of one of :data:`FORMATS`, with a column for confidences or without."""
    if format == "jsonl":
        return JsonWriter(out)
    return (TableWriter if format == "table" else TsvWriter)(out, confidence=confidence)


def _columns(confidence: bool) -> tuple[str, ...]:
    return (*_COLUMNS, _CONFIDENCE) if confidence else _COLUMNS


def _cells(link: Link, *, confidence: bool) -> list[tuple[str, ...]]:
    """The cells of each line of a link; the confidence, where it is a column, is that of the first."""

    def cells(rank: int, candidate: Candidate) -> tuple[str, ...]:
        named = (candidate.concept_id, candidate.concept_name, candidate.matched.text)
        return (str(rank), *named, f"{candidate.score:.4f}")

    found = [] if link.nil else [cells(rank, candidate) for rank, candidate in enumerate(link.candidates, start=1)]
    lines = found or [("",) * len(_COLUMNS)]
    if not confidence:
        return lines
    sure = "" if link.confidence is None else f"{link.confidence:.4f}"
    return [(*line, "" if place else sure) for place, line in enumerate(lines)]


def _fit(text: str, width: int) -> str:
    """Cut or pad to a width in terminal cells; wide (CJK) and zero-width (combining) characters count as such."""
    printable = "".join(char for char in text if wcwidth(char) >= 0)
    if wcswidth(printable) > width:
        while wcswidth(printable) > width - 1:
            printable = printable[:-1]
        printable += "…"
    return printable + " " * (width - wcswidth(printable))
