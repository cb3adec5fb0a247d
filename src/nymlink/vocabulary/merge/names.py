"""Compare the names of two concepts. Names alone do not join concepts: they support claims by id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.vocabulary.merge.concepts import LiveConcepts
from nymlink.vocabulary.name_matching import exact_names, is_specific, loose_form, sorted_words
from nymlink.vocabulary.vocabulary import Vocabulary


class Agreement(StrEnum):
    """The agreement of the names of two concepts.

    ``PREFERRED``: the preferred names are equal except for order of words, plurals, accents, and stop words.
    ``NAME``: the preferred name of one is an exact synonym of the other, in any order of words.
    ``NONE``: no name in common, or only synonyms, abbreviations, or looser names.
    ``RIVAL``: one has the preferred name of a third concept in the other's namespace, whatever names they share.
    """

    PREFERRED = "preferred names equal"
    NAME = "preferred name is a synonym"
    NONE = "no name in common"
    RIVAL = "preferred name is that of another concept"


class ConceptNames:
    """The preferred and exact names of concepts, in forms that can be compared.

    Args:
        vocabulary: the unmerged vocabulary.
        concepts: its concepts.
        compared: the rows of concepts to compare.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: LiveConcepts, compared: Collection[int]) -> None:
        self._keys = concepts.keys
        names = exact_names(vocabulary.columns.names)
        # The first name is the preferred one or, if there is none, the first exact one.
        named, first = np.unique(names["concept"].to_numpy(), return_index=True)
        self._preferred: dict[int, str] = dict(
            zip(named.tolist(), sorted_words(names["text"].take(first)), strict=True)
        )
        self._loose = {row: loose_form(name) for row, name in self._preferred.items()}
        self._rows_by_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in concepts.live:
            if row in self._loose:
                self._rows_by_name[self._keys[row][0], self._loose[row]].append(row)
        wanted = np.zeros(len(concepts.ids), bool)
        wanted[np.fromiter(compared, np.int64)] = True
        self._exact = _exact_names(names, wanted)

    def same_preferred(self, rows: list[int]) -> list[list[int]]:
        """Group the rows that have equal preferred names; rows without an equal are left out."""
        groups: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            if row in self._loose:
                groups[self._loose[row]].append(row)
        return [group for group in groups.values() if len(group) > 1]

    def agreement(self, one: int, other: int) -> Agreement:
        """Compare the names of two concepts."""
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
        if any(is_specific(name) and name in others for name, others in zip(names, synonyms[::-1], strict=True)):
            return Agreement.NAME
        return Agreement.NONE

    def _has_rival(self, one: int, other: int) -> bool:
        """Whether a third concept in the namespace of ``one`` has the preferred name of ``other``."""
        rows = self._rows_by_name.get((self._keys[one][0], self._loose[other]), [])
        return any(row not in (one, other) for row in rows)


def _exact_names(names: pa.Table, wanted: npt.NDArray[np.bool_]) -> dict[int, set[str]]:
    names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
    names_of: dict[int, set[str]] = defaultdict(set)
    for row, name in zip(names["concept"].to_pylist(), sorted_words(names["text"]), strict=True):
        names_of[row].add(name)
    return names_of
