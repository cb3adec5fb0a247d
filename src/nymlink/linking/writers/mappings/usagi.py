"""Write the review file of Usagi: a row for each term and target, to be checked there."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from typing import Final, TextIO

from nymlink.corpus.usagi import ADDITIONAL, AFTER, BEFORE, NO_CONCEPT
from nymlink.linking.model import Link
from nymlink.linking.review import Relation
from nymlink.linking.writers.mappings.omop_concepts import omop_concept, require_omop
from nymlink.linking.writers.mappings.term_writer import Target, Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_AUTHOR: Final = "nymlink"
_EQUIVALENCES: Final[Mapping[Relation, str]] = {
    "equal": "EQUIVALENT",
    "narrower": "WIDER",
    "broader": "NARROWER",
    "related": "INEXACT",
    "close": "INEXACT",
}
"""How the target is to the term, by how the term is to the target."""
_UNMAPPED: Final = (NO_CONCEPT, "Unmapped", "")


class UsagiWriter(TermWriter):
    """Writes the best concept of each part as a target, further candidates as suggestions.

    A target is unchecked unless a person decided it. The columns of the user's table are additional information.
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
            for target in best or [None]:
                number, name, domain = _UNMAPPED if target is None else self._concept(target)
                values = {
                    "matchScore": f"{min(max(score, 0), 1):.4f}",
                    "conceptId": number,
                    "conceptName": name,
                    "domainId": domain,
                    "mappingType": "MAPS_TO",
                    **_status(term.link, target, now),
                }
                self._out.writerow([*before, *added, *(values.get(column, "") for column in AFTER)])

    def _concept(self, target: Target) -> tuple[str, str, str]:
        """Return the number, the name and the domain of a concept."""
        found = omop_concept(target.candidate, self._info.vocabulary, format="usagi")
        return found.id, target.candidate.concept_name, found.domain


def _status(link: Link, target: Target | None, now: str) -> dict[str, str]:
    """Write what a person decided of a target, or that nobody did."""
    review = link.review
    if review is None:
        author = ("", "0") if target is None else (_AUTHOR, now)
        return {
            "mappingStatus": "UNCHECKED",
            "equivalence": "UNREVIEWED",
            "statusSetOn": "0",
            "comment": "; ".join(link.notes),
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
        "comment": review.comment,
        "createdBy": "" if target is None else review.reviewer,
        "createdOn": "0" if target is None else at,
        "assignedReviewer": review.assigned,
    }


FORMAT = LinkFormat(
    name="usagi",
    description="Usagi's review file (CSV); your other columns become ADD_INFO",
    open=UsagiWriter,
    endings=(".usagi.csv",),
    keeps_table=True,
)
