"""Read the dictionary that peers search: standard library only, as each has an environment of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

CONCEPTS: Final = 5
"""Number of distinct concepts that are asked for."""

NAMES: Final = 64
"""Number of names that are retrieved, so that there are that many concepts among them."""

BLOCK: Final = 128
"""Queries of a block, whose similarities with all names are in memory at once."""

Search = Callable[[Sequence[str]], list[list[int]]]
"""Mentions → of each the concepts found, distinct, best first."""

Found = tuple[int, int, list[int]]
"""Mention in a text: start, end (characters), concepts."""

Annotate = Callable[[Sequence[str]], list[list[Found]]]
"""Texts → of each the mentions found."""


class Dictionary:
    """Names and their concepts, in the files of a folder, each read when it is asked for.

    Args:
        folder: filled by :mod:`benchmarks.peers.prepare`.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def names(self) -> list[str]:
        """All names, distinct."""
        return self._read("names")

    @cached_property
    def concepts(self) -> list[list[int]]:
        """Numbers of the concepts of each name."""
        return self._read("concepts")

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the concepts, by number."""
        return self._read("ids")

    @cached_property
    def queries(self) -> list[str]:
        """Distinct mentions to look for."""
        return self._read("queries")

    @cached_property
    def texts(self) -> list[str]:
        """Texts to annotate."""
        return self._read("texts")

    def distinct(self, rows: Iterable[int]) -> list[int]:
        """List the first :data:`CONCEPTS` concepts of names, given by their rows, best first."""
        return first(concept for row in rows for concept in self.concepts[row])

    def _read(self, what: str) -> list[Any]:
        values: list[Any] = json.loads((self.folder / f"{what}.json").read_text(encoding="utf-8"))
        return values


def first(concepts: Iterable[int]) -> list[int]:
    """List the first :data:`CONCEPTS` distinct ones."""
    found: dict[int, None] = {}
    for concept in concepts:
        found[concept] = None
        if len(found) == CONCEPTS:
            break
    return list(found)


def largest(scores: Any) -> list[list[int]]:
    """Find the columns of the largest positive values of each row of an array, the first of equals first."""
    import numpy as np

    kept = min(NAMES, scores.shape[1])
    some = np.sort(np.argpartition(-scores, kept - 1, axis=1)[:, :kept], axis=1)
    values = np.take_along_axis(scores, some, 1)
    order = np.argsort(-values, axis=1, kind="stable")
    lines = zip(np.take_along_axis(some, order, 1).tolist(), np.take_along_axis(values, order, 1), strict=True)
    return [[row for row, value in zip(rows, line, strict=True) if value > 0] for rows, line in lines]
