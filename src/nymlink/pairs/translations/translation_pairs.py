"""Translation pairs as training reads them: numbered, shuffled, with the words that mean the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from nymlink.core.store.arrays import Ints
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.pairs.sequence import NamedPairs
from nymlink.pairs.translations.read_translations import Translations


class TranslationPairs:
    """Translation pairs (x, y), each with a label of its own; a :class:`~nymlink.pairs.sequence.PairSequence`.

    Liu et al., "Learning Domain-Specialised Representations for Cross-Lingual Biomedical Entity Linking" (ACL
    2021), section 2.2. Both words of a pair are anchors of the loss: each is learned from the other. A pair that
    several files have, in either order, counts once.

    A word with several translations is in several pairs, with a label each. Words that the files translate into
    each other, directly or through other words of a batch, are one group, and no negatives of each other: else
    "heart" would be pushed away from "kalp" by its pair with "yürek".

    Args:
        files: the pairs of each file.
        seed: seed of the order of pairs.
    """

    def __init__(self, files: Iterable[Translations], *, seed: int = 0) -> None:
        files = list(files)
        columns = (text for side in ("left", "right") for file in files for text in getattr(file, side))
        encoded = pa.array(columns, pa.large_string()).dictionary_encode()
        self._names = encoded.dictionary
        left, right = np.split(encoded.indices.to_numpy().astype(np.int64), 2)
        key = np.minimum(left, right) * len(self._names) + np.maximum(left, right)
        first = np.sort(np.unique(key, return_index=True)[1])
        self._left, self._right = left[first], right[first]
        self._translations = _symmetric(self._left, self._right, len(self._names))
        self._seed = seed

    def __len__(self) -> int:
        return len(self._left)

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        left, right = self._left[numbers], self._right[numbers]
        names = self._names.take(pa.array(np.concatenate([left, right]))).to_pylist()
        return NamedPairs(numbers, names[: len(left)], names[len(left) :], groups=self._groups(left, right))

    def _groups(self, left: Ints, right: Ints) -> npt.NDArray[np.int32]:
        """Number the groups of words that are joined by translations: one number for each pair."""
        words = np.unique(np.concatenate([left, right]))
        rows = self._translations[words].tocoo()
        places = np.searchsorted(words, rows.col).clip(max=len(words) - 1)
        present = words[places] == rows.col
        joined = csr_array(
            (np.ones(present.sum(), bool), (rows.row[present], places[present])), shape=(len(words), len(words))
        )
        groups: npt.NDArray[np.int32] = connected_components(joined, directed=False)[1]
        return groups[np.searchsorted(words, left)]


def _symmetric(left: Ints, right: Ints, size: int) -> csr_array:
    """Make the matrix of which word translates which: bool (size, size)."""
    rows, columns = np.concatenate([left, right]), np.concatenate([right, left])
    return csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(size, size))
