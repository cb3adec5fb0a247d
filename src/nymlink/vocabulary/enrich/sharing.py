"""Which concepts that refer to each other share their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import pyarrow as pa

from nymlink.vocabulary.alike import exact_names, sorted_words
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""A row of the target, and one of the metathesaurus."""


def sharing_names(target: Vocabulary, meta: Vocabulary, pairs: Collection[Pair]) -> set[Pair]:
    """The pairs of which each has the other's preferred name, in whatever order of words."""
    ours = _Called(target, {one for one, _ in pairs})
    theirs = _Called(meta, {other for _, other in pairs})
    return {
        (one, other)
        for one, other in pairs
        if ours.preferred[one] & theirs.names[other] and theirs.preferred[other] & ours.names[one]
    }


class _Called:
    """What some concepts are called: their preferred names, and all that mean just the same, words in order."""

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
