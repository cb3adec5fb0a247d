"""Say how a term is related to the concept that it was linked to, by the name that matched."""

from __future__ import annotations

from nymlink.linking.candidates import DICTIONARY, WRITING
from nymlink.linking.model import Candidate, Link
from nymlink.linking.review import Relation
from nymlink.text.normalisation.normalise import normalise


def relation(candidate: Candidate, link: Link) -> Relation:
    """Say how a term is related to a candidate: as a person decided, else by the name that matched.

    Args:
        candidate: the concept.
        link: the link of the term, or of its part.
    """
    if link.review is not None and candidate in link.candidates[: len(link.review.relations)]:
        return link.review.relations[link.candidates.index(candidate)]
    if not _is_name(candidate, link) or candidate.contradiction is not None or link.guessed or link.left_out:
        return "close"
    if candidate.matched.kind == "narrow":
        return "narrower"
    if candidate.matched.kind == "broad":
        return "broader"
    return "related" if candidate.matched.kind == "related" else "equal"


def is_lexical(candidate: Candidate) -> bool:
    """Whether a candidate was found by the words of a name, not by how similar it is."""
    return WRITING in candidate.parts or DICTIONARY in candidate.parts


def _is_name(candidate: Candidate, link: Link) -> bool:
    """Whether a term equals the name that matched; a dictionary takes other forms and orders of words, too."""
    if DICTIONARY in candidate.parts:
        return normalise(link.mention.text) == normalise(candidate.matched.text)
    return WRITING in candidate.parts
