"""Read the decisions of a review of Usagi."""

from __future__ import annotations

from collections.abc import Iterator

from nymlink.corpus.usagi import NO_CONCEPT, OMOP
from nymlink.project.importing.stated import StatedDecision, meanings
from nymlink.project.model import RELATIONS, Target, Verdict
from nymlink.project.tables.sheet import Sheet


def usagi_decisions(sheet: Sheet) -> Iterator[StatedDecision]:
    """Yield a decision for each code that someone has decided."""
    codes: dict[tuple[str, str], list[tuple[int, dict[str, str]]]] = {}
    for number, cells in sheet.rows:
        if number not in sheet.ragged:
            row = dict(zip(sheet.header, cells, strict=True))
            codes.setdefault((row["sourceCode"], row["sourceName"]), []).append((number, row))
    for (_, name), rows in codes.items():
        line, first = rows[0]
        status = meanings("usagi", "mappingStatus").get(first["mappingStatus"].strip(), "nothing")
        if status == "nothing" or not name.strip():
            continue
        targets = () if status == "nil" else tuple(_targets([row for _, row in rows]))
        verdict: Verdict = "flag" if status == "flag" else "concept" if targets else "nil"
        at = first.get("statusSetOn", "").strip()
        yield StatedDecision(
            line,
            name,
            verdict,
            targets,
            reviewer=first.get("statusSetBy", "").strip(),
            at=int(at[:20]) if at.isascii() and at.isdecimal() else None,
            comment=first.get("comment", ""),
            assigned=first.get("assignedReviewer", "").strip(),
        )


def _targets(rows: list[dict[str, str]]) -> Iterator[Target]:
    """Yield the concepts of a code, each once, with what they are mapped for where that is not their meaning."""
    seen = set()
    for row in rows:
        concept = row["conceptId"].strip()
        if concept in ("", NO_CONCEPT) or concept in seen:
            continue
        seen.add(concept)
        means = meanings("usagi", "equivalence").get(row.get("equivalence", "").strip(), "exact")
        relation = next(each for each in RELATIONS if each == means)
        mapped_for = row.get("mappingType", "").strip()
        details = {"mappingType": mapped_for} if mapped_for not in ("", "MAPS_TO") else {}
        yield Target(OMOP + concept, row.get("conceptName", "").strip(), relation, details)
