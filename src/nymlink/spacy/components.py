"""Components of spaCy pipelines: one links entities, one finds them."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from spacy.language import Language
from spacy.tokens import Doc, Span

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import (
    MIN_CONFIDENCE,
    MIN_FUZZY_CONFIDENCE,
    AnnotatorSettings,
)
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.default import default_index
from nymlink.linking.link import FLAGS, Link
from nymlink.linking.linker import Linker
from nymlink.vocabulary.restriction import Restriction

Loaded = TypeVar("Loaded")


class PerProcess(Generic[Loaded]):
    """Loads an object at its first use, separately in each process of ``nlp.pipe(n_process=…)``.

    A new process does not have the threads of its parent. Objects from the parent are therefore not used, and not
    released either, because their release would wait for these threads.

    Args:
        load: a function without arguments that loads the object. It can be pickled.
    """

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._loaded: dict[int, Loaded] = {}

    def get(self) -> Loaded:
        """Return what this process has loaded."""
        process = os.getpid()
        if process not in self._loaded:
            self._loaded[process] = self._load()
        return self._loaded[process]

    def __getstate__(self) -> dict[str, Any]:
        # Another process loads it itself.
        return {"_load": self._load, "_loaded": {}}


EXTENSION: Final = "nymlink"
"""Attribute of the link: ``ent._.nymlink``."""


def register_extension() -> None:
    """Let spans have the attribute of links."""
    if not Span.has_extension(EXTENSION):
        Span.set_extension(EXTENSION, default=None)


def linked_entity(
    doc: Doc, start: int, end: int, label: str, link: Link, *, kb_id: str = "", id_: str = ""
) -> Span:
    """Make an entity with its link.

    Args:
        doc: the document.
        start: index of its first token.
        end: index one past its last token.
        label: its label.
        link: its link.
        kb_id: its concept if the link has none.
        id_: its own id.
    """
    ids = () if link.nil else [part.candidates[0].concept_id for part in link.singles if part.candidates]
    ent = Span(doc, start, end, label, kb_id="|".join(ids) or kb_id, span_id=id_)
    # Through JSON, so that nothing but plain values stays with the document.
    ent._.set(EXTENSION, json.loads(json.dumps(link.to_dict())))
    return ent


class _Component(ABC, Generic[Loaded]):
    """Component of a pipeline that loads an index at the first document, in each process by itself.

    Args:
        index: folder of an index; ``None`` for the embedded default.
        load: makes what the component works with, from the folder of the index.
    """

    def __init__(self, index: str | None, load: Callable[[str | None], Loaded]) -> None:
        where = None if index is None else str(Path(index).absolute())
        self._loaded = PerProcess(partial(load, where))
        register_extension()

    def __call__(self, doc: Doc) -> Doc:
        """Set the entities of a document."""
        [doc] = self.pipe([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Set the entities of documents, batch by batch.

        Raises:
            StoreError: the index is missing, damaged, or of another format version.
            InputError, UnknownNameError: the settings do not suit the index.
        """
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            self._set_entities(batch)
            yield from batch

    @abstractmethod
    def _set_entities(self, docs: Sequence[Doc]) -> None:
        """Set the entities of some documents."""


class EntityLinker(_Component[Linker]):
    """Links the entities of documents: sets ``ent.kb_id_`` and ``ent._.nymlink``.

    ``kb_id_`` is the id of the concept. For a composite entity, it joins the ids of the parts by ``|``. A NIL
    entity keeps its earlier ``kb_id_``. ``_.nymlink`` is a dictionary of plain values, from
    :meth:`nymlink.linking.link.Link.to_dict`. ``DocBin(store_user_data=True)`` stores it, too.

    The index is loaded at the first document, separately in each process of ``nlp.pipe(n_process=…)``.

    Args:
        index: folder of an index; ``None`` for the embedded default.
        encoder: the present place of its encoder, if it was moved.
        top_k: largest number of candidates of a link.
        target_precision: wanted share of right links, see :class:`~nymlink.linking.linker.Linker`.
        language: code of the language of entities; ``None`` to recognise the language of each entity.
    """

    def __init__(
        self,
        *,
        index: str | None,
        encoder: str | None,
        top_k: int,
        target_precision: float | None,
        language: str | None,
    ) -> None:
        settings = {"top_k": top_k, "target_precision": target_precision, "language": language}
        super().__init__(index, partial(_load_linker, encoder=encoder, settings=settings))

    def _set_entities(self, docs: Sequence[Doc]) -> None:
        for doc, links in zip(docs, self._loaded.get().link_documents(map(_document, docs)), strict=True):
            linked = [
                linked_entity(doc, ent.start, ent.end, ent.label_, link, kb_id=ent.kb_id_, id_=ent.id_)
                for ent, link in zip(doc.ents, links, strict=True)
            ]
            doc.set_ents(linked, default="unmodified")


