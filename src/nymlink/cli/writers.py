"""Links as a table for people, as TSV or JSON lines for programs, or as further columns of the user's table.

Confidences are a column where the index is calibrated. The last column is a note: what there is to doubt
("guessed", "contradicts: increased ≠ decreased"); in the table it is a line of its own. A link that is NIL is
written as one without candidates; in JSON it has its candidates all the same. Where mentions are those of
documents, their places come first. Of a composite mention the candidates of each part are written, one part below
the other; in JSON under ``parts``.

JSON and the user's table have all texts as they are. In TSV mentions and names have a blank for any white space,
so that each candidate has one line; an id is never changed, and quoted where it holds a tab or a line's end.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, count, takewhile
from typing import Any, Final, Protocol, TextIO

from wcwidth import wcswidth, wcwidth

from nymlink.core.delimited import Record, written
from nymlink.core.errors import InputError
from nymlink.core.visible import visible
from nymlink.link.model import Candidate, Link

_COLUMNS: Final = ("rank", "concept_id", "concept_name", "matched_name", "score")
_CONFIDENCE: Final = "confidence"
_NOTE: Final = "note"
_PLACE: Final = ("document_id", "start", "end")


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

    def __init__(self, out: TextIO, *, confidence: bool = False, located: bool = False) -> None:
        self._out = out
        self._located = located
        first = (10, 5, 5) if located else ()
        last = (5, len(_CONFIDENCE)) if confidence else (5,)
        taken = sum(first) + 14 + sum(last) + 2 * (3 + len(first) + len(last))
        free = max(shutil.get_terminal_size((120, 24)).columns - taken, 21)
        self._widths = (*first, free * 3 // 10, 14, free * 4 // 10, free * 3 // 10, *last)
        place = ("document", "start", "end") if located else ()
        self._line(*place, "mention", "concept", "name", "matched", "score", _CONFIDENCE)
        self._out.write("─" * (sum(self._widths) + 2 * (3 + len(first) + len(last))) + "\n")

    def write(self, link: Link, row: Record | None) -> None:
        said = (*(_place(link) if self._located else ()), link.mention.text)
        for part in _written(link):
            confidence = "" if part.confidence is None else f"{part.confidence:.3f}"
            if part.nil:
                self._line(*said, "–", "", "", "", confidence)
            for rank, candidate in enumerate(() if part.nil else part.candidates):
                self._line(
                    *(said if rank == 0 else ("",) * len(said)),
                    candidate.concept_id,
                    candidate.concept_name,
                    candidate.matched.text,
                    f"{candidate.score:.3f}",
                    confidence if rank == 0 else "",
                )
            if part.notes:
                width = sum(self._widths) + 2 * (len(self._widths) - 1)
                self._out.write(f"  {_fit('↳ ' + '; '.join(part.notes), width - 2)}".rstrip() + "\n")

    def close(self) -> None:
        self._out.flush()

    def _line(self, *cells: str) -> None:
        # Without confidences there is no column for the last cell.
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=False)]
        self._out.write("  ".join(padded).rstrip() + "\n")


class TsvWriter:
    """One line a candidate, under a header; a mention without candidates has one line with empty cells."""

    def __init__(self, out: TextIO, *, confidence: bool = False, located: bool = False) -> None:
        self._out = out
        self._confidence = confidence
        self._located = located
        self._line((*(_PLACE if located else ()), "mention", *_columns(confidence)))

    def write(self, link: Link, row: Record | None) -> None:
        place = _place(link) if self._located else ()
        for rank, concept_id, *others in _cells(link, confidence=self._confidence):
            self._line((*place, _blanked(link.mention.text), rank, concept_id, *map(_blanked, others)))

    def close(self) -> None:
        self._out.flush()

    def _line(self, cells: Sequence[str]) -> None:
        self._out.write("\t".join(map(_whole, cells)) + "\n")


class JsonWriter:
    """One JSON object a link: mention, query, decision, candidates; under ``row`` the cells of a user's table.

    Raises:
        InputError: two columns of the table have the same name.
    """

    def __init__(self, out: TextIO, *, header: Sequence[str] = (), located: bool = False) -> None:
        repeated = [name for name, times in Counter(header).items() if times > 1]
        if repeated:
            raise InputError(
                f"two columns are called {repeated[0]!r}, and a JSON object has room for one: rename one of them"
            )
        self._out = out
        self._header = header
        self._located = located

    def write(self, link: Link, row: Record | None) -> None:
        mention = link.mention
        value: dict[str, Any] = {}
        if self._located:
            value |= dict(zip(_PLACE, (link.document_id, mention.start, mention.end), strict=True))
        value |= {"mention": mention.text, **_found(link)}
        if link.parts:
            value["parts"] = [_found(part) for part in link.parts]
        if row is not None:
            value["row"] = dict(zip(self._header, row.fields, strict=True))
        self._out.write(json.dumps(value, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._out.flush()


class CsvWriter:
    """The user's table, as it is, with the columns of the link added; a row is repeated for each candidate.

    A column whose name the table has already is called otherwise ("nymlink_score").
    """

    def __init__(self, out: TextIO, header: Record, delimiter: str, *, confidence: bool = False) -> None:
        self._out = out
        self._confidence = confidence
        self._delimiter = delimiter
        # Spreadsheets and databases do not tell small letters from capitals.
        taken = {name.strip().casefold() for name in header.fields}
        self._add(header, [next(one for one in _names(name) if one not in taken) for name in _columns(confidence)])

    def write(self, link: Link, row: Record | None) -> None:
        assert row is not None, "a table's links come with their rows"
        for cells in _cells(link, confidence=self._confidence):
            self._add(row, cells)

    def close(self) -> None:
        self._out.flush()

    def _add(self, row: Record, cells: Sequence[str]) -> None:
        self._out.write(f"{row.text}{self._delimiter}{written(cells, self._delimiter)}\n")


FORMATS: Final = ("table", "tsv", "jsonl")


def link_writer(format: str, out: TextIO, *, confidence: bool, located: bool = False) -> LinkWriter:
    """The writer of one of :data:`FORMATS`, with a column for confidences, and columns for places, or without."""
    if format == "jsonl":
        return JsonWriter(out, located=located)
    return (TableWriter if format == "table" else TsvWriter)(out, confidence=confidence, located=located)


def _written(link: Link) -> tuple[Link, ...]:
    return (link,) if link.nil or not link.parts else link.parts


def _place(link: Link) -> tuple[str, ...]:
    values = (link.document_id, link.mention.start, link.mention.end)
    return tuple("" if value is None else str(value) for value in values)


def _found(link: Link) -> dict[str, Any]:
    return {
        "query": link.query,
        "confidence": link.confidence,
        "nil": link.nil,
        "guessed": link.guessed,
        "notes": list(link.notes),
        "candidates": [candidate.to_dict() for candidate in link.candidates],
    }


def _names(column: str) -> Iterator[str]:
    """What a column that is added may be called, the first choice first."""
    yield column
    yield f"nymlink_{column}"
    yield from (f"nymlink_{column}_{number}" for number in count(2))


def _columns(confidence: bool) -> tuple[str, ...]:
    return (*_COLUMNS, *((_CONFIDENCE,) if confidence else ()), _NOTE)


def _cells(link: Link, *, confidence: bool) -> list[tuple[str, ...]]:
    """The cells of each line of a link; confidence, where it is a column, and notes are those of the first."""
    if _written(link) != (link,):
        return [line for part in link.parts for line in _cells(part, confidence=confidence)]

    def cells(rank: int, candidate: Candidate) -> tuple[str, ...]:
        named = (candidate.concept_id, candidate.concept_name, candidate.matched.text)
        return (str(rank), *named, f"{candidate.score:.4f}")

    found = [] if link.nil else [cells(rank, candidate) for rank, candidate in enumerate(link.candidates, start=1)]
    lines = found or [("",) * len(_COLUMNS)]
    sure = "" if link.confidence is None else f"{link.confidence:.4f}"
    first = (*((sure,) if confidence else ()), "; ".join(link.notes))
    return [(*line, *("" if place else cell for cell in first)) for place, line in enumerate(lines)]


def _blanked(text: str) -> str:
    """A text with one blank for any white space."""
    return " ".join(text.split())


def _whole(cell: str) -> str:
    """A cell of TSV, quoted where it would be read as several, or as several lines."""
    return written([cell], "\t") if any(mark in cell for mark in "\t\r\n") else cell


def _fit(text: str, width: int) -> str:
    """Cut or pad to a width in terminal cells; wide (CJK) and zero-width (combining) characters count as such."""
    shown = visible(_blanked(text))
    if wcswidth(shown) > width:
        # By character first, or a text of many would be measured as many times.
        ends = accumulate(map(wcwidth, shown))
        shown = shown[: sum(1 for _ in takewhile(lambda end: end < width, ends))]
        while wcswidth(shown) > width - 1:
            shown = shown[:-1]
        shown += "…"
    return shown + " " * (width - wcswidth(shown))
