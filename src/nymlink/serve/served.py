"""The indexes of a server."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any, Final

from nymlink.annotation.annotator import Annotator
from nymlink.core.errors import InputError, NymlinkError, UnknownNameError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.completion import Completer
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.link import Link
from nymlink.project.index_reference import vocabulary_digest
from nymlink.serve.batching import BatchingLinker, LinkTimeoutError, OverloadedError
from nymlink.serve.errors import ProblemError
from nymlink.serve.reconcile.properties import Properties, Types
from nymlink.serve.serve_settings import MATCH_PRECISION, Limits
from nymlink.vocabulary.hierarchy import InvertedLists
from nymlink.vocabulary.restriction import EVERYTHING, Restriction

_SHORT: Final = 2
"""Most characters of a text without similar names."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for an index: use letters, digits, '.', '_' and '-'")
        self.name = name
        self.index = index
        self.vocabulary = index.vocabulary
        self.limits = limits
        self.target_precision = target_precision
        try:
            self.linker = BatchingLinker(
                index, target_precision=target_precision, waiting_mentions=limits.waiting_mentions
            )
        except InputError as error:
            raise InputError(f"index {name}: {error.message}") from error
        self.completer = Completer(index)
        self._annotating = Lock()
        self.match_confidence = _match_confidence(index, target_precision)

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

    def annotate(self, text: str) -> list[Link]:
        """Annotate a text; one text of an index at a time, so that other work gets its turn.

        Raises:
            OverloadedError: texts of other requests take too long.
        """
        if not self._annotating.acquire(timeout=self.limits.answer_seconds):
            raise OverloadedError(f"other texts have been annotated for {self.limits.answer_seconds:g} seconds")
        try:
            return self._annotator.annotate(text)
        finally:
            self._annotating.release()

    @cached_property
    def _annotator(self) -> Annotator:
        return Annotator(self.index)

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
    def types(self) -> Types:
        """The types of concepts."""
        return Types(self.vocabulary, self.children)

    @cached_property
    def properties(self) -> Properties:
        """The properties of concepts."""
        return Properties(self.vocabulary, self.children)


class ServedIndexes:
    """All indexes of a server, by name; the first is the default."""

    def __init__(self, indexes: Sequence[ServedIndex]) -> None:
        self._by_name = {index.name: index for index in indexes}
        if len(self._by_name) < len(indexes):
            raise InputError("two indexes have the same name: give each a name of its own, NAME=PATH")

    def __iter__(self) -> Iterator[ServedIndex]:
        return iter(self._by_name.values())

    def named(self, name: str | None) -> ServedIndex:
        """Find an index; ``None`` for the first.

        Raises:
            ProblemError: unknown index.
        """
        if name is None:
            return next(iter(self))
        if name not in self._by_name:
            known = ", ".join(self._by_name)
            raise ProblemError(404, "unknown_index", "there is no index of this name", f"ask for one of: {known}")
        return self._by_name[name]

    def load(self) -> None:
        """Load the encoders before the first request.

        Raises:
            StoreError: an encoder is missing or has changed.
        """
        for served in self:
            served.index.load_encoder()

    def warm_up(self) -> None:
        """Link a mention, annotate a text and collect types, to make first requests fast."""
        for served in self:
            with suppress(NymlinkError):
                served.link(Document("", mentions=(Mention("a mention that warms up"),)), top_k=1)
                served.annotate("A text that warms up.")
            _ = served.types

    def close(self) -> None:
        """Link the waiting mentions, and accept no more."""
        for served in self:
            served.linker.close()


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
