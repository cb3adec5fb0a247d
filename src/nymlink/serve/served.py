"""The indexes of a server."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary, finalize

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.core.errors import InputError, NymlinkError, StoreError, UnknownNameError
from nymlink.core.files import sha256
from nymlink.core.store.ownership import MANIFEST
from nymlink.corpus.documents import Document, Mention
from nymlink.index.completion import Completer
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.default import default_index
from nymlink.linking.link import Link
from nymlink.linking.relink import Release
from nymlink.project.index_reference import vocabulary_digest
from nymlink.serve.batching import BatchingLinker, LinkTimeoutError, OverloadedError
from nymlink.serve.errors import ProblemError
from nymlink.serve.reconcile.properties import Properties, Types
from nymlink.serve.serve_settings import MATCH_PRECISION, Limits
from nymlink.vocabulary.crossing import Crossing, RollUp
from nymlink.vocabulary.hierarchy import InvertedLists
from nymlink.vocabulary.restriction import EVERYTHING, Restriction

_SHORT: Final = 2
"""Most characters of a text without similar names."""

_KEPT: Final = 8
"""Number of ways to recode concepts whose tables are kept."""

_LANGUAGES: Final = 8
"""Number of languages whose annotators are kept."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name for an index: use letters, digits, '.', '_' and '-'")


