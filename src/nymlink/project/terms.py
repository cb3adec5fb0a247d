"""Terms under review: list them, and assign them to reviewers."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal

from nymlink.project.decisions import checked_reviewer, other_forms
from nymlink.project.links import kept_link, link_values, mention_of, part_values, suggested_targets
from nymlink.project.project import Project
from nymlink.project.reviewers import is_hidden
from nymlink.project.rows import Decision, UnknownTermError, stored

Status = Literal[
    "all", "open", "decided", "nil", "flagged", "accepted", "disagreement", "mine", "changed", "failed"
]
Sort = Literal["order", "confidence", "margin", "frequency", "text"]

_SHORT: Final = 3
"""Number of candidates of a term in a list."""
_ROWS: Final = 20
"""Number of table rows that are shown with a term."""

_VERDICT: Final = (
    "(SELECT decision.verdict FROM settled JOIN decision ON decision.id = settled.decision "
    "WHERE settled.term = term.id)"
)
_OWN_VERDICT: Final = (
    "(SELECT decision.verdict FROM current JOIN decision ON decision.id = current.decision "
    "WHERE current.term = term.id AND current.reviewer = :reviewer)"
)

_FREQUENCY: Final = (
    "(term.frequency + coalesce("
    "(SELECT sum(form.frequency) FROM term AS form WHERE form.form_of = term.id AND form.id != term.id), 0))"
)
"""Frequency of a term in all its forms."""

_BOUNDS: Final = {
    "min_confidence": "term.confidence >=",
    "max_confidence": "term.confidence <=",
    "max_margin": "term.margin <=",
    "min_frequency": f"{_FREQUENCY} >=",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFilter:
    """A selection of terms. Of a term with several forms, only the first one is selected.

    Attributes:
        status: ``"all"``: every term; ``"open"``: terms that are not decided; ``"decided"``: terms with the
            verdict concept or nil; ``"nil"`` and ``"flagged"``: terms with this verdict; ``"accepted"``: terms
            that were accepted together with others, and not looked at since; ``"disagreement"``: terms on which
            reviewers decided differently; ``"mine"``: terms that are assigned to the reviewer, who has
            not decided yet; ``"changed"``: terms that another release of the vocabulary changed; ``"failed"``:
            terms that cannot be linked.
        reviewer: reviewer whose decisions determine the status; empty for all reviewers.
        assigned: reviewer that the terms are assigned to; empty for all terms.
        text: text that the term contains, ignoring case.
        min_confidence: smallest confidence of the link.
        max_confidence: largest confidence of the link.
        max_margin: largest margin between the scores of the first two candidates.
        min_frequency: smallest frequency.
        is_hidden: whether disagreements are hidden.
    """

    status: Status = "all"
    reviewer: str = ""
    assigned: str = ""
    text: str = ""
    min_confidence: float | None = None
    max_confidence: float | None = None
    max_margin: float | None = None
    min_frequency: int | None = None
    is_hidden: bool = False

    def where(self) -> tuple[str, dict[str, Any]]:
        """Write the filter as an SQL condition on the table `term`, with its parameters."""
        verdict = _OWN_VERDICT if self.reviewer else _VERDICT
        conditions = {
            "all": [],
            "open": [f"coalesce({verdict}, 'open') = 'open'"],
            "decided": [f"{verdict} IN ('concept', 'nil')"],
            "nil": [f"{verdict} = 'nil'"],
            "flagged": [f"{verdict} = 'flag'"],
            "accepted": [f"{verdict.replace('decision.verdict', 'decision.origin')} = 'accept'"],
            "disagreement": ["0" if self.is_hidden else "term.id IN (SELECT term FROM disagreement)"],
            "mine": [
                "term.id IN (SELECT term FROM assignment WHERE reviewer = :reviewer)",
                f"coalesce({_OWN_VERDICT}, 'open') = 'open'",
            ],
            "changed": ["term.id IN (SELECT term FROM release_change)"],
            "failed": ["term.state = 'failed'"],
        }[self.status]
        conditions.append("coalesce(term.form_of, term.id) = term.id")
        parameters: dict[str, Any] = {"reviewer": _whole(self.reviewer)}
        if self.assigned:
            conditions.append("term.id IN (SELECT term FROM assignment WHERE reviewer = :assigned)")
            parameters["assigned"] = _whole(self.assigned)
        if self.text.strip():
            conditions.append("term.id IN (SELECT coalesce(form_of, id) FROM term WHERE instr(folded, :text) > 0)")
            parameters["text"] = " ".join(_whole(self.text).casefold().split())
        for name, condition in _BOUNDS.items():
            if getattr(self, name) is not None:
                conditions.append(f"{condition} :{name}")
                parameters[name] = getattr(self, name)
        return " AND ".join(conditions), parameters

    def seen_by(self, viewer: str) -> TermFilter:
        """Restrict the filter to what a reviewer of a blind review may know."""
        # No reviewer is called " ".
        return replace(self, reviewer=viewer or " ", is_hidden=True)


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which occur in no term."""
    return text.encode("utf-8", "replace").decode()


