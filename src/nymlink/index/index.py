"""The index: a searchable vocabulary, in memory or in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

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
from nymlink.index.languages import LanguageSearch, deductions_of_entries
from nymlink.index.phrases import Phrases
from nymlink.index.plan import Plan
from nymlink.index.sparse.features import DEFAULT_PRESET
from nymlink.index.walk import Matches, match, match_with_hits, order_equal_names
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.tables import Tables
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

Made = TypeVar("Made")

_PARTS: Final = 8
"""Most restricted indexes that are kept: each takes some bytes per name, and a table of its concepts."""


class Index:
    """A vocabulary and the searches over its names.

    A pickled index holds only its directory, settings, and what it learned. Unpickling opens the directory again.

    Attributes:
        vocabulary: the searched vocabulary.
        entries: its distinct prepared names. With the default preset, names that differ only in the order of their
            words are one entry.
        fusion: the fusion of its searches.
        settings: the settings with which it was built.
        calibration: turns scores into confidences, see :mod:`nymlink.linking.calibration`; ``None`` if the index
            is not calibrated.
        ranker: orders candidates, see :mod:`nymlink.rank.ranker`; ``None`` if candidates are ordered by their
            scores.
        uses: how often people meant its concepts by a text, see :mod:`nymlink.rank.uses`; ``None`` if unknown.
        directory: its directory; ``None`` if it is in memory only.
        digest: digest of the files that were opened; ``None`` if it is in memory only.
        owners: int32: for each name row of the vocabulary, the row of its concept.
        restriction: conditions on the names that are searched.

    Example:
        >>> from nymlink import Index, read_vocabulary
        >>> index = Index.build(read_vocabulary("diseases.obo"), encoder=None)
        >>> index.save("diseases-index")
        >>> Index.load("diseases-index").vocabulary["MONDO:0004979"].name
        'asthma'
    """

    def __init__(self, contents: IndexContents) -> None:
        self._contents = contents
        self.vocabulary = contents.vocabulary
        self.entries = contents.entries
        self.settings = MappingProxyType(dict(contents.settings))
        calibration = contents.calibration
        self.calibration = None if calibration is None else MappingProxyType(dict(calibration))
        self.ranker = None if contents.ranker is None else MappingProxyType(dict(contents.ranker))
        self.uses = None if contents.uses is None else MappingProxyType(dict(contents.uses))
        self.directory = contents.directory
        self.digest = contents.digest
        parts: dict[str, Searcher] = {EXACT_MATCH: ExactSearch(self.entries), **contents.searches}
        self.fusion = Fusion.from_dict(self.settings["fusion"], parts)
        self._search = self.fusion.join(parts)
        self.owners = self.vocabulary.columns.names["concept"].to_numpy()
        self._made: dict[Callable[[Index], Any], Any] = {}
        self._making = RLock()
        self.restriction = Restriction()
        self._parts: dict[Restriction, Index] = {}

    def once(self, make: Callable[[Index], Made]) -> Made:
        """Return the result of a function of the index. It is computed once and shared by all callers.

        This is for tables over all names, which are large, and which every linker of the index needs.

        Args:
            make: the function. It must be permanent, such as a method of a class, because it is the key of the
                result.
        """
        with self._making:
            if make not in self._made:
                self._made[make] = make(self)
            made: Made = self._made[make]
            return made

    def restricted(self, restriction: Restriction) -> Index:
        """Search the names that meet some conditions only: no other concept is found by any search.

        The part has the vectors, postings and word weights of the index, so that scores are the same. The last
        :data:`_PARTS` parts are kept.

        Raises:
            InputError: an id, a type, a source or an excluded name does not occur, or no name meets all
                conditions.
            StoreError: a file of the index is damaged.
        """
        if not restriction:
            return self
        if self.restriction:
            raise ValueError("the index is restricted already: restrict the whole one")
        with self._making:
            part = self._parts.pop(restriction, None) or self._restrict(restriction)
            self._parts[restriction] = part
            if len(self._parts) > _PARTS:
                del self._parts[next(iter(self._parts))]
            return part

    def _restrict(self, restriction: Restriction) -> Index:
        self.verify()
        entries = self.entries.restricted(restriction.names(self.vocabulary))
        searches: dict[str, Any] = {
            name: search.restricted(entries.named) for name, search in self._contents.searches.items()
        }
        part = Index(replace(self._contents, entries=entries, searches=searches))
        part.restriction = restriction
        # A part of the index lowers scores as the whole does.
        part._made[deductions_of_entries] = self.once(deductions_of_entries)
        return part

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
        phrases: bool = False,
        directory: str | Path | None = None,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> Index:
        """Make a vocabulary searchable, in memory or directly in a directory.

        Args:
            vocabulary: the vocabulary; names of obsolete concepts are left out.
            sparse: sparse search, by spelling: one of :data:`~nymlink.index.sparse.features.PRESETS`.
            encoder: encoder of the dense search, which searches by meaning; or the encoder's folder or name on the
                hub; ``None`` for no dense search.
            dense: kind of the dense search: ``"exact"``, ``"hnsw"`` or ``"ivf-pq"``.
            store: a server that searches the vectors (``"exact"`` or ``"hnsw"``): the URL of PostgreSQL with
                pgvector or of Milvus, or a file of Milvus Lite (``NAME.db``). The index records the URL without
                credentials. If ``None``, the index itself searches.
            fusion: fusion of the searches: ``"weighted"`` or ``"reciprocal-rank"``, with its default weights.
            languages: search names in these languages only; ``None`` for all.
            phrases: whether to add phrases that annotators and curators used, see :mod:`nymlink.index.phrases`.
            directory: directory to write the index to, atomically, and to open it from. Only a part of the index
                is in memory while it is built. If a build was stopped, the next build does not encode the same
                names again. If ``None``, the index is in memory.
            cache: cache of vectors, which is read and extended; ``None`` for the user's cache.
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
        vocabulary, uses = Phrases.shipped().add_to(vocabulary, plan.languages) if phrases else (vocabulary, None)
        if directory is None:
            return cls(build_in_memory(vocabulary, plan, uses=uses, cache=cache, progress=progress))
        build_in_directory(vocabulary, plan, Path(directory), uses=uses, cache=cache, progress=progress)
        loaded = None if plan.encoder is None else plan.encoder.loaded
        return cls(load_index(Path(directory), loaded, store=plan.store))

    def rebuild(
        self, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Index:
        """Build an index of another vocabulary in memory, with the same searches and the same fusion.

        The new index has the same ranker and uses, but no calibration and no store. It also searches names without
        a language, because mentions that were added to a vocabulary have none.

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
        contents = build_in_memory(vocabulary, plan, uses=self.uses, cache=cache, progress=progress)
        return Index(replace(contents, calibration=None, ranker=self.ranker))

    def save(self, directory: str | Path) -> None:
        """Write the index, with its vocabulary, to a directory, atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        self.verify()
        if self.restriction:
            raise InputError("a restricted index is not written: write the whole one")
        save_index(self._contents, Path(directory))

    @classmethod
    def load(cls, directory: str | Path, *, encoder: Encoder | str | Path | None = None) -> Index:
        """Open an index directory. Its files are mapped into memory.

        The files of names and concepts are checked at once. The files of the searches are far larger and are
        checked in the background; the first query waits for the end of this check. The first query also loads the
        encoder and connects to the store.

        Args:
            directory: the index.
            encoder: the encoder of the index, or its present place, which is a folder or a model of the hub;
                ``None`` for the recorded place.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or the encoder is not the one
                with which the index was built.
            InputError: an encoder is given, but the index has no dense search.
        """
        return cls(load_index(Path(directory), encoder))

    @property
    def search(self) -> HybridSearch:
        """The joined search of all searches.

        The first access waits until the files of an opened index are checked.

        Raises:
            StoreError: a file is damaged.
        """
        self.verify()
        return self._search

    @property
    def _name_search(self) -> HybridSearch | LanguageSearch:
        """The search for concepts, in which names in languages with few names count less."""
        return self.once(LanguageSearch.of) or self.search

    def verify(self) -> None:
        """Wait until the files of an opened index are checked.

        Raises:
            StoreError: a file is damaged.
        """
        verification = self._contents.verification
        if verification is not None and not verification.passed:
            verification.wait()

    @property
    def _encoder(self) -> QueryEncoder | None:
        encoder = getattr(self._contents.searches.get(DENSE), "encoder", None)
        return encoder if isinstance(encoder, QueryEncoder) else None

    @property
    def encoder(self) -> Encoder | None:
        """Encoder of the dense search; ``None`` without dense search. It is loaded at the first access or query.

        Raises:
            StoreError: it was not found, or is not the encoder with which the index was built.
            InputError: there is no encoder at the given place.
        """
        return None if self._encoder is None else self._encoder.loaded

    def load_encoder(self) -> None:
        """Load the encoder of the dense search now, instead of at the first query.

        Without dense search, do nothing.

        Raises:
            StoreError, InputError: as :attr:`encoder`.
        """
        _ = self.encoder

    def with_fusion(self, fusion: Fusion) -> Index:
        """Join the searches in another way.

        The new index has no ranker and no calibration, because its scores differ.
        """
        if fusion == self.fusion:
            return self
        settings = {**self.settings, "fusion": fusion.to_dict()}
        return Index(replace(self._contents, settings=settings, calibration=None, ranker=None))

    def with_names(self, source: Source, tables: Tables, *, cache: EmbeddingCache | None = None) -> Index:
        """Make an index in memory that also searches more names of its concepts.

        The work for the old names is not repeated.

        The new index has the same ranker and calibration. Making it takes a second for each hundred thousand names
        of the index, and about a millisecond for each added name, mostly for encoding. The new index cannot be
        saved, and cannot be extended again.

        Args:
            source: source of the names.
            tables: concepts of the vocabulary, and the names to add.
            cache: cache of vectors; ``None`` for the user's cache.

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
        """Return the index with a calibration.

        Args:
            calibration: JSON values, :meth:`nymlink.linking.calibration.Calibration.to_dict`.
        """
        return Index(replace(self._contents, calibration=calibration))

    def with_ranker(self, ranker: Mapping[str, Any] | None) -> Index:
        """Return the index with another ranker, or without a ranker.

        The new index has no calibration, because its order of candidates differs.

        Args:
            ranker: JSON values, :meth:`nymlink.rank.ranker.Ranker.to_dict`; ``None`` for the order of the scores.
        """
        return Index(replace(self._contents, ranker=ranker, calibration=None))

    def with_uses(self, uses: Mapping[str, Any] | None) -> Index:
        """Return the index with other uses: :meth:`nymlink.rank.uses.Uses.to_dict`, or ``None`` for none."""
        return Index(replace(self._contents, uses=uses))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.directory is None:
            raise InputError(
                "an index that was built in memory cannot be handed to another process: write it to a folder "
                "(Index.save) and load it there (Linker.load), in each process"
            )
        calibration = None if self.calibration is None else dict(self.calibration)
        encoder = None if self._encoder is None else self._encoder.place
        ranker = None if self.ranker is None else dict(self.ranker)
        uses = None if self.uses is None else dict(self.uses)
        learned = (dict(self.settings), calibration, ranker, uses)
        return _reopen, (self.directory, self.digest, encoder, *learned, self.restriction)

    def concepts_named(self, query: str) -> frozenset[int]:
        """Find the rows of the concepts that have exactly this prepared name."""
        row = self.entries.find(query)
        return frozenset() if row is None else self.concepts_of(row)

    def concepts_of(self, row: int) -> frozenset[int]:
        """Find the rows of the concepts that have the name of an entry."""
        return self.entries.concepts(row, self.owners)

    def entries_of(self, concepts: Collection[int]) -> list[int]:
        """Find the rows of the entries that are names of some concepts."""
        named = np.isin(self.owners[self.entries.names], list(concepts))
        places = np.searchsorted(self.entries.offsets, np.flatnonzero(named), side="right") - 1
        rows: list[int] = np.unique(places).tolist()
        return rows

    def match(self, queries: Sequence[str], k: int, *, surfaces: Sequence[str | None] = ()) -> Matches:
        """Find the k best distinct concepts of each query; see :func:`nymlink.index.walk.match`.

        A query that is itself a name matches that name, in any order of words. If several concepts have this name,
        the concept whose name is written most like the mention comes first, see
        :func:`~nymlink.index.walk.order_equal_names`.

        Args:
            queries: Q prepared texts.
            k: number of concepts, at least 1.
            surfaces: the Q mentions as written, ``None`` for unknown ones; empty if all are unknown.
        """
        distinct = {query: number for number, query in enumerate(dict.fromkeys(queries))}
        found = match(self._name_search, self.entries, self.owners, list(distinct), k)
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
        """Find the k best distinct concepts of each query, as :meth:`match` does, and the entries that were found.

        Args:
            queries: Q prepared texts, a few hundred at most.
            k: number of concepts, at least 1.
            surfaces: the Q mentions as written, ``None`` for unknown ones; empty if all are unknown.
            without: for each query, rows of entries to skip, as if the vocabulary did not have these names; empty
                to skip nothing.
        """
        matches, hits = match_with_hits(self._name_search, self.entries, self.owners, queries, k, without=without)
        if not len(without):
            self._order_equal_names(matches, queries, surfaces)
        return matches, hits

    def _order_equal_names(self, matches: Matches, queries: Sequence[str], surfaces: Sequence[str | None]) -> None:
        for place, (query, surface) in enumerate(zip(queries, surfaces or [None] * len(queries), strict=True)):
            order_equal_names(matches, place, self.vocabulary, self.entries, query, surface)


def _reopen(
    directory: Path,
    digest: str,
    encoder: str | Path | None,
    settings: Mapping[str, Any],
    calibration: Mapping[str, Any] | None,
    ranker: Mapping[str, Any] | None,
    uses: Mapping[str, Any] | None,
    restriction: Restriction,
) -> Index:
    """Open the directory of a pickled index."""
    contents = load_index(directory, encoder)
    if contents.digest != digest:
        raise StoreError("another index was built here since this one was pickled: load it again", path=directory)
    whole = Index(replace(contents, settings=settings, calibration=calibration, ranker=ranker, uses=uses))
    return whole.restricted(restriction)
