"""Whether two concepts are called the same. Names alone join nothing: they support what ids say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.vocabulary.alike import exact_names, is_telling, loosened, sorted_words
from nymlink.vocabulary.merge.concepts import Concepts
from nymlink.vocabulary.vocabulary import Vocabulary


class Agreement(StrEnum):
    """What two concepts have in common in their names.

    ``PREFERRED``: equal preferred names, but for the order of words, plurals, accents, and words that say nothing.
    ``NAME``: the preferred name of one is an exact synonym of the other, in another order perhaps.
    ``NONE``: nothing, or only two synonyms, abbreviations, or loose synonyms.
    ``RIVAL``: one has the preferred name of a further concept of the other's namespace, whatever they share.
    """

    PREFERRED = "preferred names equal"
    NAME = "preferred name is a synonym"
    NONE = "no name in common"
    RIVAL = "preferred name is that of another concept"


class ConceptNames:
    """The preferred and exact names of concepts, in forms that can be compared; others count for nothing.

    Args:
        vocabulary: the unmerged vocabulary.
        concepts: its concepts.
        compared: rows of the concepts that will be compared.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: Concepts, compared: Collection[int]) -> None:
        self._keys = concepts.keys
        names = exact_names(vocabulary.columns.names)
        # The preferred name of a concept is its first name; where it has none, its first exact one serves.
        named, first = np.unique(names["concept"].to_numpy(), return_index=True)
        self._preferred: dict[int, str] = dict(
            zip(named.tolist(), sorted_words(names["text"].take(first)), strict=True)
        )
        self._loose = {row: loosened(name) for row, name in self._preferred.items()}
        self._called: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in concepts.live:
            if row in self._loose:
                self._called[self._keys[row][0], self._loose[row]].append(row)
        wanted = np.zeros(len(concepts.ids), bool)
        wanted[np.fromiter(compared, np.int64)] = True
        self._exact = _exact_names(names, wanted)

    def same_preferred(self, rows: list[int]) -> list[list[int]]:
        """Those of the rows that have equal preferred names, together."""
        groups: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            if row in self._loose:
                groups[self._loose[row]].append(row)
        return [group for group in groups.values() if len(group) > 1]

    def agreement(self, one: int, other: int) -> Agreement:
        """What two of the concepts to be compared have in common in their names."""
        if one not in self._preferred or other not in self._preferred:
            return Agreement.NONE
        names = self._preferred[one], self._preferred[other]
        if names[0] == names[1]:
            return Agreement.PREFERRED
        if self._has_rival(one, other) or self._has_rival(other, one):
            return Agreement.RIVAL
        if self._loose[one] == self._loose[other]:
            return Agreement.PREFERRED
        synonyms = self._exact.get(one, ()), self._exact.get(other, ())
        if any(is_telling(name) and name in called for name, called in zip(names, synonyms[::-1], strict=True)):
            return Agreement.NAME
        return Agreement.NONE

    def _has_rival(self, one: int, other: int) -> bool:
        """Whether another concept of the one's namespace is called as the other is."""
        called = self._called.get((self._keys[one][0], self._loose[other]), [])
        return any(row not in (one, other) for row in called)


def _exact_names(names: pa.Table, wanted: npt.NDArray[np.bool_]) -> dict[int, set[str]]:
    names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
    found: dict[int, set[str]] = defaultdict(set)
    for row, name in zip(names["concept"].to_pylist(), sorted_words(names["text"]), strict=True):
        found[row].add(name)
    return found