class ServedIndex:
    """An index, its linker, and its look-ups.

    Args:
        name: name of the index, in addresses.
        index: the index.
        target_precision: wanted share of right links; doubtful links become NIL. ``None``: only links without
            candidates are NIL.
        limits: limits of requests.

    Attributes:
        match_confidence: reconciled names of at least this confidence are matched without asking: the threshold of
            the target precision, or of :data:`~nymlink.serve.serve_settings.MATCH_PRECISION`. ``None``, for no
            matches, if the index is not calibrated or cannot reach the precision.

    Raises:
        InputError: the name is invalid, or the target precision cannot be reached.
    """

    def __init__(self, name: str, index: Index, *, target_precision: float | None, limits: Limits) -> None:
        _require_name(name)
        self.name = name
        self.index = index
        self.vocabulary = index.vocabulary
        self.limits = limits
        self.target_precision = target_precision
        self.linker = BatchingLinker(
            index, target_precision=target_precision, waiting_mentions=limits.waiting_mentions
        )
        self.completer = Completer(index)
        self._annotator = lru_cache(maxsize=_LANGUAGES)(
            lambda language: Annotator(index, AnnotatorSettings(language=language))
        )
        self._annotating = Lock()
        self._comparing = Lock()
        self._releases: WeakKeyDictionary[ServedIndex, Release] = WeakKeyDictionary()
        self.match_confidence = _match_confidence(index, target_precision)
        # After a reload, requests that began before it end on this index; then nothing refers to it.
        finalize(self, self.linker.end).atexit = False

    @classmethod
    def open(cls, name: str, index: Index, *, target_precision: float | None, limits: Limits) -> ServedIndex:
        """Load what the first requests need: the encoder, the files of the searches, and tables.

        Raises:
            StoreError: a file is damaged, or the encoder is missing or has changed.
            InputError: as of the class.
        """
        index.load_encoder()
        index.verify()
        served = cls(name, index, target_precision=target_precision, limits=limits)
        served.warm_up()
        return served

    def warm_up(self) -> None:
        """Link a mention, annotate a text and collect types, to make first requests fast."""
        with suppress(NymlinkError):
            self.link(Document("", mentions=(Mention("a mention that warms up"),)), top_k=1)
            self.annotate("A text that warms up.")
        _ = self.types

    def link(self, document: Document, *, top_k: int, restriction: Restriction = EVERYTHING) -> list[Link]:
        """Link the mentions of a document, together with those of other requests.

        Raises:
            InputError: the offsets of a mention do not fit the text.
            OverloadedError, LinkTimeoutError: the server is overloaded.
        """
        seconds = self.limits.answer_seconds
        return self.linker.link(document, top_k=top_k, restriction=restriction, timeout=seconds)

    async def link_soon(
        self, document: Document, *, top_k: int, restriction: Restriction = EVERYTHING
    ) -> list[Link]:
        """Link as :meth:`link`, but wait without blocking a thread."""
        links = self.linker.submit(document, top_k=top_k, restriction=restriction)
        try:
            async with asyncio.timeout(self.limits.answer_seconds):
                return await asyncio.wrap_future(links)
        except TimeoutError as error:
            raise LinkTimeoutError.of(document, self.limits.answer_seconds) from error

    def annotate(self, text: str, language: str = "en") -> list[Link]:
        """Annotate a text; one text of an index at a time, so that other work gets its turn.

        Args:
            text: the text.
            language: code of its language, or ``"auto"``.

        Raises:
            OverloadedError: texts of other requests take too long.
        """
        if not self._annotating.acquire(timeout=self.limits.answer_seconds):
            raise OverloadedError(f"other texts have been annotated for {self.limits.answer_seconds:g} seconds")
        try:
            return self._annotator(language).annotate(text)
        finally:
            self._annotating.release()

    def search(self, text: str, limit: int, *, within: str = "") -> list[dict[str, Any]]:
        """Search concepts by a part of a name, by an id in any form, and then by similar names.

        Args:
            text: the typed text; it may have slips, or describe the concept in other words.
            limit: most concepts.
            within: a semantic type, or the id of a concept to search below; empty for all concepts.

        Returns:
            For each concept its ``concept_id``, ``concept_name`` and ``matched`` name, ``None`` if its id matched.

        Raises:
            ProblemError: unknown type or concept.
            OverloadedError, LinkTimeoutError: the server is overloaded.
        """
        members = self.types.members(within) if within else None
        if within and members is None:
            raise ProblemError(422, "unknown_type", "there is no such type or branch", "see /indexes for types")
        found = self.completer.complete(text, limit, within=members, anywhere=True)
        shown = {
            each.concept_id: (each.concept_name, None if each.matched is None else each.matched.to_dict())
            for each in found
        }
        # Ids have no similar names, and two letters resemble too much.
        if len(shown) < limit and any(map(str.isalpha, text)) and len(text.strip()) > _SHORT:
            mention = Mention(text.strip()[: self.limits.mention_characters])
            parts = {"types": within} if within in self.vocabulary.semantic_types() else {"branch": within or ()}
            restriction = Restriction.of(**parts)
            [link] = self.link(Document("", mentions=(mention,)), top_k=limit, restriction=restriction)
            for each in link.candidates:
                shown.setdefault(each.concept_id, (each.concept_name, each.matched.to_dict()))
        return [
            {"concept_id": concept_id, "concept_name": name, "matched": matched}
            for concept_id, (name, matched) in islice(shown.items(), limit)
        ]

    def describe(self) -> dict[str, Any]:
        """Describe the index, as JSON values."""
        encoder = self.index.settings.get("encoder")
        return {
            "name": self.name,
            **self.vocabulary.describe(),
            "languages": self.vocabulary.counts("lang"),
            "semantic_types": self.vocabulary.semantic_types(),
            "parts": [{"id": type.id, "name": type.name} for type in self.types.all],
            "encoder": encoder.get("name") if isinstance(encoder, Mapping) else encoder,
            "calibrated": self.index.calibration is not None,
            "match_confidence": self.match_confidence,
        }

    @cached_property
    def vocabulary_digest(self) -> str:
        """Digest by which projects recognise their vocabulary."""
        return vocabulary_digest(self.vocabulary)

    @cached_property
    def children(self) -> InvertedLists:
        """The children of concepts."""
        return InvertedLists(self.vocabulary, "parents")

    @cached_property
    def roll_up(self) -> Callable[[tuple[str, ...], int | None], RollUp]:
        """Roll concepts up to a slim or a level; the latest ways are kept."""
        # No reference to this index: it would delay its end after a reload.
        vocabulary = self.vocabulary
        return lru_cache(_KEPT)(lambda slim, level: RollUp(vocabulary, slim=slim, level=level))

    @cached_property
    def crossing(self) -> Callable[[str], Crossing]:
        """Cross over to ids of a prefix, by cross-references of the vocabulary; the latest prefixes are kept."""
        return lru_cache(_KEPT)(partial(Crossing, self.vocabulary))

    def release_after(self, former: ServedIndex) -> Release:
        """Compare this index with a former release; the outcome is kept.

        Raises:
            InputError: these are no releases of one vocabulary.
        """
        with self._comparing:
            if former not in self._releases:
                self._releases[former] = Release(former.vocabulary, self.vocabulary)
            return self._releases[former]

    @cached_property
    def types(self) -> Types:
        """The types of concepts."""
        return Types(self.vocabulary, self.children)

    @cached_property
    def properties(self) -> Properties:
        """The properties of concepts."""
        return Properties(self.vocabulary, self.children)


