"""Select pairs of concepts that have each other's preferred names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import pyarrow as pa

from nymlink.vocabulary.name_matching import exact_names, sorted_words
from nymlink.vocabulary.vocabulary import Vocabulary

CrossPair = tuple[int, int]
"""A concept row of the target, and one of the metathesaurus."""


def mutually_named(target: Vocabulary, meta: Vocabulary, pairs: Collection[CrossPair]) -> set[CrossPair]:
    """Select the pairs in which each concept has the other's preferred name, ignoring the order of words."""
    target_names = _SortedNames(target, {row for row, _ in pairs})
    meta_names = _SortedNames(meta, {meta_row for _, meta_row in pairs})
    return {
        (row, meta_row)
        for row, meta_row in pairs
        if target_names.preferred[row] & meta_names.names[meta_row]
        and meta_names.preferred[meta_row] & target_names.names[row]
    }


class _SortedNames:
    """The names of some concepts with sorted words: the preferred ones, and all preferred and exact ones."""

    def __init__(self, vocabulary: Vocabulary, rows: Collection[int]) -> None:
        wanted = np.zeros(len(vocabulary), bool)
        wanted[np.fromiter(rows, np.int64, len(rows))] = True
        names = exact_names(vocabulary.columns.names)
        names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
        self.preferred: dict[int, set[str]] = defaultdict(set)
        self.names: dict[int, set[str]] = defaultdict(set)
        columns = names["concept"].to_pylist(), names["kind"].to_pylist(), sorted_words(names["text"])
        for row, kind, name in zip(*columns, strict=True):
            self.names[row].add(name)
            if kind == "preferred":
                self.preferred[row].add(name)
