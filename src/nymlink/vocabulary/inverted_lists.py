"""Invert a column of lists: from a value (a parent, a cross-reference) to the concepts that have it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.hierarchy import flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary


class InvertedLists:
    """The concepts of a vocabulary by the values of a list that each has; obsolete concepts are left out.

    Args:
        vocabulary: of the concepts.
        field: the list: ``"parents"`` makes it lead to the children of a concept.
        key: what values are compared by, where that is not the values themselves.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        field: Literal["parents", "xrefs"],
        *,
        key: Callable[[str], str] | None = None,
    ) -> None:
        concepts = vocabulary.columns.concepts
        owners, values = flatten_lists(concepts[field])
        live = ~concepts["obsolete"].to_numpy()[owners]
        encoded = values.filter(pa.array(live)).dictionary_encode()
        labels, codes = encoded.dictionary, encoded.indices.to_numpy()
        if key is not None:
            keyed = pa.array(map(key, labels.to_pylist()), pa.string()).dictionary_encode()
            labels, codes = keyed.dictionary, keyed.indices.to_numpy()[codes]
        order = pc.sort_indices(labels)
        rank = np.empty(len(labels), np.int64)
        rank[order.to_numpy()] = np.arange(len(labels))
        by_value = np.argsort(rank[codes], kind="stable")
        self._key = key
        self._values = labels.take(order)
        self._owners = owners[live][by_value]
        self._ends = np.searchsorted(rank[codes][by_value], np.arange(len(labels) + 1))

    def owners(self, value: str) -> list[int]:
        """Find the rows of the concepts that have a value, ascending."""
        wanted = value if self._key is None else self._key(value)
        place = bisect_left(range(len(self._values)), wanted, key=self._value)
        if place == len(self._values) or self._value(place) != wanted:
            return []
        owners: list[int] = np.unique(self._owners[self._ends[place] : self._ends[place + 1]]).tolist()
        return owners

    def _value(self, place: int) -> str:
        return str(self._values[place].as_py())
