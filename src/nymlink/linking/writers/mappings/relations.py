"""Say how a term is related to the concept that it was linked to, by the name that matched."""

from __future__ import annotations

from typing import Literal

from nymlink.linking.candidates import WRITING
from nymlink.linking.model import Candidate, Link

Relation = Literal["equal", "narrower", "broader", "related", "close"]
"""The term means the concept; something narrower; something broader; something related; or something like it."""


def relation(candidate: Candidate, link: Link) -> Relation:
    """Say how a term is related to a candidate.

    Args:
        candidate: the concept.
        link: the link of the term, or of its part.
    """
    if WRITING not in candidate.parts or candidate.contradiction is not None or link.guessed or link.left_out:
        return "close"
    if candidate.matched.kind == "narrow":
        return "narrower"
    if candidate.matched.kind == "broad":
        return "broader"
    return "related" if candidate.matched.kind == "related" else "equal"
