"""The index: a vocabulary made searchable, in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nymlink.core.errors import InputError, StoreError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.output_checks import require_replaceable
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.folder import MINI
from nymlink.index.build import build_in_directory, build_in_memory, extend_contents
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS
from nymlink.index.dense.query_encoder import QueryEncoder
from nymlink.index.fusion import DENSE, EXACT_MATCH, WEIGHTED, ExactSearch, Fusion, HybridSearch, ScoredHits
from nymlink.index.hits import Searcher
from nymlink.index.index_folder import KIND, IndexContents, load_index, save_index
from nymlink.index.plan import Plan
from nymlink.index.sparse.features import DEFAULT_PRESET
from nymlink.index.walk import Matches, match, match_with_hits, order_equal_names
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import Tables
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

Made = TypeVar("Made")


class Index:
    """A vocabulary and the searches over its names.

    It is pickled as its directory, its settings and its calibration, and opened again there.

    Args:
        contents: the vocabulary, its entries, and the searches over them.

    Attributes:
        vocabulary: what is searched.
        entries: its distinct prepared names, those that differ in the order of their words alone as one if its
            preset is ours.
        fusion: how its searches are joined.
        settings: how it was built.
        calibration: what turns its scores into confidences, as :mod:`nymlink.linking.calibration` has
            it; ``None`` if it has not been calibrated.
        ranker: what puts candidates in order, as :mod:`nymlink.rank.ranker` has it; ``None`` for the order of
            their scores.
        directory: where it was loaded from; ``None`` if it is in memory only.
        owners: int32: the concept of each name of the vocabulary, by their rows.
    """

    def __init__(self, contents: IndexContents) -> None:
        self._contents = contents
        self.vocabulary = contents.vocabulary
        self.entries = contents.entries
        self.settings = MappingProxyType(dict(contents.settings))
        calibration = contents.calibration
        self.calibration = None if calibration is None else MappingProxyType(dict(calibration))
        self.ranker = None if contents.ranker is None else MappingProxyType(dict(contents.ranker))
        self.directory = contents.directory
        parts: dict[str, Searcher] = {EXACT_MATCH: ExactSearch(self.entries), **contents.searches}
        self.fusion = Fusion.from_dict(self.settings["fusion"], parts)
        self._search = self.fusion.join(parts)
        self.owners = self.vocabulary.columns.names["concept"].to_numpy()
        self._made: dict[Callable[[Index], Any], Any] = {}
        self._making = RLock()

    def once(self, make: Callable[[Index], Made]) -> Made:
        """Return what a function makes of the index: made once, and shared by all who ask for it.

        Tables over all names are large, and every linker of the index needs the same.

        Args:
            make: the function; a method of a class, or another that lasts.
        """
        with self._making:
            if make not in self._made:
                self._made[make] = make(self)
            made: Made = self._made[make]
            return made

    @classmethod
    def build(
        cls,
        vocabulary: Vocabulary,
        *,
        sparse: str = DEFAULT_PRESET,
        encoder: Encoder | str | Path | None = MINI,
        dense: str = EXACT_NEIGHBOURS,
        store: str | Path | None = None,
        fusion: str = WEIGHTED,
        languages: Collection[str] | None = None,
        directory: str | Path | None = None,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> Index:
        """Make a vocabulary searchable, in memory or straight in a directory.

        Args:
            vocabulary: what is to be searched; names of obsolete concepts are left out.
            sparse: sparse search, by spelling: one of :data:`~nymlink.index.sparse.features.PRESETS`.
            encoder: encoder of the dense search, by meaning, or the folder or hub name that it is loaded from;
                ``None`` for no dense search.
            dense: how dense search looks for vectors: ``"exact"``, ``"hnsw"`` or ``"ivf-pq"``.
            store: a server that is to search the vectors, ``"exact"`` or by ``"hnsw"``: the URL of PostgreSQL with
                pgvector, that of Milvus, or a file of Milvus Lite (``NAME.db``). The index records it without
                credentials. If ``None``, they are searched here.
            fusion: how the searches are joined: ``"weighted"`` or ``"reciprocal-rank"``, with its default weights.
            languages: search names in these languages only; ``None`` for all.
            directory: where the index is written, atomically, and opened: the same as :meth:`save` makes, but
                memory holds only a part of it at a time. A build that was stopped does not encode again what it
                had encoded. If ``None``, the index is in memory.
            cache: of vectors that were encoded before, which new ones are added to; ``None`` for the user's.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            UnknownNameError: there is no such preset, kind of dense search or fusion.
            InputError: the vocabulary has no name to search, or the encoder cannot be loaded.
            StoreError: the store is not there, or cannot hold vectors.
            MissingExtraError: the dense search or the encoder needs a package that is not installed.
            OutputError: the directory cannot be written; nothing is left behind.
        """
        if directory is not None:
            require_replaceable(Path(directory), kind=KIND)
        plan = Plan.of(
            sparse=sparse, encoder=encoder, dense=dense, store=store, fusion=fusion, languages=languages
        )
        cache = cache or EmbeddingCache.of_user()
        if directory is None:
            return cls(build_in_memory(vocabulary, plan, cache=cache, progress=progress))
        build_in_directory(vocabulary, plan, Path(directory), cache=cache, progress=progress)
        loaded = None if plan.encoder is None else plan.encoder.loaded
        return cls(load_index(Path(directory), loaded, store=plan.store))

    def rebuild(
        self, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Index:
        """Build the same searches, joined in the same way, over the names of another vocabulary, in memory.

        It has the same ranker, but is not calibrated; its vectors are searched here, without a store. Where the
        index was restricted to some languages, names that do not say theirs are searched too: mentions added to a
        vocabulary say none.

        Raises:
            StoreError: the encoder of the index is needed, and cannot be loaded.
            InputError: the vocabulary has no name to search.
        """
        plan = Plan.from_dict(self.settings)
        if plan.languages is not None:
            plan = replace(plan, languages=(*plan.languages, UNKNOWN_LANGUAGE))
        if self._encoder is not None:
            plan = replace(plan, encoder=self._encoder)
        if plan.store is not None:
            plan = replace(plan, store=None, dense=EXACT_NEIGHBOURS)
        cache = cache or EmbeddingCache.of_user()
        contents = build_in_memory(vocabulary, plan, cache=cache, progress=progress)
        return Index(replace(contents, calibration=None, ranker=self.ranker))

    def save(self, directory: str | Path) -> None:
        """Write the index, with its vocabulary, to a directory, atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        self.verify()
        save_index(self._contents, Path(directory))

    @classmethod
    def load(cls, directory: str | Path, *, encoder: Encoder | str | Path | None = None) -> Index:
        """Open an index directory; its files are mapped into memory.

        Names and concepts are checked at once, the far larger files of the searches in the background: the first
        query waits for that, so that nothing is found in what is damaged. The encoder of a dense search is loaded,
        and its store connected to, when the first query needs them.

        Args:
            directory: the index.
            encoder: the encoder that it was built with, or where that is now: a folder, or a model of the hub. If
                ``None``, it is where it was.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or this is another encoder.
            InputError: an encoder is given, but the index has no dense search.
        """
        return cls(load_index(Path(directory), encoder))

    @property
    def search(self) -> HybridSearch:
        """Hybrid of all searches; of an index that was opened, once its files are known to be whole.

        Raises:
            StoreError: one of them is damaged.
        """
        self.verify()
        return self._search

    def verify(self) -> None:
        """Wait for the verification of the files of an opened index.

        Raises:
            StoreError: one of them is damaged.
        """
        verification = self._contents.verification
        if verification is not None and not verification.passed:
            verification.wait()

    @property
    def _encoder(self) -> QueryEncoder | None:
        """Encoder of the dense search; ``None`` without one."""
        encoder = getattr(self._contents.searches.get(DENSE), "encoder", None)
        return encoder if isinstance(encoder, QueryEncoder) else None

    @property
    def encoder(self) -> Encoder | None:
        """Encoder of the dense search, loaded at the first access or query; ``None`` without dense search.

        Raises:
            StoreError: it was not found, or is another one than the index was built with.
            InputError: there is no encoder at the given place.
        """
        return None if self._encoder is None else self._encoder.loaded

    def load_encoder(self) -> None:
        """Load the encoder of a dense search now, not at the first query; without dense search do nothing.

        Raises:
            StoreError, InputError: as :attr:`encoder`.
        """
        _ = self.encoder

    def with_fusion(self, fusion: Fusion) -> Index:
        """Join the searches in another way; the new index has no ranker or calibration: its scores are others."""
        if fusion == self.fusion:
            return self
        settings = {**self.settings, "fusion": fusion.to_dict()}
        return Index(replace(self._contents, settings=settings, calibration=None, ranker=None))

    def with_names(self, source: Source, tables: Tables, *, cache: EmbeddingCache | None = None) -> Index:
        """Search more names of the same concepts, in memory; nothing that was searched is searched anew.

        The new index has the same ranker and calibration. It takes a second for each hundred thousand names that
        there are, and about a thousandth for each that is added, most of it to encode that. It cannot be saved, or
        extended again.

        Args:
            source: where the names are from.
            tables: concepts of the vocabulary, and the names to add.
            cache: of vectors; ``None`` for the user's.

        Raises:
            StoreError: the encoder of the index is needed, and cannot be loaded.
            ValueError: there are concepts that the vocabulary does not have.
        """
        vocabulary = self.vocabulary.extended(source, tables)
        if len(vocabulary) != len(self.vocabulary):
            raise ValueError("names can be added to concepts of the vocabulary only")
        self.verify()
        return Index(extend_contents(self._contents, vocabulary, cache or EmbeddingCache.of_user()))

    def with_calibration(self, calibration: Mapping[str, Any]) -> Index:
        """Calibrate the index.

        Args:
            calibration: JSON values, :meth:`nymlink.linking.calibration.Calibration.to_dict`.
        """
        return Index(replace(self._contents, calibration=calibration))

    def with_ranker(self, ranker: Mapping[str, Any] | None) -> Index:
        """Give the index another ranker, or none; the new index is not calibrated, because its order is another.

        Args:
            ranker: JSON values, :meth:`nymlink.rank.ranker.Ranker.to_dict`; ``None`` for the order of the scores.
        """
        return Index(replace(self._contents, ranker=ranker, calibration=None))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.directory is None:
            raise InputError(
                "an index that was built in memory cannot be handed to another process: write it to a folder "
                "(Index.save) and load it there (Linker.load), in each process"
            )
        calibration = None if self.calibration is None else dict(self.calibration)
        encoder = None if self._encoder is None else self._encoder.place
        ranker = None if self.ranker is None else dict(self.ranker)
        return _reopen, (self.directory, encoder, dict(self.settings), calibration, ranker)

    def concepts_named(self, query: str) -> frozenset[int]:
        """Find the concepts that have exactly this prepared name, by their rows."""
        row = self.entries.find(query)
        return frozenset() if row is None else self.concepts_of(row)

    def concepts_of(self, row: int) -> frozenset[int]:
        """Find the concepts that have the name of an entry, by their rows."""
        return self.entries.concepts(row, self.owners)

    def entries_of(self, concepts: Collection[int]) -> list[int]:
        """Find the entries that are names of some concepts, by their rows."""
        named = np.isin(self.owners[self.entries.names], list(concepts))
        places = np.searchsorted(self.entries.offsets, np.flatnonzero(named), side="right") - 1
        rows: list[int] = np.unique(places).tolist()
        return rows

    def match(self, queries: Sequence[str], k: int, *, surfaces: Sequence[str | None] = ()) -> Matches:
        """Find the k best distinct concepts of each query; see :func:`nymlink.index.walk.match`.

        A query that is a name itself has matched that name, though its words are searched in another order. Where
        it is a name of several concepts, those come first whose name is written as the mention is: see
        :func:`~nymlink.index.walk.order_equal_names`.

        Args:
            queries: Q prepared texts.
            k: how many concepts, at least 1.
            surfaces: Q mentions as they were written, ``None`` if that is not known; empty for none.
        """
        distinct = {query: number for number, query in enumerate(dict.fromkeys(queries))}
        found = match(self.search, self.entries, self.owners, list(distinct), k)
        matches = found.take(np.array([distinct[query] for query in queries], np.int64))
        self._order_equal_names(matches, queries, surfaces)
        return matches

    def match_with_hits(
        self,
        queries: Sequence[str],
        k: int,
        *,
        surfaces: Sequence[str | None] = (),
        without: Sequence[Collection[int]] = (),
    ) -> tuple[Matches, ScoredHits]:
        """Find the k best distinct concepts of each query, as :meth:`match`, and the entries that were found.

        Args:
            queries: Q prepared texts, a few hundred at most.
            k: how many concepts, at least 1.
            surfaces: Q mentions as they were written, ``None`` if that is not known; empty for none.
            without: for each query, rows of entries that are passed over, as if the vocabulary lacked these names;
                empty for none.
        """
        matches, hits = match_with_hits(self.search, self.entries, self.owners, queries, k, without=without)
        if not len(without):
            self._order_equal_names(matches, queries, surfaces)
        return matches, hits

    def _order_equal_names(self, matches: Matches, queries: Sequence[str], surfaces: Sequence[str | None]) -> None:
        for place, (query, surface) in enumerate(zip(queries, surfaces or [None] * len(queries), strict=True)):
            order_equal_names(matches, place, self.vocabulary, self.entries, query, surface)


def _reopen(
    directory: Path,
    encoder: str | Path | None,
    settings: Mapping[str, Any],
    calibration: Mapping[str, Any] | None,
    ranker: Mapping[str, Any] | None,
) -> Index:
    """Open the directory of an index that was pickled.

    Raises:
        StoreError: it is not to be found, or another one was built there since.
    """
    contents = load_index(directory, encoder)
    if _without_fusion(contents.settings) != _without_fusion(settings):
        raise StoreError("another index was built here since this one was pickled: load it again", path=directory)
    return Index(replace(contents, settings=settings, calibration=calibration, ranker=ranker))


def _without_fusion(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings that cannot change after an index was built."""
    return {name: value for name, value in settings.items() if name != "fusion"}
