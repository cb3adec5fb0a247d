"""Write links to the entities of a document: ``ent.kb_id_`` and ``ent._.nymlink``."""

from __future__ import annotations

import json
from typing import Final

from spacy.tokens import Doc, Span

from nymlink.linking.model import Link

EXTENSION: Final = "nymlink"
"""What a link is kept under: ``ent._.nymlink``."""


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
        kb_id: its concept where the link has none.
        id_: its own id.
    """
    ids = () if link.nil else [part.candidates[0].concept_id for part in link.singles if part.candidates]
    ent = Span(doc, start, end, label, kb_id="|".join(ids) or kb_id, span_id=id_)
    # Through JSON, so that nothing but plain values stays with the document.
    ent._.set(EXTENSION, json.loads(json.dumps(link.to_dict())))
    return ent
