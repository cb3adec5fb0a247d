"""Links that say what the gold annotations of documents say, to be written in any format."""

from __future__ import annotations

from collections.abc import Iterable

from nymlink.corpus import Document, Mention
from nymlink.linking.link import Candidate, Link
from nymlink.linking.links import Links
from nymlink.vocabulary.concepts import Name


def candidate(concept_id: str, *, kind: str = "exact", equal: bool = True) -> Candidate:
    name = f"name of {concept_id}"
    parts = {"exact": 1.0, "writing": 1.0} if equal else {"dense": 0.75}
    return Candidate(concept_id, name, Name(name, concept_id, kind=kind), 1.0 if equal else 0.75, parts)


def link(mention: Mention, document_id: str | None = None) -> Link:
    """Link a mention to its gold concepts: several are those of parts."""
    single = [
        Link(Mention(part), part, (candidate(concept_id),))
        for concept_id, part in zip(
            mention.concept_ids, mention.parts or [mention.text] * len(mention.concept_ids), strict=False
        )
    ]
    if len(single) == 1:
        return Link(mention, mention.text, single[0].candidates, document_id=document_id)
    return Link(mention, mention.text, parts=tuple(single), document_id=document_id, nil=not single)


def links(documents: Iterable[Document]) -> Links:
    return Links(link(mention, document.id) for document in documents for mention in document.mentions)
