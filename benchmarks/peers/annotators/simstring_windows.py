"""simstring as QuickUMLS uses it in texts: windows of up to five words, the most similar first, none overlapping.

QuickUMLS itself needs UMLS and a model of spaCy. Windows do not begin or end with its stop words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.peers.dictionary import Annotate, Dictionary, Found
from benchmarks.peers.linkers.simstring import build as build
from benchmarks.peers.linkers.simstring import nearest

_WORD: Final = re.compile(r"\w+")
_WINDOW: Final = 5
_SHORTEST: Final = 3
_STOP: Final = frozenset(
    "a an and are as at be by for from has he in is its of on or that the to was were will with".split()
)


def load(dictionary: Dictionary, index: Path) -> Annotate:
    """Open the database."""
    near = nearest(dictionary, index)

    def find(text: str) -> list[Found]:
        lowered = text.lower()
        found = []
        for start, end in windows(lowered):
            if best := near(lowered[start:end])[:1]:
                [(similarity, row)] = best
                found.append((-similarity, start - end, start, end, row))
        chosen: list[Found] = []
        for _, _, start, end, row in sorted(found):
            if all(end <= one[0] or start >= one[1] for one in chosen):
                chosen.append((start, end, dictionary.concepts[row][:1]))
        return chosen

    def annotate(texts: Sequence[str]) -> list[list[Found]]:
        return list(map(find, texts))

    return annotate


def windows(text: str) -> list[tuple[int, int]]:
    """List the stretches of words that may be a name, as their first character and that past their last."""
    words = [(word.start(), word.end(), word[0] in _STOP) for word in _WORD.finditer(text)]
    return [
        (words[first][0], words[last][1])
        for first in range(len(words))
        for last in range(first, min(first + _WINDOW, len(words)))
        if not (words[first][2] or words[last][2]) and words[last][1] - words[first][0] >= _SHORTEST
    ]
