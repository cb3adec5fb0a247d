"""The component that links the entities that another component has found."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from nymlink.corpus.model import Document, Mention
from nymlink.linking.default import default_index
from nymlink.linking.linker import Linker
from nymlink.linking.model import Link

EXTENSION = "nymlink"
"""What a link is kept under: ``ent._.nymlink``."""


class EntityLinker:
    """Links the entities of documents: sets ``ent.kb_id_`` and ``ent._.nymlink``.

    ``kb_id_`` is the id of the concept; those of the parts of a composite entity are joined by ``|``; an entity
    that is taken to mean none keeps what it has. ``_.nymlink`` is a dictionary of plain values, that of
    :meth:`nymlink.linking.model.Link.to_dict`, which ``DocBin(store_user_data=True)`` keeps.

    The index is loaded by the first document, in each process of ``nlp.pipe(n_process=…)`` anew: the threads of a
    process do not come with it to another.

    Args:
        index: folder of an index; ``None`` for the embedded default.
        encoder: where its encoder is now, if it was moved.
        top_k: how many candidates a link has at most.
        target_precision: share of links to be right, see :class:`~nymlink.linking.linker.Linker`.
        language: code of the language that entities are in; ``None``: each is taken for the language that
            recognises it.
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
        self._index = None if index is None else str(Path(index).absolute())
        self._encoder = encoder
        self._top_k = top_k
        self._target_precision = target_precision
        self._language = language
        self._linkers: dict[int, Linker] = {}
        """By process. What was inherited from another is not used, and not let go either: it would wait for
        threads that only the other has."""
        if not Span.has_extension(EXTENSION):
            Span.set_extension(EXTENSION, default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Link the entities of a document."""
        [doc] = self.pipe([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Link the entities of documents, those of a batch together.

        Raises:
            StoreError: the index is missing, damaged, or of another format version.
            InputError: the settings ask for what the index cannot give.
        """
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            linker = self._linker()
            for doc, links in zip(batch, linker.link_documents(map(_document, batch)), strict=True):
                _set_links(doc, links)
                yield doc

    def _linker(self) -> Linker:
        process = os.getpid()
        if process not in self._linkers:
            settings: dict[str, Any] = {
                "top_k": self._top_k,
                "target_precision": self._target_precision,
                "language": self._language,
            }
            if self._index is None:
                self._linkers[process] = Linker(default_index(), **settings)
            else:
                self._linkers[process] = Linker.load(self._index, encoder=self._encoder, **settings)
        return self._linkers[process]

    def __getstate__(self) -> dict[str, Any]:
        # Another process loads the index itself.
        return {**self.__dict__, "_linkers": {}}


def _document(doc: Doc) -> Document:
    # spaCy's offsets count code points, too.
    mentions = (Mention(ent.text, ent.start_char, ent.end_char, ent.label_) for ent in doc.ents)
    return Document("", doc.text, tuple(mentions))


def _set_links(doc: Doc, links: list[Link]) -> None:
    linked = []
    for ent, link in zip(doc.ents, links, strict=True):
        ids = () if link.nil else [part.candidates[0].concept_id for part in link.singles if part.candidates]
        kb_id = "|".join(ids) or ent.kb_id_
        linked.append(Span(doc, ent.start, ent.end, ent.label_, kb_id=kb_id, span_id=ent.id_))
        # Through JSON, so that nothing but plain values stays with the document.
        linked[-1]._.set(EXTENSION, json.loads(json.dumps(link.to_dict())))
    doc.set_ents(linked, default="unmodified")


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
