"""The component that links the entities that another component has found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from nymlink.corpus.model import Document, Mention
from nymlink.linking.default import default_index
from nymlink.linking.linker import Linker
from nymlink.linking.model import Link
from nymlink.spacy.entities import linked_entity, register_extension
from nymlink.spacy.per_process import PerProcess


class EntityLinker:
    """Links the entities of documents: sets ``ent.kb_id_`` and ``ent._.nymlink``.

    ``kb_id_`` is the id of the concept; those of the parts of a composite entity are joined by ``|``; an entity
    that is taken to mean none keeps what it has. ``_.nymlink`` is a dictionary of plain values, that of
    :meth:`nymlink.linking.model.Link.to_dict`, which ``DocBin(store_user_data=True)`` keeps.

    The index is loaded by the first document, in each process of ``nlp.pipe(n_process=…)`` anew.

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
        where = None if index is None else str(Path(index).absolute())
        settings = {"top_k": top_k, "target_precision": target_precision, "language": language}
        self._linker = PerProcess(partial(_load, where, encoder, settings))
        register_extension()

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
            linker = self._linker.get()
            for doc, links in zip(batch, linker.link_documents(map(_document, batch)), strict=True):
                _set_links(doc, links)
                yield doc


def _load(index: str | None, encoder: str | None, settings: dict[str, Any]) -> Linker:
    if index is None:
        return Linker(default_index(), **settings)
    return Linker.load(index, encoder=encoder, **settings)


def _document(doc: Doc) -> Document:
    # spaCy's offsets count code points, too.
    mentions = (Mention(ent.text, ent.start_char, ent.end_char, ent.label_) for ent in doc.ents)
    return Document("", doc.text, tuple(mentions))


def _set_links(doc: Doc, links: list[Link]) -> None:
    linked = [
        linked_entity(doc, ent.start, ent.end, ent.label_, link, kb_id=ent.kb_id_, id_=ent.id_)
        for ent, link in zip(doc.ents, links, strict=True)
    ]
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
