"""Aho–Corasick with pyahocorasick: names in lower case, whole words, the longest of those that overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.peers.dictionary import Annotate, Dictionary, Found


def load(dictionary: Dictionary, index: Path) -> Annotate:
    """Make the automaton."""
    import ahocorasick

    automaton = ahocorasick.Automaton()
    for row, name in enumerate(dictionary.names):
        if name.strip() and not automaton.exists(name.lower()):
            automaton.add_word(name.lower(), (len(name.lower()), row))
    automaton.make_automaton()

    def find(text: str) -> list[Found]:
        lowered = text.lower()
        # Offsets must be those of the text.
        asked = lowered if len(lowered) == len(text) else text
        spans = ((end + 1 - length, end + 1, row) for end, (length, row) in automaton.iter(asked))
        whole = (one for one in spans if _whole(asked, one[0], one[1]))
        return [(start, end, dictionary.concepts[row][:1]) for start, end, row in longest(whole)]

    def annotate(texts: Sequence[str]) -> list[list[Found]]:
        return list(map(find, texts))

    return annotate


def _whole(text: str, start: int, end: int) -> bool:
    """Tell whether neither end of a stretch is within a word."""
    return not (start and text[start - 1].isalnum() and text[start].isalnum()) and not (
        end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    )


def longest(spans: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Choose stretches that do not overlap from the left, of those that begin together the longest."""
    chosen: list[tuple[int, int, int]] = []
    for span in sorted(spans, key=lambda one: (one[0], -one[1])):
        if not chosen or span[0] >= chosen[-1][1]:
            chosen.append(span)
    return chosen
