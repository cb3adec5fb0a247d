"""Read the decisions of a mapping set of SSSOM: the mappings that a person made or reviewed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nymlink.project.importing.stated import StatedDecision, meanings, milliseconds
from nymlink.project.model import RELATIONS, Relation, Target, Verdict
from nymlink.project.tables.sheet import Sheet

_NOTHING: Final = "sssom:NoTermFound"
_REVIEWERS: Final = ("reviewer_label", "reviewer_id", "author_label", "author_id", "creator_label", "creator_id")
"""Columns that say who decided, the likeliest first."""
_DECIDED_AT: Final = re.compile(r"\bdecided_at=(\S+?)(?:;|$)")
_FLAGGED: Final = re.compile(r"\bdecision=flag\b")


def sssom_decisions(sheet: Sheet) -> Iterator[StatedDecision]:
    """Yield a decision for each subject of which a person decided something.

    A mapping that is negated is no target of the subject.
    """
    subjects: dict[tuple[str, str], list[tuple[int, dict[str, str]]]] = {}
    for number, cells in sheet.rows:
        row = dict(zip(sheet.header, cells, strict=True))
        label = row.get("subject_label", "") or row.get("subject_id", "")
        if number not in sheet.ragged and label and _is_reviewed(row) and not row.get("predicate_modifier", ""):
            subjects.setdefault((row.get("subject_id", ""), label), []).append((number, row))
    for (_, label), rows in subjects.items():
        line, first = rows[0]
        is_flagged = _FLAGGED.search(first.get("other", "")) is not None
        # Of a flagged subject a suggestion of a program may be stated, too.
        chosen = [row for _, row in rows if not is_flagged or _is_justified(row)]
        targets = tuple(_targets(chosen))
        verdict: Verdict = "flag" if is_flagged else "concept" if targets else "nil"
        stated = _DECIDED_AT.search(first.get("other", ""))
        reviewer = next((name for column in _REVIEWERS if (name := first.get(column, "").strip())), "")
        comments = dict.fromkeys(comment for _, row in rows if (comment := row.get("comment", "").strip()))
        yield StatedDecision(
            line,
            label,
            verdict,
            targets,
            reviewer=reviewer,
            at=milliseconds(first.get("mapping_date", "") if stated is None else stated[1]),
            comment="; ".join(comments),
        )


def _is_reviewed(row: dict[str, str]) -> bool:
    """Whether a person made or reviewed a mapping: justifications of programs alone are suggestions."""
    return _is_justified(row) or any(row.get(column, "").strip() for column in ("reviewer_id", "reviewer_label"))


def _is_justified(row: dict[str, str]) -> bool:
    known = meanings("sssom", "mapping_justification")
    return known.get(row.get("mapping_justification", "").strip()) == "decided"


def _targets(rows: list[dict[str, str]]) -> Iterator[Target]:
    seen = set()
    for row in rows:
        concept = row["object_id"].strip()
        if concept in ("", _NOTHING) or concept in seen:
            continue
        seen.add(concept)
        stated = row["predicate_id"].strip()
        means = meanings("sssom", "predicate_id").get(stated)
        relation: Relation = next((each for each in RELATIONS if each == means), "related")
        is_usual = stated in ("skos:exactMatch", "skos:broadMatch", "skos:narrowMatch", "skos:relatedMatch")
        details = {} if is_usual else {"predicate_id": stated}
        yield Target(concept, row.get("object_label", "").strip(), relation, details)
