"""Normalise texts for matching: write letters in one way, and mark the line ends that separate phrases.

Offsets in a normalised text can be converted to those in the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nymlink.text.english.words import stop_words
from nymlink.text.writing import greek_name

LINE_END: Final = "¶"
"""Mark of the end of a line in a list, a form or a heading."""
CELL_END: Final = "|"
"""Mark of a tab between the cells of a row."""

_INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphens, joiners, and spaces of zero width."""
_GREEK: Final = "\u0370-\u03ff"
_UNUSUAL: Final = re.compile(
    rf"[{_INVISIBLE}]"
    r"|[^\W\d_][\u0300-\u036f]+"  # letters whose marks are characters of their own
    r"|[\ufb00-\ufb06\uff10-\uff5a\U0001d400-\U0001d7ff]"  # ligatures, wide and mathematical letters
    rf"|(?<![{_GREEK}])[{_GREEK}](?![{_GREEK}])"  # a Greek letter, not a Greek word
)


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text in normal form, and the offsets of its characters in the original text.

    Attributes:
        text: the text in normal form.
        starts: 0, then the offset after each replacement, in ascending order.
        shifts: for each start, the number to add to an offset from there on to get the original offset.
    """

    text: str
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Convert the offsets of a span to those of the original text."""
        return self._original(start), self._original(end)

    def _original(self, place: int) -> int:
        after = bisect_right(self.starts, place)
        original = place + self.shifts[after - 1]
        # Within a replacement, which may be longer than the original.
        return original if after == len(self.starts) else min(original, self.starts[after] + self.shifts[after])


def align(text: str) -> AlignedText:
    """Normalise a text: compose letters, spell out ligatures and Greek letters, remove invisible characters.

    Tabs and line ends that separate phrases are marked, see :func:`mark_lines`.
    """
    text = mark_lines(text)
    if text.isascii():
        return AlignedText(text)
    pieces: list[str] = []
    starts, shifts = [0], [0]
    end = length = 0
    for match in _UNUSUAL.finditer(text):
        new = _normal(match[0], text[match.start() - 1 : match.start()])
        if new == match[0]:
            continue
        pieces += (text[end : match.start()], new)
        length += match.start() - end + len(new)
        end = match.end()
        starts.append(length)
        shifts.append(end - length)
    return AlignedText("".join([*pieces, text[end:]]), tuple(starts), tuple(shifts))


def _normal(letters: str, before: str) -> str:
    """Normalise a letter or several.

    Args:
        letters: the letters.
        before: the character before them, or "".
    """
    if letters in _INVISIBLE:
        return ""
    letter = unicodedata.normalize("NFKC", letters)
    name = greek_name(letter) if len(letter) == 1 else None
    if name is None:
        return letter
    # "IFNγ" is IFN-gamma.
    return f"-{name}" if before.isalnum() else name


_BULLET: Final = re.compile(r"\s*(?:[-*•·◦▪–—+>]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[.?\])\s")
_ANSWER: Final = re.compile(r"[:=]\s*\S*$")
"""Pattern of the end of a line in a form: a label and a short value."""
_LONGEST_ANSWER: Final = 40
_SHORTEST_WRAPPED: Final = 40
"""Smallest width of wrapped text, in characters."""
_FEWEST_WRAPPED: Final = 3
"""Smallest number of lines of a text that is recognised as wrapped by the lengths of its lines alone."""


_CLAUSE: Final = 5
"""Smallest number of words of a line that is recognised as part of a sentence by its function words."""


def mark_lines(text: str) -> str:
    """Mark tabs, and line ends that separate phrases; length and offsets stay the same.

    Line ends in wrapped prose are not marked. A line counts as wrapped if the first word of the next line did not
    fit into it, or if the word before or after the line end is a function word.
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
    """Choose the character for the end of each line of a paragraph; none after the last."""
    width = max(map(len, lines))
    full = [len(line) + 1 + len(after.split(" ", 1)[0]) > width for line, after in pairwise(lines)]
    even = width >= _SHORTEST_WRAPPED and all(full) and len(lines) >= _FEWEST_WRAPPED
    ends = [
        "\n" if _is_wrapped(line, after, full=is_full and width >= _SHORTEST_WRAPPED, even=even) else LINE_END
        for (line, after), is_full in zip(pairwise(lines), full, strict=True)
    ]
    return [*ends, ""]


def _is_wrapped(line: str, after: str, *, full: bool, even: bool) -> bool:
    if not line or _BULLET.match(f"{after} ") or CELL_END in line or _ANSWER.search(line[-_LONGEST_ANSWER:]):
        return False
    last, first = line.rsplit(" ", 1)[-1], after.split(" ", 1)[0]
    if last.lower() in stop_words() or first in stop_words() or line.endswith((",", "-")):
        return True
    words = line.lower().split()
    clause = len(words) >= _CLAUSE and any(word in stop_words() for word in words)
    return even or (first[:1].islower() and (full or clause))
