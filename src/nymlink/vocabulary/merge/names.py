"""Whether two concepts are called the same. Names alone join nothing: they support what ids say."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.spelling import DEFAULT_SPELLING
from nymlink.vocabulary.keys import normalise_all
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


# Shorter names are mostly abbreviations, which stand for many things.
_SHORTEST: Final = 4
_EMPTY: Final = frozenset("and by due for in of or s the to type with".split())
_EQUAL: Final = {
    **{"disorder": "disease", "neoplasm": "tumor"},
    # Not ``x``, which is a chromosome more often than a ten.
    **dict(zip("i ii iii iv v vi vii viii ix".split(), map(str, range(1, 10)), strict=True)),
}


class ConceptNames:
    """The preferred and exact names of concepts, in forms that can be compared; others count for nothing.

    Args:
        vocabulary: the unmerged vocabulary.
        concepts: its concepts.
        compared: rows of the concepts that will be compared.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: Concepts, compared: Collection[int]) -> None:
        self._keys = concepts.keys
        names = vocabulary.columns.names
        names = names.filter(pc.is_in(names["kind"].cast(pa.string()), pa.array(["preferred", "exact"])))
        # The preferred name of a concept is its first name; where it has none, its first exact one serves.
        named, first = np.unique(names["concept"].to_numpy(), return_index=True)
        self._preferred: dict[int, str] = dict(
            zip(named.tolist(), _sorted_words(names["text"].take(first)), strict=True)
        )
        self._loose = {row: _loosened(name) for row, name in self._preferred.items()}
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
        if _is_telling(names[0], synonyms[1]) or _is_telling(names[1], synonyms[0]):
            return Agreement.NAME
        return Agreement.NONE

    def _has_rival(self, one: int, other: int) -> bool:
        """Whether another concept of the one's namespace is called as the other is."""
        called = self._called.get((self._keys[one][0], self._loose[other]), [])
        return any(row not in (one, other) for row in called)


def _is_telling(name: str, synonyms: Collection[str]) -> bool:
    return len(name) >= _SHORTEST and name in synonyms


def _exact_names(names: pa.Table, wanted: npt.NDArray[np.bool_]) -> dict[int, set[str]]:
    names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
    found: dict[int, set[str]] = defaultdict(set)
    for row, name in zip(names["concept"].to_pylist(), _sorted_words(names["text"]), strict=True):
        found[row].add(name)
    return found


def _sorted_words(texts: pa.ChunkedArray) -> list[str]:
    """Normal forms with their words in order: MeSH writes ``Diabetes Mellitus, Type 2``."""
    return [" ".join(sorted(name.split())) for name in normalise_all(texts).to_pylist()]


def _loosened(name: str) -> str:
    if not name.isascii():
        name = "".join(char for char in unicodedata.normalize("NFD", name) if not unicodedata.combining(char))
    words = name.split()
    telling = sorted(_loosened_word(word) for word in words if word not in _EMPTY)
    return " ".join(telling) or name


def _loosened_word(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 5 else word[:-1]
    word = DEFAULT_SPELLING.get(word, word)
    return _EQUAL.get(word, word)
