"""Building an index: its entries, then one search after the other, in memory or straight in a directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.dense.stores.server import ServerStore
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.fusion import DENSE
from nymlink.index.plan import Plan
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.index.store import IndexContents, new_index_directory
from nymlink.vocabulary.vocabulary import Vocabulary

_RECALL: Final = "recall@20"
"""Setting that says which share of the 20 nearest names an approximate dense search finds."""


def build_in_memory(vocabulary: Vocabulary, plan: Plan, *, cache: EmbeddingCache, progress: bool) -> IndexContents:
    """Build an index in memory.

    Raises:
        InputError: the vocabulary has no name to search.
    """
    entries = plan.entries(vocabulary, progress=progress)
    built = _build_searches(plan, entries, None, cache=cache, progress=progress)
    searches = dict(zip(plan.searches, built, strict=True))
    settings = plan.to_dict()
    for search in searches.values():
        settings |= _settings_of_store(search)
    return IndexContents(vocabulary, entries, searches, settings, plan.calibration, plan.ranker)


def build_in_directory(
    vocabulary: Vocabulary, plan: Plan, directory: Path, *, cache: EmbeddingCache, progress: bool
) -> None:
    """Build an index in a directory, atomically, with one search in memory at a time.

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
        calibration=plan.calibration,
        ranker=plan.ranker,
    ) as partial:
        # With map, no variable keeps a search while the next one is built.
        for known in map(
            _settings_of_store, _build_searches(plan, entries, partial, cache=cache, progress=progress)
        ):
            settings.update(known)


def _build_searches(
    plan: Plan, entries: Entries, directory: Path | None, *, cache: EmbeddingCache, progress: bool
) -> Iterator[SparseSearch | DenseSearch]:
    """Build the searches of a plan, in its order: in memory, or each in a folder of its name in a directory."""
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
    """Describe what is known of a store once it is built, as settings of its index; none for any other search.

    That is the recall of an approximate search, measured here, and what a server calls the vectors.
    """
    store = None if isinstance(search, SparseSearch) else search.store
    if store is None or isinstance(search, SparseSearch):
        return {}
    recorded = {"store": store.to_dict()} if isinstance(store, ServerStore) else {}
    return recorded if store.is_exact else recorded | {_RECALL: round(search.recall(20), 4)}
