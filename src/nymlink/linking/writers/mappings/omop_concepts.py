"""Read of the vocabulary what formats of OMOP want to know of a concept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nymlink.core.errors import InputError
from nymlink.corpus.usagi import OMOP
from nymlink.linking.model import Candidate
from nymlink.vocabulary.vocabulary import Vocabulary

_VOCABULARIES: Final = {"SNOMEDCT": "SNOMED", "MESH": "MeSH"}
"""Names of vocabularies in OMOP, by the prefix of their codes where that is another."""


@dataclass(frozen=True, slots=True)
class OmopConcept:
    """A standard concept of OMOP.

    Attributes:
        id: its number.
        domain: its domain, ``"Condition"``; empty where that is not known.
        vocabulary: its vocabulary, ``"SNOMED"``; empty where that is not known.
    """

    id: str
    domain: str
    vocabulary: str


def require_omop(vocabulary: Vocabulary | None, *, format: str) -> None:
    """Check that the concepts of a vocabulary are those of OMOP, by the first.

    Raises:
        InputError: they are not.
    """
    if vocabulary is not None and len(vocabulary):
        _number(vocabulary.concept_id(0), format)


def omop_concept(candidate: Candidate, vocabulary: Vocabulary | None, *, format: str) -> OmopConcept:
    """Find the OMOP concept of a candidate.

    Raises:
        InputError: the concept is none of OMOP.
    """
    number = _number(candidate.concept_id, format)
    if vocabulary is None or candidate.concept_id not in vocabulary:
        return OmopConcept(number, "", "")
    concept = vocabulary[candidate.concept_id]
    code = concept.xrefs[0].partition(":")[0] if concept.xrefs else ""
    name = _VOCABULARIES.get(code, code.replace("_", " "))
    return OmopConcept(number, concept.semantic_types[0] if concept.semantic_types else "", name)


def _number(concept_id: str, format: str) -> str:
    number = concept_id.removeprefix(OMOP)
    if not (number.isascii() and number.isdecimal()):
        raise InputError(
            f"{format} has the numbers of OMOP concepts, and the index has {concept_id!r}: link to an index of "
            "OMOP vocabularies (an export of Athena)"
        )
    return number
