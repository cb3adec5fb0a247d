"""Write the review file of Usagi: a row for each term and target, to be checked there."""

from __future__ import annotations

import csv
import time
from typing import Final, TextIO

from nymlink.corpus.usagi import ADDITIONAL, AFTER, BEFORE, NO_CONCEPT
from nymlink.linking.writers.mappings.omop_concepts import omop_concept, require_omop
from nymlink.linking.writers.mappings.term_writer import Target, Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_AUTHOR: Final = "nymlink"
_UNMAPPED: Final = (NO_CONCEPT, "Unmapped", "")


class UsagiWriter(TermWriter):
    """Writes the best concept of each part as a target, unchecked; further candidates are suggestions.

    The columns of the user's table are additional information.
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
            best = [target for target in targets if target.candidate is target.link.candidates[0]]
            score = min((target.candidate.score for target in best), default=0.0)
            author = (_AUTHOR, now) if best else ("", "0")
            for number, name, domain in [self._concept(target) for target in best] or [_UNMAPPED]:
                values = {
                    "matchScore": f"{min(max(score, 0), 1):.4f}",
                    "mappingStatus": "UNCHECKED",
                    "equivalence": "UNREVIEWED",
                    "statusSetOn": "0",
                    "conceptId": number,
                    "conceptName": name,
                    "domainId": domain,
                    "mappingType": "MAPS_TO",
                    "comment": "; ".join(term.link.notes),
                    "createdBy": author[0],
                    "createdOn": author[1],
                }
                self._out.writerow([*before, *added, *(values.get(column, "") for column in AFTER)])

    def _concept(self, target: Target) -> tuple[str, str, str]:
        """Return the number, the name and the domain of a concept."""
        found = omop_concept(target.candidate, self._info.vocabulary, format="usagi")
        return found.id, target.candidate.concept_name, found.domain


FORMAT = LinkFormat(
    name="usagi",
    description="Usagi's review file (CSV); your other columns become ADD_INFO",
    open=UsagiWriter,
    endings=(".usagi.csv",),
    keeps_table=True,
)
