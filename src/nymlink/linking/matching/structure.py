"""Compare the places of two concepts in their hierarchies, by the concepts around them that are mapped already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log
from typing import Final

import numpy as np
import pyarrow.compute as pc

from nymlink.linking.matching.names import Pair
from nymlink.vocabulary.hierarchy import flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary

_NEAR: Final = 3
"""Number of levels above and below a concept that are compared."""


class Hierarchy:
    """The parents, children and ancestors of the concepts of a vocabulary, as rows.

    Parents that are no concepts of the vocabulary are left out. Cycles do no harm.

    Attributes:
        parents: concept row → rows of its parents.
        children: concept row → rows of its children.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        concepts = vocabulary.columns.concepts
        owners, ids = flatten_lists(concepts["parents"])
        rows = pc.index_in(ids, value_set=concepts["id"].combine_chunks())
        self.parents: list[list[int]] = [[] for _ in range(len(vocabulary))]
        self.children: list[list[int]] = [[] for _ in range(len(vocabulary))]
        for child, parent in zip(owners.tolist(), rows.to_pylist(), strict=True):
            if parent is not None and parent != child:
                self.parents[child].append(parent)
                self.children[parent].append(child)
        self._ancestors: dict[int, frozenset[int]] = {}
        self._information = self._measure_information()

    def __bool__(self) -> bool:
        """Whether any concept has a parent."""
        return any(self.parents)

    def ancestors(self, row: int) -> frozenset[int]:
        """Return the rows of all ancestors of a concept."""
        known = self._ancestors.get(row)
        if known is None:
            found: set[int] = set()
            pending = list(self.parents[row])
            while pending:
                if (parent := pending.pop()) not in found:
                    found.add(parent)
                    pending += self.parents[parent]
            known = self._ancestors[row] = frozenset(found)
        return known

    def information(self, row: int) -> float:
        """Return how specific a concept is: 0 for the root of everything, 1 for a concept without children."""
        return float(self._information[row])

    def near(self, row: int, edges: list[list[int]]) -> Iterable[tuple[int, int]]:
        """Yield the concepts within some steps along parents or children, each with its number of steps."""
        seen, level = {row}, [row]
        for distance in range(1, _NEAR + 1):
            level = [other for one in level for other in edges[one] if not (other in seen or seen.add(other))]
            yield from ((other, distance) for other in level)

    def _measure_information(self) -> np.ndarray:
        counts = np.ones(len(self.parents))
        for row in range(len(self.parents)):
            for ancestor in self.ancestors(row):
                counts[ancestor] += 1
        return 1 - np.log(counts) / log(max(len(counts), 2))


class Support:
    """What mapped concepts say about further pairs.

    Args:
        one: hierarchy of the first vocabulary.
        other: hierarchy of the second vocabulary.
        mapped: concept row of the first → row of the second.
    """

    def __init__(self, one: Hierarchy, other: Hierarchy, mapped: Mapping[int, int]) -> None:
        self._one, self._other = one, other
        self._images = dict(mapped)
        self._origins = {image: row for row, image in mapped.items()}

    def above(self, pair: Pair) -> float | None:
        """Return the share of the nearest mapped ancestors of both whose partner is an ancestor of the other."""
        row, image = pair
        return _share(
            [
                *self._agreements(self._one, row, self._images, self._other.ancestors(image) | {image}, image),
                *self._agreements(self._other, image, self._origins, self._one.ancestors(row) | {row}, row),
            ]
        )

    def below(self, pair: Pair) -> float | None:
        """Return the share of the mapped descendants of both whose partner is a descendant of the other."""
        row, image = pair
        found = []
        for child, steps in self._one.near(row, self._one.children):
            if (partner := self._images.get(child)) is not None and partner != image:
                found.append((1 / steps, image in self._other.ancestors(partner)))
        for child, steps in self._other.near(image, self._other.children):
            if (partner := self._origins.get(child)) is not None and partner != row:
                found.append((1 / steps, row in self._one.ancestors(partner)))
        return _share(found)

    def _agreements(self, own, row, images, above, own_image):
        found = []
        level, seen = [row], {row}
        while level and not found:
            level = [p for one in level for p in own.parents[one] if not (p in seen or seen.add(p))]
            found = [(max(own.information(p), 0.01), images[p] in above) for p in level if p in images and images[p] != own_image]
        return found


def _share(found: list[tuple[float, bool]]) -> float | None:
    total = sum(weight for weight, _ in found)
    return sum(weight for weight, agrees in found if agrees) / total if total else None