def list_terms(
    project: Project,
    which: TermFilter,
    *,
    sort: Sort = "order",
    descending: bool = False,
    limit: int = 200,
    offset: int = 0,
    viewer: str | None = None,
) -> dict[str, Any]:
    """List terms: the ``total`` number of matching terms, and one page of ``terms``.

    Args:
        project: the project.
        which: the filter.
        sort: order of the terms; ``"order"`` is the order of the tables. Terms that are not linked come last.
        descending: whether to begin with the largest value.
        limit: number of terms on the page.
        offset: number of terms to skip.
        viewer: reviewer who asks; see :func:`nymlink.project.reviewers.is_hidden`.
    """
    hidden = is_hidden(project, viewer)
    where, parameters = (which.seen_by(viewer or "") if hidden else which).where()
    direction = "DESC" if descending else "ASC"
    column = {"order": "term.id", "text": "term.folded", "frequency": _FREQUENCY}.get(sort, f"term.{sort}")
    with project.reading() as connection:
        total = connection.execute(f"SELECT count(*) FROM term WHERE {where}", parameters).fetchone()[0]
        rows = connection.execute(
            f"SELECT * FROM term WHERE {where} ORDER BY {column} IS NULL, {column} {direction}, term.id "
            "LIMIT :limit OFFSET :offset",
            {**parameters, "limit": limit, "offset": offset},
        ).fetchall()
        shown = _listed(connection, rows)
    return {"total": total, "terms": [_seen(each, viewer) for each in shown] if hidden else shown}


def _seen(shown: dict[str, Any], viewer: str | None) -> dict[str, Any]:
    """Leave out the decisions of others."""
    own = {who: made for who, made in shown["decisions"].items() if who == viewer}
    return {**shown, "decisions": own, "carried": shown["carried"] and bool(own)}


def term_details(project: Project, term: int, *, viewer: str | None = None) -> dict[str, Any]:
    """Show a term: its values in a list, whole link, assigned reviewers, all its decisions, and its first rows.

    Args:
        project: the project.
        term: number of the term.
        viewer: reviewer who asks; see :func:`nymlink.project.reviewers.is_hidden`.

    Raises:
        UnknownTermError: there is no such term.
    """
    with project.reading() as connection:
        row = connection.execute("SELECT * FROM term WHERE id = ?", (term,)).fetchone()
        if row is None:
            raise UnknownTermError(f"the project has no term number {term}")
        [shown] = _listed(connection, [row])
        log = connection.execute("SELECT * FROM decision WHERE term = ? ORDER BY id", (term,)).fetchall()
        assigned = connection.execute(
            "SELECT reviewer FROM assignment WHERE term = ? ORDER BY reviewer", (term,)
        ).fetchall()
        changed = connection.execute(
            "SELECT kind, concept_id, concept_name, now FROM release_change WHERE term = ?", (term,)
        ).fetchall()
        rows = connection.execute(
            "SELECT file.name, file.header, row.number, row.code, row.cells "
            "FROM row JOIN file ON file.id = row.file WHERE row.term = ?1 "
            "OR row.term IN (SELECT id FROM term WHERE form_of = ?1) ORDER BY row.id LIMIT ?2",
            (term, _ROWS),
        ).fetchall()
        row_count = sum(rows_of(connection, each) for each in (term, *other_forms(connection, term)))
    if is_hidden(project, viewer):
        shown = _seen(shown, viewer)
        log = [entry for entry in log if entry["reviewer"] == viewer]
    undone = {entry["undoes"] for entry in log}
    return {
        **shown,
        "link": _link_values(row),
        "row_count": row_count,
        "assigned": [reviewer for (reviewer,) in assigned],
        "history": [
            {**Decision.of(entry).to_dict(), "undone": entry["id"] in undone}
            for entry in log
            if entry["undoes"] is None
        ],
        "changed": [_change(entry) for entry in changed],
        "rows": [
            {
                "file": found["name"],
                "number": found["number"],
                "code": found["code"],
                "header": stored(found["header"]),
                "cells": stored(found["cells"]),
            }
            for found in rows
        ],
    }


def rows_of(connection: sqlite3.Connection, term: int) -> int:
    """Count the rows with a term."""
    return int(connection.execute("SELECT rows FROM term WHERE id = ?", (term,)).fetchone()[0])


def terms_of_concept(project: Project, concept_id: str, *, viewer: str | None = None) -> list[dict[str, Any]]:
    """List the terms with a concept as their decided meaning, with their decisions.

    Args:
        project: the project.
        concept_id: the concept.
        viewer: reviewer who asks; see :func:`nymlink.project.reviewers.is_hidden`.
    """
    hidden = is_hidden(project, viewer)
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT * FROM term WHERE id IN (SELECT current.term FROM current "
            "JOIN decision ON decision.id = current.decision, json_each(decision.targets) AS target "
            "WHERE decision.verdict = 'concept' AND json_extract(target.value, '$.concept_id') = ? "
            "AND (NOT ? OR current.reviewer = ?)) ORDER BY folded",
            (concept_id, hidden, viewer),
        ).fetchall()
        shown = _listed(connection, rows)
    return [_seen(each, viewer) for each in shown] if hidden else shown


