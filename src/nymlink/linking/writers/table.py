"""Write links as a table for people, with columns as wide as the terminal allows."""

from __future__ import annotations

import shutil
from itertools import accumulate, takewhile
from typing import TextIO

from wcwidth import wcswidth, wcwidth

from nymlink.core.delimited import Record
from nymlink.core.terminal.control_characters import escape_controls
from nymlink.linking.link_rows import CONFIDENCE, PLACE, part_rows
from nymlink.linking.model import Link
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter

_GAP = 2
"""Blanks between columns."""


class TableWriter(LinkWriter):
    """Writes a line for each candidate, and a line for the notes of a link."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        self._out = out
        self._located = info.located
        place = (10, 5, 5) if info.located else ()
        scores = (5, len(CONFIDENCE)) if info.confident else (5,)
        fixed = sum(place) + 14 + sum(scores) + _GAP * (3 + len(place) + len(scores))
        free = max(shutil.get_terminal_size((120, 24)).columns - fixed, 21)
        self._widths = (*place, free * 3 // 10, 14, free * 4 // 10, free * 3 // 10, *scores)
        self._width = sum(self._widths) + _GAP * (len(self._widths) - 1)
        headings = ("document", "start", "end") if info.located else ()
        self._write_line(*headings, "mention", "concept", "name", "matched", "score", CONFIDENCE)
        self._out.write("─" * self._width + "\n")

    def write(self, link: Link, row: Record | None = None) -> None:
        columns = (*(PLACE if self._located else ()), "mention")
        for candidates in part_rows(link):
            for place, values in enumerate(candidates):
                mention = ["" if place or values[name] is None else str(values[name]) for name in columns]
                self._write_line(
                    *mention,
                    values["concept_id"] or "–",
                    values["concept_name"] or "",
                    values["matched_name"] or "",
                    _decimals(values["score"]),
                    _decimals(values[CONFIDENCE]),
                )
            note = candidates[0]["note"]
            if note is not None:
                self._out.write(f"  {_fit(f'↳ {note}', self._width - 2)}".rstrip() + "\n")

    def _write_line(self, *cells: str) -> None:
        # Without confidences there is no column for the last cell.
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=False)]
        self._out.write((" " * _GAP).join(padded).rstrip() + "\n")


def _decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _fit(text: str, width: int) -> str:
    """Cut or pad to a width in terminal cells; wide (CJK) and zero-width (combining) characters count as such."""
    shown = escape_controls(" ".join(text.split()))
    if wcswidth(shown) > width:
        # Cut by characters first: measuring a long text after each character that is cut would be slow.
        ends = accumulate(map(wcwidth, shown))
        shown = shown[: sum(1 for _ in takewhile(lambda end: end < width, ends))]
        while wcswidth(shown) > width - 1:
            shown = shown[:-1]
        shown += "…"
    return shown + " " * (width - wcswidth(shown))


FORMAT = LinkFormat(name="table", description="for people, as wide as the terminal", open=TableWriter)
