"""Mappings of terms for OMOP: Usagi files and source_to_concept_map."""

from __future__ import annotations

import csv
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from nymlink.core.errors import InputError
from nymlink.corpus.readers.tables.usagi import ADDITIONAL, AFTER, BEFORE, NO_CONCEPT, OMOP
from nymlink.linking.link import Candidate, Link, Relation
from nymlink.linking.writers.sssom import Target, Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo
from nymlink.vocabulary.vocabulary import Vocabulary

_VOCABULARIES: Final = {"SNOMEDCT": "SNOMED", "MESH": "MeSH"}
"""Prefix of codes → name of the vocabulary in OMOP, if it differs."""


@dataclass(frozen=True, slots=True)
class OmopConcept:
    """A standard concept of OMOP.

    Attributes:
        id: its number.
        domain: its domain, for example ``"Condition"``; empty if unknown.
        vocabulary: its vocabulary, for example ``"SNOMED"``; empty if unknown.
    """

    id: str
    domain: str
    vocabulary: str


def require_omop(vocabulary: Vocabulary | None, *, format: str) -> None:
    """Check that the first concept of a vocabulary has an OMOP number.

    Raises:
        InputError: it has none.
    """
    if vocabulary is not None and len(vocabulary):
        _number(vocabulary.concept_id(0), format)


OMOP_FORMATS: Final = frozenset({"source-to-concept-map", "usagi"})
"""Formats that need concepts of OMOP."""


def is_omop(vocabulary: Vocabulary | None) -> bool:
    """Whether mappings to a vocabulary can be written in :data:`OMOP_FORMATS`; true if it is unknown or empty."""
    try:
        require_omop(vocabulary, format="usagi")
    except InputError:
        return False
    return True


def omop_concept(candidate: Candidate, vocabulary: Vocabulary | None, *, format: str) -> OmopConcept:
    """Find the OMOP concept of a candidate.

    Raises:
        InputError: it is no OMOP concept.
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
            f"{format} needs the numbers of OMOP concepts, and the index has {concept_id!r}: link to an index of "
            "OMOP vocabularies (an export of Athena)"
        )
    return number


_COLUMNS: Final = (
    "source_code",
    "source_concept_id",
    "source_vocabulary_id",
    "source_code_description",
    "target_concept_id",
    "target_vocabulary_id",
    "valid_start_date",
    "valid_end_date",
    "invalid_reason",
)
_LONGEST_CODE: Final = 50
_LONGEST_NAME: Final = 20
_LONGEST_DESCRIPTION: Final = 255
_ALWAYS: Final = ("1970-01-01", "2099-12-31", "")
"""First and last day that a mapping is valid, as Usagi writes them."""
_NONE: Final = OmopConcept("0", "", "None")
"""Concept number for a code without a concept."""


class SourceToConceptMapWriter(TermWriter):
    """Writes a row for each term and the best concept of each of its parts that it does not deny.

    A term with a too long code is left out, because a shortened code would be another code. A too long description
    is shortened. Warnings count both.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        require_omop(info.vocabulary, format="source-to-concept-map")
        self._out = csv.writer(out, lineterminator="\n")
        self._vocabulary = info.vocabulary
        name = re.sub(r"\W+", "_", info.title, flags=re.ASCII).strip("_").upper()
        self._source = name[:_LONGEST_NAME] or "NYMLINK"
        self._out.writerow(_COLUMNS)

    def write_terms(self, terms: list[Term]) -> None:
        fitting = [term for term in terms if len(term.code) <= _LONGEST_CODE]
        for term in fitting:
            description = term.name[:_LONGEST_DESCRIPTION]
            # Several parts may mean the same concept.
            concepts = dict.fromkeys(self._concept_of(each.candidate) for each in term.best)
            for concept in concepts or (_NONE,):
                row = (term.code, "0", self._source, description, concept.id, concept.vocabulary, *_ALWAYS)
                self._out.writerow(row)
        shortened = sum(len(term.name) > _LONGEST_DESCRIPTION for term in fitting)
        if len(fitting) < len(terms):
            first = next(term.code for term in terms if len(term.code) > _LONGEST_CODE)
            warnings.warn(
                f"{len(terms) - len(fitting):,} terms were left out: source_code holds at most {_LONGEST_CODE} "
                f"characters (the first is {first[:_LONGEST_CODE]!r}…): name a column of codes with "
                "--map-column code=NAME",
                stacklevel=3,
            )
        if shortened:
            warnings.warn(
                f"{shortened:,} descriptions were shortened to {_LONGEST_DESCRIPTION} characters", stacklevel=3
            )

    def _concept_of(self, candidate: Candidate) -> OmopConcept:
        return omop_concept(candidate, self._vocabulary, format="source-to-concept-map")


