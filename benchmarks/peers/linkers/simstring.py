"""simstring as QuickUMLS asks it: names whose 3-grams have a Jaccard similarity of at least 0.7, nearest first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.peers.dictionary import Dictionary, Search

_GRAM: Final = 3
_THRESHOLD: Final = 0.7


def build(dictionary: Dictionary, index: Path) -> None:
    """Write the database of all names, in lower case."""
    from quickumls_simstring import simstring

    writer = simstring.writer(str(index / "names.simstring"), _GRAM, False, True)
    for name in dict.fromkeys(name.lower() for name in dictionary.names):
        writer.insert(name)
    writer.close()


def load(dictionary: Dictionary, index: Path) -> Search:
    """Open the database."""
    near = nearest(dictionary, index)
    return lambda block: [dictionary.distinct(row for _, row in near(one)) for one in block]


def nearest(dictionary: Dictionary, index: Path) -> Callable[[str], list[tuple[float, int]]]:
    """Open the database: a text → similarity and row of the names that are near enough, the nearest first."""
    from quickumls_simstring import simstring

    rows: dict[str, int] = {}
    for row, name in enumerate(dictionary.names):
        rows.setdefault(name.lower(), row)
    reader = simstring.reader(str(index / "names.simstring"))
    reader.measure, reader.threshold = simstring.jaccard, _THRESHOLD

    def near(text: str) -> list[tuple[float, int]]:
        grams = _grams(text)
        found = ((_jaccard(grams, _grams(name)), rows[name]) for name in reader.retrieve(text))
        return sorted(found, key=lambda one: (-one[0], one[1]))

    return near


def _grams(text: str) -> set[str]:
    """List the 3-grams of a text as QuickUMLS does, without marks of its ends."""
    size = min(_GRAM, len(text))
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
