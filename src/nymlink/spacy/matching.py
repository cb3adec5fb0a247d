"""The component that finds entities: the names of an index in the text of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.confidence import MIN_CONFIDENCE, MIN_FUZZY_CONFIDENCE
from nymlink.annotation.restriction import Restriction
from nymlink.annotation.settings import AnnotatorSettings
from nymlink.corpus.model import Document
from nymlink.linking.default import default_index
from nymlink.linking.model import FLAGS, Link
from nymlink.spacy.entities import linked_entity, register_extension
from nymlink.spacy.per_process import PerProcess


class EntityMatcher:
    """Finds the names of an index in documents and links them: adds to ``doc.ents``.

    Each entity that is found has ``kb_id_``, the id of its concept, and ``_.nymlink``, a dictionary of plain
    values (:meth:`nymlink.linking.model.Link.to_dict`) with confidence and flags of its context. A mention that
    begins or ends within a token is widened to whole tokens. Entities that are there stay; what would overlap
    them, or an entity found before it, is left out.

    The index is loaded by the first document, in each process of ``nlp.pipe(n_process=…)`` anew.

    Args:
        index: folder of an index; ``None`` for the embedded default.
        encoder: where its encoder is now, if it was moved.
        label: the label of entities that are found.
        settings: what is looked for, and how.
    """

    def __init__(self, *, index: str | None, encoder: str | None, label: str, settings: AnnotatorSettings) -> None:
        where = None if index is None else str(Path(index).absolute())
        self._label = label
        self._annotator = PerProcess(partial(_load, where, encoder, settings))
        register_extension()

    def __call__(self, doc: Doc) -> Doc:
        """Find entities in a document."""
        [doc] = self.pipe([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Find entities in documents, those of a batch together.

        Raises:
            StoreError: the index is missing, damaged, or of another format version.
            InputError, UnknownNameError: the settings ask for what the index cannot give.
        """
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            # spaCy's offsets count code points, too.
            texts = (Document("", doc.text) for doc in batch)
            annotated = self._annotator.get().annotate_documents(texts)
            for doc, (_, links) in zip(batch, annotated, strict=True):
                self._add_entities(doc, links)
                yield doc

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


def _load(index: str | None, encoder: str | None, settings: AnnotatorSettings) -> Annotator:
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
        "branches": [],
        "semantic_types": [],
        "sources": [],
        "ids": [],
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
    branches: list[str],
    semantic_types: list[str],
    sources: list[str],
    ids: list[str],
    flags: list[str],
    language: str | None,
) -> EntityMatcher:
    """Make the component from its configuration in a pipeline."""
    chosen: dict[str, Any] = {"branches": branches, "types": semantic_types, "sources": sources, "ids": ids}
    settings = AnnotatorSettings(
        min_confidence=min_confidence,
        fuzzy=fuzzy,
        fuzzy_confidence=fuzzy_confidence,
        restriction=Restriction(**{what: tuple(values) for what, values in chosen.items()}),
        flags=tuple(flags),
        language=language,
    )
    return EntityMatcher(index=index, encoder=encoder, label=label, settings=settings)
