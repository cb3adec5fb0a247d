"""How a text is read: its letters as names have them, and the ends of its lines that divide phrases."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nymlink.text.english.words import stop_words

LINE_END: Final = "¶"
"""Stands in a reading for the end of a line of a list, a form or a heading."""
CELL_END: Final = "|"
"""Stands in a reading for a tab, which divides the cells of a row."""

_INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphens, joiners and spaces without width."""
_GREEK: Final = "\u0370-\u03ff"
_UNUSUAL: Final = re.compile(
    rf"[{_INVISIBLE}]"
    r"|[^\W\d_][\u0300-\u036f]+"  # letters whose marks are characters of their own
    r"|[\ufb00-\ufb06\uff10-\uff5a\U0001d400-\U0001d7ff]"  # ligatures, wide and mathematical letters
    rf"|(?<![{_GREEK}])[{_GREEK}](?![{_GREEK}])"  # a Greek letter, not a Greek word
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is read, and where its characters stand in the text as written.

    Attributes:
        text: of the reading.
        starts: offsets in the reading at which a replaced stretch ends, ascending, the first 0.
        shifts: for each, what is added to an offset in the reading from there on.
    """

    text: str
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Find where a stretch of the reading stands in the text as written: offsets of start and end."""
        return self._written(start), self._written(end)

    def _written(self, place: int) -> int:
        after = bisect_right(self.starts, place)
        written = place + self.shifts[after - 1]
        # Within a replaced stretch, which may be longer than what it replaces.
        return written if after == len(self.starts) else min(written, self.starts[after] + self.shifts[after])


def read(text: str) -> Reading:
    """Read a text: letters composed, ligatures and Greek letters written out, invisible characters left out.

    Line ends that divide phrases, and tabs, are marked, see :func:`mark_lines`.
    """
    text = mark_lines(text)
    if text.isascii():
        return Reading(text)
    pieces: list[str] = []
    starts, shifts = [0], [0]
    end = length = 0
    for match in _UNUSUAL.finditer(text):
        new = _read(match[0], text[match.start() - 1 : match.start()])
        if new == match[0]:
            continue
        pieces += (text[end : match.start()], new)
        length += match.start() - end + len(new)
        end = match.end()
        starts.append(length)
        shifts.append(end - length)
    return Reading("".join([*pieces, text[end:]]), tuple(starts), tuple(shifts))


def _read(written: str, before: str) -> str:
    """Write a letter, or letters, as names have them.

    Args:
        written: the letters.
        before: the character before them, or "".
    """
    if written in _INVISIBLE:
        return ""
    letter = unicodedata.normalize("NFKC", written)
    name = unicodedata.name(letter, "") if len(letter) == 1 else ""
    if not name.startswith("GREEK "):
        return letter
    # "IFNγ" is IFN-gamma.
    word = name.rsplit(" ", 1)[-1].lower().replace("lamda", "lambda")
    return f"-{word}" if before.isalnum() else word


_BULLET: Final = re.compile(r"\s*(?:[-*•·◦▪–—+>]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[.?\])\s")
_ANSWER: Final = re.compile(r"[:=]\s*\S*$")
"""Ends the line of a form."""
_SHORTEST_WRAPPED: Final = 40
"""Characters of the longest line of the narrowest wrapped text."""
_FEWEST_WRAPPED: Final = 3
"""Lines of the shortest text that is known to be wrapped by the lengths of its lines alone."""


_CLAUSE: Final = 5
"""Words of the shortest line that is taken for a part of a sentence, if it has a function word."""


def mark_lines(text: str) -> str:
    """Mark the line ends that divide phrases, and tabs: the text has the same length and offsets.

    Line ends of wrapped prose are not marked. A line is wrapped if it has no room for the first word of the next,
    or if one of the two words at its end is a function word.
    """
    if "\n" not in text and "\t" not in text:
        return text
    pieces: list[str] = []
    for paragraph in re.split(r"(\n\s*\n)", text.replace("\t", CELL_END)):
        lines = paragraph.split("\n")
        if not paragraph.strip():
            pieces.append(paragraph.replace("\n", LINE_END))
            continue
        ends = _ends([line.strip() for line in lines])
        pieces.append("".join(line + end for line, end in zip(lines, ends, strict=True)))
    return "".join(pieces)


def _ends(lines: Sequence[str]) -> list[str]:
    """Choose what stands for the end of each line of a paragraph; nothing after the last."""
    width = max(map(len, lines))
    full = [len(line) + 1 + len(after.split(" ", 1)[0]) > width for line, after in pairwise(lines)]
    even = width >= _SHORTEST_WRAPPED and all(full) and len(lines) >= _FEWEST_WRAPPED
    ends = [
        "\n" if _is_wrapped(line, after, full=is_full and width >= _SHORTEST_WRAPPED, even=even) else LINE_END
        for (line, after), is_full in zip(pairwise(lines), full, strict=True)
    ]
    return [*ends, ""]


def _is_wrapped(line: str, after: str, *, full: bool, even: bool) -> bool:
    if not line or _BULLET.match(f"{after} ") or CELL_END in line or _ANSWER.search(line):
        return False
    last, first = line.rsplit(" ", 1)[-1], after.split(" ", 1)[0]
    if last.lower() in stop_words() or first in stop_words() or line.endswith((",", "-")):
        return True
    words = line.lower().split()
    clause = len(words) >= _CLAUSE and any(word in stop_words() for word in words)
    return even or (first[:1].islower() and (full or clause))