SOURCE_TO_CONCEPT_MAP = LinkFormat(
    name="source-to-concept-map",
    description="OMOP's source_to_concept_map (CSV), CDM 5.4",
    open=SourceToConceptMapWriter,
    ignores=frozenset({"--top-k"}),
)


_AUTHOR: Final = "nymlink"
_EQUIVALENCES: Final[Mapping[Relation, str]] = {
    "exact": "EQUIVALENT",
    "broader": "WIDER",
    "narrower": "NARROWER",
    "related": "INEXACT",
    "part": "INEXACT",
    "close": "INEXACT",
}
"""Relation of the target to the term, as Usagi calls it."""
_UNMAPPED: Final = (NO_CONCEPT, "Unmapped", "")


class UsagiWriter(TermWriter):
    """Writes the best concept of each part as a target, further candidates and denied concepts as suggestions.

    A target is unchecked unless a person decided on it. The columns of the user's table become additional
    information.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        require_omop(info.vocabulary, format="usagi")
        self._out = csv.writer(out, lineterminator="\n")
        self._info = info
        header = [] if info.table is None else info.table.header.fields
        used = set() if info.table is None else {info.table.code, info.table.frequency}
        self._kept = [place for place in range(len(header)) if place not in used]
        self._out.writerow([*BEFORE, *(ADDITIONAL + header[place] for place in self._kept), *AFTER])

    def write_terms(self, terms: list[Term]) -> None:
        now = str(time.time_ns() // 1_000_000)
        for term in terms:
            targets = list(term.targets())
            suggested = dict.fromkeys(self._concept(target)[0] for target in targets)
            before = [term.code, term.name, str(term.frequency), ";".join(suggested)]
            added = [term.row[place] for place in self._kept]
            best: list[Target | None] = [*term.best]
            score = min((target.candidate.score for target in term.best), default=0.0)
            denied = [
                f"denied: {each.candidate.concept_name}"
                for each in targets
                if each.link.is_denied and each.is_first
            ]
            for target in best or [None]:
                number, name, domain = _UNMAPPED if target is None else self._concept(target)
                values = {
                    "matchScore": f"{min(max(score, 0), 1):.4f}",
                    "conceptId": number,
                    "conceptName": name,
                    "domainId": domain,
                    "mappingType": "MAPS_TO",
                    **_status(term.link, target, now, denied),
                }
                self._out.writerow([*before, *added, *(values.get(column, "") for column in AFTER)])

    def _concept(self, target: Target) -> tuple[str, str, str]:
        """Return the number, name and domain of a concept."""
        found = omop_concept(target.candidate, self._info.vocabulary, format="usagi")
        return found.id, target.candidate.concept_name, found.domain


def _status(link: Link, target: Target | None, now: str, denied: list[str]) -> dict[str, str]:
    """Write the status of a target: the decision of a person, or unchecked."""
    review = link.review
    if review is None or not link.is_reviewed:
        author = ("", "0") if target is None else (_AUTHOR, now)
        return {
            "mappingStatus": "UNCHECKED",
            "equivalence": "UNREVIEWED",
            "statusSetOn": "0",
            "comment": "; ".join([*link.notes, *denied]),
            "createdBy": author[0],
            "createdOn": author[1],
        }
    at = str(review.at)
    decided = review.verdict != "flag"
    return {
        "mappingStatus": "APPROVED" if decided else "FLAGGED",
        "equivalence": ("UNMATCHED" if target is None else _EQUIVALENCES[target.relation])
        if decided
        else "UNREVIEWED",
        "statusSetBy": review.reviewer,
        "statusSetOn": at,
        "comment": "; ".join([*([review.comment] if target is None else target.notes), *denied]),
        "createdBy": "" if target is None else review.reviewer,
        "createdOn": "0" if target is None else at,
        "assignedReviewer": review.assigned,
    }


USAGI = LinkFormat(
    name="usagi",
    description="Usagi's review file (CSV); your other columns become ADD_INFO",
    open=UsagiWriter,
    endings=(".usagi.csv",),
    keeps_table=True,
)
