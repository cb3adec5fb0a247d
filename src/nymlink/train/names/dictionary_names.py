"""The names of a dictionary that queries are compared with in training: found by sparse and by dense search.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020). Their release holds the
scores of all queries with all names; here no array grows with queries times names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.progress import track
from nymlink.index.dense.nearest import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.sparse.presets import preset
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.train.mentions.annotated import Annotated
from nymlink.train.names.encoder_evaluation import Encode

"""N names → float32 (N, D)."""

_NAMES: Final = 1 << 14
"""Names encoded at a time: their vectors, and no others, are in memory."""


class CandidateLists:
    """Q queries with up to k candidates each; sparse ones for good, dense ones until :meth:`refresh`.

    Args:
        queries: with what they mean.
        entries: the names of the dictionary.
        owners: int32: the concept of each name of the vocabulary.
        size: k.
        sparse: how many of them are those of the sparse search.
        progress: whether to show progress when standard error is a terminal.

    Attributes:
        rows: int32 (Q, k): entries, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        sparse_scores: float32 (Q, k): the cosine of each in the sparse search.
        positives: bool (Q, k): whether each is a name of what the query means.
    """

    def __init__(
        self,
        queries: Sequence[Annotated],
        entries: Entries,
        owners: npt.NDArray[np.int32],
        *,
        size: int,
        sparse: int,
        progress: bool = False,
    ) -> None:
        self._queries = queries
        self._texts = [one.query for one in queries]
        self._entries = entries
        self._owners = owners
        self._size = size
        self._progress = progress
        self._search = SparseSearch.build(entries, preset("biosyn")["sparse"], progress=progress)
        self._sparse = (
            self._search.search(self._texts, sparse).rows if sparse else np.zeros((len(queries), 0), np.int32)
        )
        self.set_rows(np.full((len(queries), size), NONE, np.int32))

    def refresh(self, encode: Encode) -> None:
        """Search dense candidates, and put them after the sparse ones.

        Args:
            encode: makes vectors, whose inner products are scores.
        """
        texts = self._entries.texts
        asked = encode(self._texts)
        found = Hits(np.zeros((len(asked), 0), np.int32), np.zeros((len(asked), 0), np.float32))
        for start in track(range(0, len(texts), _NAMES), "searching candidates", shown=self._progress):
            hits = nearest(asked, encode(texts[start : start + _NAMES].to_pylist()), self._size)
            rows = np.where(hits.rows == NONE, NONE, hits.rows + np.int32(start))
            found = best(np.hstack([found.rows, rows]), np.hstack([found.scores, hits.scores]), self._size)
        self.set_rows(joined(self._sparse, found.rows, self._size))

    def set_rows(self, rows: Rows) -> None:
        """Take these candidates."""
        self.rows = rows
        self.sparse_scores: Scores = self._search.score(self._texts, rows)
        self.positives = np.zeros(rows.shape, bool)
        for query, place in np.argwhere(rows != NONE).tolist():
            concepts = self._entries.concepts(int(rows[query, place]), self._owners)
            self.positives[query, place] = not concepts.isdisjoint(self._queries[query].concepts)

    @property
    def retrieved(self) -> float:
        """The share of the queries that have a positive among their candidates: the others teach nothing."""
        return float(self.positives.any(1).mean())

    def names(self, rows: Rows) -> list[str]:
        """The texts of entries."""
        texts: list[str] = self._entries.texts.take(rows).to_pylist()
        return texts


def joined(sparse: Rows, dense: Rows, size: int) -> Rows:
    """The sparse candidates, and then those dense ones that are not among them, until there are enough.

    Args:
        sparse: int32 (Q, s): distinct rows of each query, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        dense: int32 (Q, size): the same of the dense search.
        size: how many.

    Returns:
        int32 (Q, size).
    """
    rows = np.hstack([sparse, dense])
    absent = rows == NONE
    absent[:, sparse.shape[1] :] |= (dense[:, :, None] == sparse[:, None, :]).any(2)
    # Stable: all that is there stays in its order.
    order = np.argsort(absent, axis=1, kind="stable")[:, :size]
    chosen: Rows = np.where(
        np.take_along_axis(absent, order, 1), np.int32(NONE), np.take_along_axis(rows, order, 1)
    )
    return chosen