def _load_linker(index: str | None, *, encoder: str | None, settings: dict[str, Any]) -> Linker:
    if index is None:
        return Linker(default_index(), **settings)
    return Linker.load(index, encoder=encoder, **settings)


def _document(doc: Doc) -> Document:
    # spaCy's offsets count code points, too.
    mentions = (Mention(ent.text, ent.start_char, ent.end_char, ent.label_) for ent in doc.ents)
    return Document("", doc.text, tuple(mentions))


@Language.factory(
    "nymlink",
    assigns=["token.ent_kb_id", "span._.nymlink"],
    requires=["doc.ents"],
    default_config={"index": None, "encoder": None, "top_k": 1, "target_precision": None, "language": None},
)
def make_entity_linker(
    nlp: Language,  # noqa: ARG001
    name: str,  # noqa: ARG001
    index: str | None,
    encoder: str | None,
    top_k: int,
    target_precision: float | None,
    language: str | None,
) -> EntityLinker:
    """Make the component from its configuration in a pipeline."""
    return EntityLinker(
        index=index, encoder=encoder, top_k=top_k, target_precision=target_precision, language=language
    )


class EntityMatcher(_Component[Annotator]):
    """Finds the names of an index in documents and links them: adds to ``doc.ents``.

    Each entity has ``kb_id_``, the id of its concept, and ``_.nymlink``, a dictionary of plain values
    (:meth:`nymlink.linking.link.Link.to_dict`) with confidence and flags of its context. A mention that begins or
    ends within a token is widened to whole tokens. Existing entities stay. A mention is left out if it overlaps an
    existing entity or an entity that was found earlier.

    The index is loaded at the first document, separately in each process of ``nlp.pipe(n_process=…)``.

    Args:
        index: folder of an index; ``None`` for the embedded default.
        encoder: the present place of its encoder, if it was moved.
        label: the label of found entities.
        settings: settings of the annotator.
    """

    def __init__(self, *, index: str | None, encoder: str | None, label: str, settings: AnnotatorSettings) -> None:
        self._label = label
        super().__init__(index, partial(_load_annotator, encoder=encoder, settings=settings))

    def _set_entities(self, docs: Sequence[Doc]) -> None:
        # spaCy's offsets count code points, too.
        texts = (Document("", doc.text) for doc in docs)
        for doc, (_, links) in zip(docs, self._loaded.get().annotate_documents(texts), strict=True):
            self._add_entities(doc, links)

    def _add_entities(self, doc: Doc, links: list[Link]) -> None:
        taken = {token.i for ent in doc.ents for token in ent}
        found = []
        for link in links:
            places = link.mention.pieces
            span = doc.char_span(places[0][0], places[-1][1], alignment_mode="expand")
            if span is None or not taken.isdisjoint(range(span.start, span.end)):
                continue
            taken.update(range(span.start, span.end))
            found.append(linked_entity(doc, span.start, span.end, self._label, link))
        doc.set_ents(found, default="unmodified")


def _load_annotator(index: str | None, encoder: str | None, settings: AnnotatorSettings) -> Annotator:
    if index is None:
        return Annotator(default_index(), settings)
    return Annotator.load(index, settings, encoder=encoder)


@Language.factory(
    "nymlink_matcher",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "token.ent_kb_id", "span._.nymlink"],
    default_config={
        "index": None,
        "encoder": None,
        "label": "CONCEPT",
        "min_confidence": MIN_CONFIDENCE,
        "fuzzy": False,
        "fuzzy_confidence": MIN_FUZZY_CONFIDENCE,
        "branch": [],
        "types": [],
        "sources": [],
        "ids": [],
        "exclude": [],
        "flags": list(FLAGS),
        "language": "en",
    },
)
def make_entity_matcher(
    nlp: Language,  # noqa: ARG001
    name: str,  # noqa: ARG001
    index: str | None,
    encoder: str | None,
    label: str,
    min_confidence: float,
    fuzzy: bool,
    fuzzy_confidence: float,
    branch: list[str],
    types: list[str],
    sources: list[str],
    ids: list[str],
    exclude: list[str],
    flags: list[str],
    language: str | None,
) -> EntityMatcher:
    """Make the component from its configuration in a pipeline."""
    restriction = Restriction.of(types=types, branch=branch, ids=ids, exclude=exclude)
    settings = AnnotatorSettings(
        min_confidence=min_confidence,
        fuzzy=fuzzy,
        fuzzy_confidence=fuzzy_confidence,
        restriction=replace(restriction, sources=tuple(sources)),
        flags=tuple(flags),
        language=language,
    )
    return EntityMatcher(index=index, encoder=encoder, label=label, settings=settings)
