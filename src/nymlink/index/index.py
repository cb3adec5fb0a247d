"""The index: a vocabulary made searchable, in a directory of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from nymlink.core.errors import InputError, NymlinkError, StoreError, UnknownNameError
from nymlink.core.json_objects import member
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.core.store.output_checks import require_replaceable
from nymlink.core.store.ownership import MANIFEST
from nymlink.core.store.verification import Verification
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.model.embedded import MINI
from nymlink.index.dense.approximate import EXACTLY
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.dense.query_encoder import QueryEncoder
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.exact import ExactSearch
from nymlink.index.fusion.fusion import DENSE, EXACT, WEIGHTED, Fusion
from nymlink.index.fusion.hits import Searcher
from nymlink.index.fusion.hybrid import HybridSearch
from nymlink.index.plan import Plan
from nymlink.index.sparse.presets import DEFAULT_PRESET
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.index.walk import Matches, match
from nymlink.text.normalise import normalise
from nymlink.vocabulary.model import UNKNOWN_LANGUAGE
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

KIND: Final = "index"
VERSION: Final = 8

_VOCABULARY: Final = "vocabulary"
"""The folder of an index that holds its vocabulary."""

_RECALL: Final = "recall@20"
"""The setting that says how much of the truth an approximate dense search finds."""


class Index:
    """A vocabulary and the searches over its names.

    Attributes:
        vocabulary: what is searched.
        entries: its distinct prepared names, those that differ in the order of their words alone as one if its
            preset is ours.
        fusion: how they are joined.
        settings: how it was built.
        calibration: what turns its scores into confidences, as :mod:`nymlink.linking.calibration` has it; ``None``
            where it has not been calibrated.
        directory: where it was loaded from; ``None`` where it is in memory only. An index is pickled as its
            directory, its settings and its calibration, and opened again there.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        entries: Entries,
        searches: Mapping[str, SparseSearch | DenseSearch],
        settings: Mapping[str, Any],
        calibration: Mapping[str, Any] | None = None,
        *,
        verification: Verification | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.entries = entries
        self.settings = MappingProxyType(dict(settings))
        self.calibration = None if calibration is None else MappingProxyType(dict(calibration))
        self.directory: Path | None = None
        self._searches = dict(searches)
        self._verification = verification
        parts: dict[str, Searcher] = {EXACT: ExactSearch(entries), **searches}
        self.fusion = Fusion.from_dict(settings["fusion"], parts) if "fusion" in settings else Fusion.of(parts)
        self._search = self.fusion.join(parts)
        self._owners = vocabulary.columns.names["concept"].to_numpy()

    @classmethod
    def build(
        cls,
        vocabulary: Vocabulary,
        *,
        directory: str | Path | None = None,
        sparse: str = DEFAULT_PRESET,
        encoder: Encoder | str | Path | None = MINI,
        dense: str = EXACTLY,
        fusion: str = WEIGHTED,
        languages: Collection[str] | None = None,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> Index:
        """Make a vocabulary searchable, in memory or straight in a directory.

        Args:
            vocabulary: what is to be searched; names of obsolete concepts are left out.
            directory: where the index is written, atomically, and opened: the same as :meth:`save` makes, but
                memory holds only a part of it at a time. A build that was stopped does not encode again what it
                had encoded. If ``None``, the index is in memory.
            sparse: one of :data:`~nymlink.index.sparse.presets.PRESETS`.
            encoder: of the dense search: an encoder, or the folder or hub name that it is loaded from; ``None``
                for no dense search.
            dense: how dense search looks for vectors: ``"exact"``, ``"hnsw"`` or ``"ivf-pq"``.
            fusion: one of :data:`~nymlink.index.fusion.fusion.METHODS`, with its default weights.
            languages: search names in these languages only.
            cache: of vectors that were encoded before, which new ones are added to; ``None`` for the user's.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            UnknownNameError: there is no such preset, kind of dense search or fusion.
            InputError: the vocabulary has no name to search, or the encoder cannot be loaded.
            MissingExtraError: the dense search or the encoder needs a package that is not installed.
            OutputError: the directory cannot be written; nothing is left behind.
        """
        if directory is not None:
            require_replaceable(Path(directory), kind=KIND)
        plan = Plan.of(sparse=sparse, encoder=encoder, dense=dense, fusion=fusion, languages=languages)
        cache = cache or EmbeddingCache.of_user()
        if directory is None:
            return cls._build(vocabulary, plan, plan.calibration, cache=cache, progress=progress)
        entries = plan.entries(vocabulary, progress=progress)
        body = plan.to_dict()
        with _new_directory(directory, vocabulary, entries, plan.searches, body, plan.calibration) as partial:
            # One after the other, and none of them kept.
            for measured in map(_measured, _searches(plan, entries, partial, cache=cache, progress=progress)):
                body |= measured
        return cls.load(directory, encoder=None if plan.encoder is None else plan.encoder.loaded)

    def rebuild(
        self, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Index:
        """The same searches, joined in the same way, over the names of another vocabulary, in memory.

        It is not calibrated. Where the index was restricted to some languages, names that do not say theirs are
        searched too: mentions added to a vocabulary say none.

        Raises:
            StoreError: the encoder of the index is needed, and cannot be loaded.
            InputError: the vocabulary has no name to search.
        """
        plan = Plan.from_dict(self.settings)
        if plan.languages is not None:
            plan = replace(plan, languages=(*plan.languages, UNKNOWN_LANGUAGE))
        if self._encoder is not None:
            plan = replace(plan, encoder=self._encoder)
        return self._build(vocabulary, plan, None, cache=cache or EmbeddingCache.of_user(), progress=progress)

    @classmethod
    def _build(
        cls,
        vocabulary: Vocabulary,
        plan: Plan,
        calibration: Mapping[str, Any] | None,
        *,
        cache: EmbeddingCache,
        progress: bool,
    ) -> Index:
        entries = plan.entries(vocabulary, progress=progress)
        built = _searches(plan, entries, None, cache=cache, progress=progress)
        searches = dict(zip(plan.searches, built, strict=True))
        settings = plan.to_dict()
        for search in searches.values():
            settings |= _measured(search)
        return cls(vocabulary, entries, searches, settings, calibration)

    def save(self, directory: str | Path) -> None:
        """Write the index, with its vocabulary, to a directory, atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        self.verify()
        with _new_directory(
            directory, self.vocabulary, self.entries, self._searches, self.settings, self.calibration
        ) as partial:
            for name, search in self._searches.items():
                search.save(partial / name)

    @classmethod
    def load(cls, directory: str | Path, *, encoder: Encoder | str | Path | None = None) -> Index:
        """Open an index directory; its files are mapped into memory.

        Names and concepts are checked at once, the far larger files of the searches in the background: the first
        query waits for that, so that nothing is found in what is damaged. The encoder of a dense search is loaded
        when the first query needs it.

        Args:
            directory: the index.
            encoder: the encoder that it was built with, or where that is now: a folder, or a model of the hub. If
                ``None``, it is where it was.

        Raises:
            StoreError: the index is missing, damaged, or of another format version; or this is another encoder.
            InputError: an encoder is given, but the index has no dense search.
        """
        directory = Path(directory)
        manifest = read_manifest(directory, kind=KIND, version=VERSION, later=_is_checked_later)
        vocabulary = Vocabulary.load(directory / _VOCABULARY)
        verification = Verification(directory, manifest, filter(_is_of_a_search, manifest["files"]))
        try:
            settings = member(manifest, "settings", dict)
            plan = Plan.from_dict(settings, encoder, index=directory)
            if (said := member(manifest, "searches", list)) != plan.searches:
                raise ValueError(f"its searches are {said}, its settings say {plan.searches}")
            require_files(manifest, Entries.FILES)
            entries = Entries.load(directory)
            rows = entries.names
            if len(rows) and not 0 <= rows.min() <= rows.max() < vocabulary.name_count:
                raise ValueError("its entries have names that the vocabulary does not")
            searches: dict[str, SparseSearch | DenseSearch] = {
                name: SparseSearch.load(directory / name, entries) for name in plan.sparse_settings
            }
            if plan.encoder is not None:
                width = plan.encoder.record.width
                searches[DENSE] = DenseSearch.load(
                    directory / DENSE, entries, plan.encoder, width=width, kind=plan.dense
                )
            require_files(manifest, [f"{name}/{file}" for name, part in searches.items() for file in part.files])
            calibration = manifest.get("calibration")
            if calibration is not None and not isinstance(calibration, dict):
                raise ValueError("its calibration is none")
            opened = cls(vocabulary, entries, searches, settings, calibration, verification=verification)
            return opened._in(directory)
        except Exception as error:
            if isinstance(error, NymlinkError) and not isinstance(error, UnknownNameError):
                raise
            # A damaged file may end in any error: the check of the files knows which file it is.
            verification.wait()
            if not isinstance(error, (OSError, ValueError, UnknownNameError, pa.ArrowException)):
                raise
            raise StoreError(f"the index is damaged ({error}): build it again", path=directory) from error

    @property
    def search(self) -> HybridSearch:
        """The hybrid of all searches; of an index that was opened, once its files are known to be whole.

        Raises:
            StoreError: one of them is damaged.
        """
        self.verify()
        return self._search

    def verify(self) -> None:
        """Wait until the files of an index that was opened are known to be whole.

        Raises:
            StoreError: one of them is damaged.
        """
        if self._verification is not None:
            self._verification.wait()

    @property
    def _encoder(self) -> QueryEncoder | None:
        encoder = getattr(self._searches.get(DENSE), "encoder", None)
        return encoder if isinstance(encoder, QueryEncoder) else None

    def load_encoder(self) -> None:
        """Load the encoder of a dense search now, not at the first query; without dense search do nothing.

        Raises:
            StoreError: it is not to be found, or is another one than the index was built with.
            InputError: there is no encoder where it was said to be now.
        """
        if self._encoder is not None:
            _ = self._encoder.loaded

    def with_fusion(self, fusion: Fusion) -> Index:
        """The same index with its searches joined in another way, not calibrated: its scores are others."""
        settings = {**self.settings, "fusion": fusion.to_dict()}
        return self._like(settings, None)

    def with_calibration(self, calibration: Mapping[str, Any]) -> Index:
        """The same index, calibrated.

        Args:
            calibration: JSON values, :meth:`nymlink.linking.calibration.Calibration.to_dict`.
        """
        return self._like(self.settings, calibration)

    def _like(self, settings: Mapping[str, Any], calibration: Mapping[str, Any] | None) -> Index:
        """The same searches with other settings of how they are joined, or another calibration."""
        other = Index(
            self.vocabulary, self.entries, self._searches, settings, calibration, verification=self._verification
        )
        return other._in(self.directory)

    def _in(self, directory: Path | None) -> Index:
        self.directory = None if directory is None else directory.absolute()
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.directory is None:
            raise InputError(
                "an index that was built in memory cannot be handed to another process: write it to a folder "
                "(Index.save) and load it there (Linker.load), in each process"
            )
        calibration = None if self.calibration is None else dict(self.calibration)
        encoder = None if self._encoder is None else self._encoder.place
        return _opened, (self.directory, encoder, dict(self.settings), calibration)

    def named(self, query: str) -> frozenset[int]:
        """The concepts that have exactly this prepared name."""
        row = self.entries.find(query)
        return frozenset() if row is None else self.concepts_of(row)

    def concepts_of(self, row: int) -> frozenset[int]:
        """The concepts that have the name of an entry."""
        return self.entries.concepts(row, self._owners)

    def match(self, queries: Sequence[str], k: int) -> Matches:
        """The k best distinct concepts of each query; see :func:`nymlink.index.walk.match`.

        The name that matched a query that is a name itself is that one, in whatever order its words are searched.
        """
        matches = match(self.search, self.entries, self._owners, queries, k)
        for place, query in enumerate(queries):
            row = self.entries.find_reordered(query)
            if row is not None:
                equal = self._equal_names(row, query)
                for rank, concept in enumerate(matches.concepts[place].tolist()):
                    matches.names[place, rank] = equal.get(concept, matches.names[place, rank])
        return matches

    def _equal_names(self, row: int, query: str) -> dict[int, int]:
        """The concepts that have a query for a name, each with the surest name row, of those of an entry."""
        names = self.entries.names_of(row).tolist()
        equal = [name for name in names if normalise(self.vocabulary.name(name).text) == query]
        return {int(self._owners[name]): name for name in reversed(equal)}


def _is_of_a_search(file: str) -> bool:
    """Whether a file of an index is one of a search: these are in folders of their own."""
    folder, slash, _ = file.partition("/")
    return bool(slash) and folder != _VOCABULARY


def _is_checked_later(file: str) -> bool:
    """Whether a file is checked in the background, or by the manifest of the vocabulary, which is checked here."""
    return "/" in file and file != f"{_VOCABULARY}/{MANIFEST}"


def _opened(
    directory: Path, encoder: str | Path | None, settings: Mapping[str, Any], calibration: Mapping[str, Any] | None
) -> Index:
    """Open an index that was pickled.

    Raises:
        StoreError: it is not to be found, or another one was built there since.
    """
    index = Index.load(directory, encoder=encoder)
    if _built(index.settings) != _built(settings):
        raise StoreError("another index was built here since this one was pickled: load it again", path=directory)
    return index._like(settings, calibration)


def _built(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that an index is built with: all but how its searches are joined, which can be changed."""
    return {name: value for name, value in settings.items() if name != "fusion"}


def _searches(
    plan: Plan, entries: Entries, directory: Path | None, *, cache: EmbeddingCache, progress: bool
) -> Iterator[SparseSearch | DenseSearch]:
    """Build the searches of a plan, in its order: in memory, or each in a directory of its name in this one."""
    places = {name: None if directory is None else directory / name for name in plan.searches}
    for name, settings in plan.sparse_settings.items():
        yield SparseSearch.build(entries, settings, directory=places[name], progress=progress)
    if plan.encoder is not None:
        yield DenseSearch.build(
            entries,
            plan.encoder,
            width=plan.encoder.record.width,
            directory=places[DENSE],
            kind=plan.dense,
            cache=cache,
            progress=progress,
        )


def _measured(search: SparseSearch | DenseSearch) -> dict[str, float]:
    """What a search measured of itself when it was built: the recall of an approximate one."""
    if isinstance(search, SparseSearch) or search.faiss_index is None:
        return {}
    return {_RECALL: round(search.recall(20), 4)}


@contextmanager
def _new_directory(
    directory: str | Path,
    vocabulary: Vocabulary,
    entries: Entries,
    searches: Collection[str],
    settings: Mapping[str, Any],
    calibration: Mapping[str, Any] | None = None,
) -> Iterator[Path]:
    """An index directory with all but its searches, which are for the caller to write."""
    body = {
        "concepts": len(vocabulary),
        "names": vocabulary.name_count,
        "entries": len(entries),
        "searches": list(searches),
    }
    with write_directory(Path(directory), kind=KIND, version=VERSION, body=body) as partial:
        vocabulary.save(partial / _VOCABULARY)
        entries.save(partial)
        yield partial
        # Only now: what a search measured of itself is among them.
        body["settings"] = dict(settings)
        if calibration is not None:
            body["calibration"] = dict(calibration)