class ServedIndexes:
    """All indexes of a server, by name; the first is the default.

    Args:
        indexes: open indexes.
        places: names and folders of further indexes, which :meth:`open` opens; ``None`` is the embedded default.
        target_precision: wanted share of right links, for indexes of ``places``.
        limits: limits of requests, for the same.

    Raises:
        InputError: a name is invalid, or two indexes have the same.
    """

    def __init__(
        self,
        indexes: Sequence[ServedIndex] = (),
        *,
        places: Sequence[tuple[str, Path | None]] = (),
        target_precision: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._given = {index.name: index for index in indexes}
        self._places = dict(places)
        self._target_precision = target_precision
        self._limits = limits or Limits()
        self.names = (*(index.name for index in indexes), *(name for name, _ in places))
        for name in self.names:
            _require_name(name)
        if len(set(self.names)) < len(self.names):
            raise InputError("two indexes have the same name: give each a name of its own, NAME=PATH")
        self._releases: dict[str, str] = {}
        self._by_name: dict[str, ServedIndex] | None = None if self._places else self._given

    @property
    def are_open(self) -> bool:
        """Whether all indexes are open; until then no request is answered."""
        return self._by_name is not None

    def __iter__(self) -> Iterator[ServedIndex]:
        return iter(self.by_name.values())

    @property
    def by_name(self) -> Mapping[str, ServedIndex]:
        """Name of an index → the index, at this moment.

        Raises:
            ProblemError: the indexes are not open yet.
        """
        if self._by_name is None:
            what, to_do = "the indexes are being built or opened", "send it again in a while; GET /ready says when"
            raise ProblemError(503, "not_ready", what, to_do, headers={"Retry-After": "5"})
        return self._by_name

    def named(self, name: str | None) -> ServedIndex:
        """Find an index; ``None`` for the first.

        Raises:
            ProblemError: unknown index, or the indexes are not open yet.
        """
        by_name = self.by_name
        if name is None:
            return next(iter(by_name.values()))
        if name not in by_name:
            known = ", ".join(by_name)
            raise ProblemError(404, "unknown_index", "there is no index of this name", f"ask for one of: {known}")
        return by_name[name]

    def open(self) -> Callable[[], list[str]]:
        """Open the indexes of folders: all at first, later those whose folder has another release.

        Returns:
            A function that puts the opened indexes in the place of the former ones, and returns their names.

        Raises:
            StoreError: an index cannot be opened; the former ones go on.
        """
        before = self._by_name or self._given
        opened, releases = dict(self._given), dict(self._releases)
        for name, place in self._places.items():
            # The embedded default does not change while a server runs.
            release = "" if place is None else _release(place)
            if name in before and releases.get(name) == release:
                opened[name] = before[name]
                continue
            try:
                index = default_index(progress=True) if place is None else Index.load(place)
                opened[name] = ServedIndex.open(
                    name, index, target_precision=self._target_precision, limits=self._limits
                )
            except NymlinkError as error:
                raise StoreError(f"index {name}: {error.message}", path=error.path) from error
            releases[name] = release

        def replace() -> list[str]:
            self._by_name, self._releases = opened, releases
            return [name for name in opened if opened[name] is not before.get(name)]

        return replace

    def warm_up(self) -> None:
        """Make the first requests of given indexes fast."""
        for served in self._given.values():
            served.warm_up()

    def close(self) -> None:
        """Link the waiting mentions, and accept no more."""
        for served in (self._by_name or {}).values():
            served.linker.close()


def _release(place: Path) -> str:
    """Read the digest of an index folder; empty if it has none, which opening it reports."""
    try:
        return sha256(place / MANIFEST)
    except OSError:
        return ""


def _match_confidence(index: Index, target_precision: float | None) -> float | None:
    if index.calibration is None:
        return None
    precision = MATCH_PRECISION if target_precision is None else target_precision
    try:
        return Calibration.of(index).threshold(precision)
    except InputError:
        return None


_CHILDREN: Final = 1000
"""Most listed children of a concept."""


def describe_concept(served: ServedIndex, concept_id: str) -> dict[str, Any]:
    """Describe a concept by its present or a former id, as JSON values.

    Returns:
        The values of :meth:`~nymlink.vocabulary.concepts.Concept.to_dict`, with ids and names of ``parents`` and
        ``children``, ``children_count``, and ``names`` with their kinds by language.

    Raises:
        UnknownNameError: the id is unknown, or now stands for several concepts.
    """
    vocabulary = served.vocabulary
    if concept_id not in vocabulary:
        current = vocabulary.resolve(concept_id)
        if len(current) != 1:
            raise UnknownNameError(
                f"this id now stands for {', '.join(current)}" if current else "no concept has this id"
            )
        [concept_id] = current
    concept = vocabulary[concept_id]
    children = [vocabulary.concept_id(row) for row in served.children.owners(concept_id)]
    names = defaultdict(list)
    for name in vocabulary.names(concept_id):
        names[name.lang].append({"text": name.text, "kind": name.kind})
    return {
        **concept.to_dict(),
        "names": dict(names),
        "parents": [labelled(served, parent) for parent in concept.parents],
        "children": [labelled(served, child) for child in children[:_CHILDREN]],
        "children_count": len(children),
    }


def labelled(served: ServedIndex, concept_id: str) -> dict[str, str]:
    """Return an id with the name of its concept; the id itself for a concept outside the vocabulary."""
    row = served.vocabulary.row(concept_id)
    return {"id": concept_id, "name": concept_id if row is None else served.vocabulary.preferred_name(row)}
