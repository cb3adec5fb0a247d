"""Find the sentence around a mention, in any language."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final

LONGEST: Final = 400
"""Characters of a sentence at most. Of a longer one, and where nothing marks the end of a sentence, as in Thai,
the words around the mention are taken."""

_CLOSING: Final = "\"'”’»」』】》）)\\]"
_END: Final = re.compile(
    # Chinese, Japanese, Urdu and Hindi put no space after a sentence, or need none.
    rf"[。！？｡。؟۔।॥]+[{_CLOSING}]*\s*"
    # A stop after one or two letters is that of an abbreviation or of an initial.
    rf"|(?:(?<=\w\w\w)\.|(?<=[{_CLOSING}%])\.|[!?…]+)[{_CLOSING}]*\s+"
)
_PAUSE: Final = re.compile(r"[\s、，；,;]+")


class Sentences:
    """The sentences of a line of plain text."""

    def __init__(self, text: str) -> None:
        self._text = text
        ends = [match.span() for match in _END.finditer(text) if not text[match.end() : match.end() + 1].islower()]
        self._marks = [mark for mark, _ in ends]
        self._nexts = [next_ for _, next_ in ends]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Find the bounds of the sentence in which a mention stands.

        Args:
            start: offset of the first character of the mention.
            end: offset one past its last character.

        Returns:
            Offsets of the sentence, without white space around it; the mention is within.
        """
        before, after = bisect_right(self._nexts, start), bisect_left(self._marks, end)
        left = self._nexts[before - 1] if before else 0
        right = self._nexts[after] if after < len(self._marks) else len(self._text)
        if right - left > LONGEST:
            left, right = _window(self._text, left, right, start, end)
        while left < start and self._text[left].isspace():
            left += 1
        while right > end and self._text[right - 1].isspace():
            right -= 1
        return left, right


def _window(text: str, left: int, right: int, start: int, end: int) -> tuple[int, int]:
    """Narrow a sentence to what is around the mention, from pause to pause where there are any."""
    margin = max(LONGEST - (end - start), 0) // 2
    if start - left > margin:
        pause = _PAUSE.search(text, start - margin, start)
        left = pause.end() if pause else start - margin
    if right - end > margin:
        pauses = list(_PAUSE.finditer(text, end, end + margin))
        right = pauses[-1].start() if pauses else end + margin
    return left, right
