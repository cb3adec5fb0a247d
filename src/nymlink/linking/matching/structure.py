"""Compare the places of two concepts in their hierarchies, by the concepts around them that are mapped already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import pyarrow.compute as pc

from nymlink.linking.matching.names import Pair
from nymlink.vocabulary.hierarchy import flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary

_NEAR: Final = 3
"""Number of levels below a concept that are compared."""


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

    def levels(self, row: int, *, up: bool) -> Iterator[list[int]]:
        """Yield the parents of a concept, their parents, and so on, each concept once; or the children."""
        edges = self.parents if up else self.children
        seen, level = {row}, [row]
        while level := list(dict.fromkeys(other for one in level for other in edges[one] if other not in seen)):
            seen.update(level)
            yield level


class Support:
    """What mapped concepts say about further pairs.

    Args:
        one: hierarchy of the first vocabulary.
        other: hierarchy of the second vocabulary.
        mapped: concept row of the first → row of the second.
    """

    def __init__(self, one: Hierarchy, other: Hierarchy, mapped: Mapping[int, int]) -> None:
        self._sides = (one, dict(mapped)), (other, {image: row for row, image in mapped.items()})

    def above(self, pair: Pair) -> float | None:
        """Return the share of the nearest mapped ancestors of both whose partner is an ancestor of the other.

        ``None`` if no ancestor is mapped.
        """
        found: list[tuple[float, bool]] = []
        for (own, partners), (other, _), row, image in self._both(pair):
            # A partner of an ancestor that is this very concept says nothing: it is the other pair that is wrong.
            levels = ([partners.get(each, image) for each in level] for level in own.levels(row, up=True))
            nearest = next(filter(None, ([each for each in level if each != image] for level in levels)), [])
            found += [(1.0, each in other.ancestors(image)) for each in nearest]
        return _share(found)

    def below(self, pair: Pair) -> float | None:
        """Return the share of the mapped descendants of both whose partner is a descendant of the other.

        ``None`` if no near descendant is mapped. Children count more than their children.
        """
        found: list[tuple[float, bool]] = []
        for (own, partners), (other, _), row, image in self._both(pair):
            for steps, level in enumerate(islice(own.levels(row, up=False), _NEAR), start=1):
                images = (partners.get(each, image) for each in level)
                found += [(1 / steps, image in other.ancestors(each)) for each in images if each != image]
        return _share(found)

    def _both(self, pair: Pair) -> Iterator[tuple[_Side, _Side, int, int]]:
        yield (*self._sides, *pair)
        yield (*self._sides[::-1], *pair[::-1])


_Side = tuple[Hierarchy, dict[int, int]]
"""A hierarchy, and the partners of its concepts."""


def _share(found: Sequence[tuple[float, bool]]) -> float | None:
    total = sum(weight for weight, _ in found)
    return sum(weight for weight, agrees in found if agrees) / total if total else None