def current_decisions(connection: sqlite3.Connection, terms: Sequence[int]) -> dict[int, dict[str, Decision]]:
    """Find the decisions that count now, for each term by reviewer."""
    found: dict[int, dict[str, Decision]] = defaultdict(dict)
    rows = connection.execute(
        "SELECT decision.* FROM current JOIN decision ON decision.id = current.decision "
        "WHERE current.term IN (SELECT value FROM json_each(?))",
        (json.dumps(list(terms)),),
    )
    for row in rows:
        found[row["term"]][row["reviewer"]] = Decision.of(row)
    return found


def _listed(connection: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> list[dict[str, Any]]:
    ids = [row["id"] for row in rows]
    decided = current_decisions(connection, ids)
    last = dict(
        connection.execute(
            "SELECT coalesce(term.form_of, term.id) AS first, max(file.last_entry) FROM term "
            "JOIN row ON row.term = term.id JOIN file ON file.id = row.file "
            "WHERE term.id IN (SELECT value FROM json_each(?1)) "
            "OR term.form_of IN (SELECT value FROM json_each(?1)) "
            "GROUP BY first",
            (json.dumps(ids),),
        ).fetchall()
    )
    forms = defaultdict(list)
    for form in connection.execute(
        "SELECT id, text, language, frequency, form_of FROM term "
        "WHERE form_of IN (SELECT value FROM json_each(?)) AND form_of != id ORDER BY id",
        (json.dumps(ids),),
    ):
        forms[form["form_of"]].append(dict(form))
    return [_short(row, decided[row["id"]], last.get(row["id"], 0), forms[row["id"]]) for row in rows]


def _short(
    row: sqlite3.Row, decided: dict[str, Decision], last_entry: int, forms: list[dict[str, Any]]
) -> dict[str, Any]:
    link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
    is_split = link is not None and bool(link.parts)
    return {
        "id": row["id"],
        "text": row["text"],
        "frequency": row["frequency"] + sum(form["frequency"] for form in forms),
        "forms": [{name: form[name] for name in ("id", "text", "language", "frequency")} for form in forms],
        "language": row["language"],
        "type": row["type"],
        "state": row["state"],
        "confidence": row["confidence"],
        "margin": row["margin"],
        "nil": None if row["nil"] is None else bool(row["nil"]),
        "candidates": [
            {
                "id": candidate.concept_id,
                "name": candidate.concept_name,
                "score": candidate.score,
                "confidence": row["confidence"] if place == 0 else None,
            }
            for place, candidate in enumerate(() if link is None else link.candidates[:_SHORT])
        ],
        "parts": [] if link is None else part_values(link),
        "suggested": [each.to_dict() for each in suggested_targets(link)] if link is not None and is_split else [],
        "decisions": {reviewer: decision.to_dict() for reviewer, decision in decided.items()},
        # Decided before the last table with this term was added.
        "carried": any(each.id <= last_entry and each.verdict != "open" for each in decided.values()),
    }


def _link_values(row: sqlite3.Row) -> dict[str, Any] | None:
    """Read the link of a term, as JSON values; ``None`` if it has none or it cannot be read."""
    link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
    return None if link is None else link_values(link)


def _change(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "kind": row["kind"],
        "concept_id": row["concept_id"],
        "concept_name": row["concept_name"],
        "now": stored(row["now"]),
    }


_SPREAD: Final = 2654435761
"""Multiplier that scatters numbers of terms, to spread a share over the tables."""


def assign(project: Project, *, reviewer: str, terms: Sequence[int] | TermFilter, share: float = 1.0) -> int:
    """Assign a share of some terms to a reviewer, replacing earlier assignments of these terms to the reviewer.

    Terms with the fewest reviewers are taken first: two halves make a whole.

    Args:
        project: project opened for writing.
        reviewer: the reviewer.
        terms: numbers of terms, or a filter.
        share: share of the terms, 0 to 1; 0 removes the assignments.

    Returns:
        Number of these terms that are now assigned to the reviewer.

    Raises:
        InputError: the reviewer has no name.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    reviewer = checked_reviewer(reviewer)
    with project.writing() as connection:
        if isinstance(terms, TermFilter):
            where, parameters = terms.where()
        else:
            where, parameters = "term.id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(list(terms))}
        found = [row[0] for row in connection.execute(f"SELECT id FROM term WHERE {where}", parameters)]
        chosen = json.dumps(found)
        connection.execute(
            "DELETE FROM assignment WHERE reviewer = ? AND term IN (SELECT value FROM json_each(?))",
            (reviewer, chosen),
        )
        cursor = connection.execute(
            "INSERT INTO assignment SELECT value, ? FROM json_each(?) "
            "ORDER BY (SELECT count(*) FROM assignment WHERE term = value), value * ? % 4294967296 LIMIT ?",
            (reviewer, chosen, _SPREAD, ceil(share * len(found))),
        )
        return cursor.rowcount
