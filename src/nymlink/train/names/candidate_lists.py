"""The candidates of training queries: names of a dictionary, from sparse and from dense search.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020). Their code holds the
score of every query with every name; here no array has queries × names values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.terminal.progress import track
from nymlink.index.dense.nearest import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.sparse.presets import preset
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.train.annotated_queries import AnnotatedQuery
from nymlink.train.names.encoder_evaluation import Encode

_NAMES: Final = 1 << 14
"""Names encoded at a time: only their vectors are held in memory."""


class CandidateLists:
    """Q queries with up to k candidates each: constant sparse ones, and dense ones that :meth:`refresh` replaces.

    Args:
        queries: the queries with their gold concepts.
        entries: the names of the dictionary.
        owners: int32: the concept row of each name of the vocabulary.
        size: k, the number of candidates.
        sparse: the number of candidates from sparse search.
        progress: whether to show progress when standard error is a terminal.

    Attributes:
        rows: int32 (Q, k): rows of entries, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        sparse_scores: float32 (Q, k): the TF-IDF cosine of each candidate.
        positives: bool (Q, k): whether each candidate is a name of a gold concept of the query.
    """

    def __init__(
        self,
        queries: Sequence[AnnotatedQuery],
        entries: Entries,
        owners: npt.NDArray[np.int32],
        *,
        size: int,
        sparse: int,
        progress: bool = False,
    ) -> None:
        self._queries = queries
        self._texts = [annotated.query for annotated in queries]
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
        """Search dense candidates again, and put them after the sparse ones.

        Args:
            encode: encodes names; inner products of the vectors are the scores.
        """
        texts = self._entries.texts
        queries = encode(self._texts)
        dense = Hits(np.zeros((len(queries), 0), np.int32), np.zeros((len(queries), 0), np.float32))
        for start in track(range(0, len(texts), _NAMES), "searching candidates", shown=self._progress):
            hits = nearest(queries, encode(texts[start : start + _NAMES].to_pylist()), self._size)
            rows = np.where(hits.rows == NONE, NONE, hits.rows + np.int32(start))
            dense = best(np.hstack([dense.rows, rows]), np.hstack([dense.scores, hits.scores]), self._size)
        self.set_rows(append_distinct(self._sparse, dense.rows, self._size))

    def set_rows(self, rows: Rows) -> None:
        """Set the candidates, and compute their sparse scores and which are positives.

        Args:
            rows: int32 (Q, k): rows of entries, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        """
        self.rows = rows
        self.sparse_scores: Scores = self._search.score(self._texts, rows)
        self.positives = np.zeros(rows.shape, bool)
        for query, place in np.argwhere(rows != NONE).tolist():
            concepts = self._entries.concepts(int(rows[query, place]), self._owners)
            self.positives[query, place] = not concepts.isdisjoint(self._queries[query].concepts)

    @property
    def recall(self) -> float:
        """The share of the queries with a positive among their candidates; nothing is learned from the others."""
        return float(self.positives.any(1).mean())

    def names(self, rows: Rows) -> list[str]:
        """Look up the texts of entries."""
        texts: list[str] = self._entries.texts.take(rows).to_pylist()
        return texts


def append_distinct(sparse: Rows, dense: Rows, size: int) -> Rows:
    """Append to the sparse candidates those dense ones that are not among them, up to a number of candidates.

    Args:
        sparse: int32 (Q, s): distinct rows of each query, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        dense: int32 (Q, size): the same from dense search.
        size: the number of candidates of a query.

    Returns:
        int32 (Q, size): :data:`~nymlink.index.fusion.hits.NONE` after the last.
    """
    rows = np.hstack([sparse, dense])
    absent = rows == NONE
    absent[:, sparse.shape[1] :] |= (dense[:, :, None] == sparse[:, None, :]).any(2)
    # A stable sort, so that candidates stay in their order.
    order = np.argsort(absent, axis=1, kind="stable")[:, :size]
    chosen: Rows = np.where(
        np.take_along_axis(absent, order, 1), np.int32(NONE), np.take_along_axis(rows, order, 1)
    )
    return chosen
