"""Links as a table for people, as TSV or JSON lines for programs, or as further columns of the user's table."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TextIO

from wcwidth import wcswidth, wcwidth

from nymlink.delimited import Record
from nymlink.link.model import Candidate, Link

_COLUMNS: Final = ("rank", "concept_id", "concept_name", "matched_name", "score")


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

    def __init__(self, out: TextIO) -> None:
        self._out = out
        width = max(shutil.get_terminal_size((120, 24)).columns, 60)
        free = width - 14 - 5 - 8
        self._widths = (free * 3 // 10, 14, free * 4 // 10, free * 3 // 10, 5)
        self._line("mention", "concept", "name", "matched", "score")
        self._out.write("─" * (sum(self._widths) + 8) + "\n")

    def write(self, link: Link, row: Record | None) -> None:
        mention = " ".join(link.mention.text.split())
        if not link.candidates:
            self._line(mention, "–", "", "", "")
        for rank, candidate in enumerate(link.candidates):
            shown = mention if rank == 0 else ""
            self._line(
                shown,
                candidate.concept_id,
                candidate.concept_name,
                candidate.matched.text,
                f"{candidate.score:.3f}",
            )

    def close(self) -> None:
        self._out.flush()

    def _line(self, *cells: str) -> None:
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=True)]
        self._out.write("  ".join(padded).rstrip() + "\n")


class TsvWriter:
    """One line a candidate, under a header; a mention without candidates has one line with empty cells."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._out.write("\t".join(("mention", *_COLUMNS)) + "\n")

    def write(self, link: Link, row: Record | None) -> None:
        for cells in _cells(link):
            self._out.write("\t".join(" ".join(cell.split()) for cell in (link.mention.text, *cells)) + "\n")

    def close(self) -> None:
        self._out.flush()


class JsonWriter:
    """One JSON object a link: mention, query, candidates; under ``row`` the cells of the user's table."""

    def __init__(self, out: TextIO, header: Sequence[str] = ()) -> None:
        self._out = out
        self._header = header

    def write(self, link: Link, row: Record | None) -> None:
        value: dict[str, Any] = {
            "mention": link.mention.text,
            "query": link.query,
            "candidates": [candidate.to_dict() for candidate in link.candidates],
        }
        if row is not None:
            value["row"] = dict(zip(self._header, row.fields, strict=True))
        self._out.write(json.dumps(value, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._out.flush()


class CsvWriter:
    """The user's table, as it is, with the columns of the link added; a row is repeated for each candidate."""

    def __init__(self, out: TextIO, header: Record, delimiter: str) -> None:
        self._out = out
        self._delimiter = delimiter
        self._cells = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        taken = set(header.fields)
        self._add(header, [f"nymlink_{name}" if name in taken else name for name in _COLUMNS])

    def write(self, link: Link, row: Record | None) -> None:
        assert row is not None, "a table's links come with their rows"
        for cells in _cells(link):
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


FORMATS: Final[Mapping[str, Callable[[TextIO], LinkWriter]]] = {
    "table": TableWriter,
    "tsv": TsvWriter,
    "jsonl": JsonWriter,
}


def _cells(link: Link) -> list[tuple[str, ...]]:
    def cells(rank: int, candidate: Candidate) -> tuple[str, ...]:
        named = (candidate.concept_id, candidate.concept_name, candidate.matched.text)
        return (str(rank), *named, f"{candidate.score:.4f}")

    found = [cells(rank, candidate) for rank, candidate in enumerate(link.candidates, start=1)]
    return found or [("",) * len(_COLUMNS)]


def _fit(text: str, width: int) -> str:
    """Cut or pad to a width in terminal cells; wide (CJK) and zero-width (combining) characters count as such."""
    printable = "".join(char for char in text if wcwidth(char) >= 0)
    if wcswidth(printable) > width:
        while wcswidth(printable) > width - 1:
            printable = printable[:-1]
        printable += "…"
    return printable + " " * (width - wcswidth(printable))
