"""Search more names beside those of an index, whose searches stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Bools, Vectors
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.entries.entries import Entries
from nymlink.index.entries.other_texts import OtherTexts
from nymlink.index.fusion.extended import ExtendedSearch
from nymlink.index.fusion.hits import NONE, Rows
from nymlink.index.plan import Plan
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.index.store import IndexContents
from nymlink.vocabulary.vocabulary import Vocabulary


class _EncodedBefore:
    """Encodes queries that another search has just encoded."""

    def __init__(self, search: DenseSearch) -> None:
        self._search = search

    @property
    def width(self) -> int:
        return self._search.encoder.width

    def encode(
        self, names: Sequence[str], *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Vectors:
        return self._search.vectors_of(names)


def extend_contents(contents: IndexContents, vocabulary: Vocabulary, cache: EmbeddingCache) -> IndexContents:
    """Make the contents of an index with the names of a larger vocabulary.

    Entries are made anew; inverted and encoded are only those that the index does not have, with the weights of
    its words, so that scores can be compared.

    Args:
        contents: of an index that was not extended itself.
        vocabulary: its vocabulary with more names; names that do not say their language are searched too.
        cache: of vectors.
    """
    plan = Plan.from_dict(contents.settings)
    if plan.languages is not None:
        plan = replace(plan, languages=(*plan.languages, UNKNOWN_LANGUAGE))
    entries = plan.entries(vocabulary, progress=False)
    known = contents.entries.texts
    # Where each entry that there was is now; one that is the same in another order of words may be gone.
    moved = pc.fill_null(pc.index_in(known, value_set=entries.texts), NONE).to_numpy().astype(np.int32)
    is_new = pc.invert(pc.is_in(entries.texts, value_set=known)).to_numpy(zero_copy_only=False)
    new_rows = np.flatnonzero(is_new).astype(np.int32)
    new = _only(entries, is_new, new_rows)
    searches: dict[str, Any] = {}
    for name, search in contents.searches.items():
        added: SparseSearch | DenseSearch
        if isinstance(search, SparseSearch):
            added = search.over(new)
        elif isinstance(search, DenseSearch):
            added = DenseSearch.build(new, search.encoder, cache=cache)
            added.encoder = _EncodedBefore(search)
        else:
            raise ValueError("an index is extended once")
        searches[name] = ExtendedSearch(search, added, moved, new_rows)
    return replace(contents, vocabulary=vocabulary, entries=entries, searches=searches, directory=None)


def _only(entries: Entries, chosen: Bools, rows: Rows) -> Entries:
    """Select entries, with the other orders of their words; searches need no more of them."""
    place = np.full(len(entries), NONE, np.int32)
    place[rows] = np.arange(len(rows))
    reordered = place[entries.reordered.rows]
    kept = reordered != NONE
    return Entries(
        entries.texts.filter(pa.array(chosen)),
        np.arange(len(rows) + 1, dtype=np.int64),
        np.arange(len(rows), dtype=np.int32),
        OtherTexts(entries.reordered.texts.filter(pa.array(kept)), reordered[kept]),
    )
