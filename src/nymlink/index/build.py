"""Build an index, or add names to an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Bools, Vectors
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.entries.entries import Entries
from nymlink.index.entries.sorted_texts import OtherTexts
from nymlink.index.fusion import DENSE, ExtendedSearch
from nymlink.index.hits import NONE, Rows
from nymlink.index.index_folder import IndexContents, new_index_directory
from nymlink.index.phrases import Meanings
from nymlink.index.plan import Plan
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.index.stores.server import ServerStore
from nymlink.vocabulary.vocabulary import Vocabulary

_RECALL: Final = "recall@20"
"""Name of a setting: the share of the 20 nearest names that an approximate dense search finds."""


def build_in_memory(
    vocabulary: Vocabulary, plan: Plan, *, uses: Meanings | None, cache: EmbeddingCache, progress: bool
) -> IndexContents:
    """Build an index in memory, with the uses of its names.

    Raises:
        InputError: the vocabulary has no name to search.
    """
    entries = plan.entries(vocabulary, progress=progress)
    built = _build_searches(plan, entries, None, cache=cache, progress=progress)
    searches = dict(zip(plan.searches, built, strict=True))
    settings = plan.to_dict()
    for search in searches.values():
        settings |= _settings_of_store(search)
    return IndexContents(vocabulary, entries, searches, settings, plan.calibration, plan.ranker, uses)


def build_in_directory(
    vocabulary: Vocabulary,
    plan: Plan,
    directory: Path,
    *,
    uses: Meanings | None,
    cache: EmbeddingCache,
    progress: bool,
) -> None:
    """Build an index in a directory, atomically, with the uses of its names.

    Only one search is in memory at a time.

    Raises:
        InputError: the vocabulary has no name to search.
        OutputError: the directory cannot be written; nothing is left behind.
    """
    entries = plan.entries(vocabulary, progress=progress)
    settings = plan.to_dict()
    with new_index_directory(
        directory,
        vocabulary,
        entries,
        plan.searches,
        settings=settings,
        learned={"calibration": plan.calibration, "ranker": plan.ranker, "uses": uses},
    ) as partial:
        # Use map, so that no variable keeps a search in memory while the next is built.
        for known in map(
            _settings_of_store, _build_searches(plan, entries, partial, cache=cache, progress=progress)
        ):
            settings.update(known)


def _build_searches(
    plan: Plan, entries: Entries, directory: Path | None, *, cache: EmbeddingCache, progress: bool
) -> Iterator[SparseSearch | DenseSearch]:
    """Build the searches of a plan, in the order of the plan.

    Without a directory, the searches are in memory. Otherwise each is written to its own folder of the directory.
    """
    folders = {name: None if directory is None else directory / name for name in plan.searches}
    for name, settings in plan.sparse_settings.items():
        yield SparseSearch.build(entries, settings, directory=folders[name], progress=progress)
    if plan.encoder is not None:
        yield DenseSearch.build(
            entries,
            plan.encoder,
            directory=folders[DENSE],
            kind=plan.dense,
            store=plan.store,
            cache=cache,
            progress=progress,
        )


def _settings_of_store(search: SparseSearch | DenseSearch) -> dict[str, Any]:
    """Describe a built search as settings.

    They are the place of its vectors on a server, and the recall of an approximate search.
    """
    store = None if isinstance(search, SparseSearch) else search.store
    if store is None or isinstance(search, SparseSearch):
        return {}
    recorded = {"store": store.to_dict()} if isinstance(store, ServerStore) else {}
    return recorded if store.is_exact else recorded | {_RECALL: round(search.recall(20), 4)}


class _EncodedBefore:
    """Encoder that takes the vectors of queries from another search, which has just encoded the same queries."""

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

    All entries are made again, but only new entries are inverted and encoded. They are weighted with the TF-IDF
    weights of the index, so that scores are comparable.

    Args:
        contents: contents of an index without added names.
        vocabulary: the vocabulary of the index with more names. Names without a language are searched too.
        cache: cache of vectors.
    """
    plan = Plan.from_dict(contents.settings)
    if plan.languages is not None:
        plan = replace(plan, languages=(*plan.languages, UNKNOWN_LANGUAGE))
    entries = plan.entries(vocabulary, progress=False)
    known = contents.entries.texts
    # The new row of each old entry. An old entry may be gone, if it is merged with an entry that has its words in
    # another order.
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
    """Select entries, with the other orders of their words. The result has only the parts that searches need."""
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
