"""Accept the first candidates of many terms at once, and list the batches made so."""

from __future__ import annotations

import re
import sqlite3
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.project.decisions import append, checked_reviewer, decide_forms, other_forms
from nymlink.project.links import kept_link, mention_of, suggested_targets
from nymlink.project.project import Project
from nymlink.project.reviewers import is_hidden
from nymlink.project.rows import Target
from nymlink.project.terms import TermFilter, rows_of
from nymlink.text.normalise import normalise

_SURE: Final = (
    "state = 'linked' AND nil = 0 AND confidence >= :above AND id NOT IN "
    "(SELECT current.term FROM current JOIN decision ON decision.id = current.decision "
    "WHERE decision.verdict != 'open' AND (NOT :hidden OR current.reviewer = :who)) "
    "AND CASE WHEN json_valid(link) THEN json_extract(link, '$.candidates[0].concept_name') END IS NOT NULL"
)
"""Condition for linked terms with at least a given confidence that nobody has decided. In a blind review, only the
decisions of one reviewer count."""

_SAMPLE: Final = 20
"""Number of terms in the sample of a preview."""
_SHOWN: Final = ("id", "text", "frequency", "confidence", "concept_id", "name")
"""What the sample says of a term."""

_ABBREVIATION: Final = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Z][\w.]{1,4}\b")


def rests_on_abbreviation(text: str, query: str, name: str) -> bool:
    """Whether a term has an abbreviation that its concept's name lacks ("ID" for "Intellectual disability").

    Abbreviations have several meanings in clinics, so the confidence of the link says too little.

    Args:
        text: the term.
        query: the text that the linker searched for.
        name: preferred name of the concept.
    """
    words = name.casefold().split()
    return any(found.casefold() not in words for found in _ABBREVIATION.findall(text)) or (
        len(normalise(query).split()) > len(normalise(text).split())
    )


def accept(
    project: Project, *, reviewer: str, above: float, which: TermFilter | None = None, dry_run: bool = False
) -> dict[str, Any]:
    """Accept the first candidates of undecided terms with a high enough confidence, as one batch.

    Terms that rest on an abbreviation are left out (:func:`rests_on_abbreviation`).

    Args:
        project: project opened for writing; for a dry run, reading is enough.
        reviewer: who decides.
        above: smallest confidence, 0 to 1.
        which: filter of the terms; ``None`` for all terms.
        dry_run: whether to only count.

    Returns:
        Numbers of ``terms`` and ``rows``; the number of terms expected to be wrong by their confidences
        (``expected_wrong``: the sum of one minus confidence); ``abbreviations``, the number of terms left out;
        ``batch``, the number for :func:`~nymlink.project.decisions.undo`, or ``None``; and ``sample``, up to 20
        terms spread over the confidences, the least confident first.

    Raises:
        InputError: the reviewer has no name, or no link has a confidence.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    reviewer = checked_reviewer(reviewer)
    hidden = is_hidden(project, reviewer)
    with project.reading() as connection:
        states = dict(connection.execute("SELECT state, count(confidence) FROM term GROUP BY state").fetchall())
    if "linked" in states and not sum(states.values()):
        raise InputError(
            "the links have no confidences because the index is not calibrated: run `nymlink calibrate`, then "
            "`nymlink project rebase`"
        )
    with project.reading() if dry_run else project.writing() as connection:
        sure, left_out = _sure(connection, above, which or TermFilter(), reviewer if hidden else None)
        batch: int | None = None
        accepted = []
        for row in sure:
            targets = [] if dry_run else _accepted_targets(connection, row["id"])
            if not dry_run and not targets:
                continue
            accepted.append(row)
            if dry_run:
                continue
            number = append(
                connection,
                reviewer=reviewer,
                term=row["id"],
                verdict="concept",
                targets=targets,
                origin="accept",
                # The first decision gets its own number as batch, to be undone with the others.
                batch=batch,
            )
            if batch is None:
                batch = number
                connection.execute("UPDATE decision SET batch = id WHERE id = ?", (number,))
            decide_forms(connection, number)
        terms = [each for row in accepted for each in (row["id"], *other_forms(connection, row["id"]))]
        rows = sum(rows_of(connection, term) for term in terms)
    accepted.sort(key=lambda row: row["confidence"])
    step = max(1.0, (len(accepted) - 1) / (_SAMPLE - 1))
    places = sorted({round(step * place) for place in range(_SAMPLE)} & set(range(len(accepted))))
    return {
        "terms": len(accepted),
        "rows": rows,
        "expected_wrong": sum(1 - row["confidence"] for row in accepted),
        "abbreviations": left_out,
        "batch": batch,
        "sample": [{name: accepted[place][name] for name in _SHOWN} for place in places],
    }


def _sure(
    connection: sqlite3.Connection, above: float, which: TermFilter, only: str | None
) -> tuple[list[sqlite3.Row], int]:
    """Find the terms to accept, in the order of the tables, and the number of those that rest on abbreviations.

    Args:
        connection: connection of the project.
        above: smallest confidence.
        which: the filter.
        only: reviewer of a blind review, whose decisions alone count; ``None`` if all count.
    """
    where, parameters = (which if only is None else which.seen_by(only)).where()
    rows = connection.execute(
        "SELECT id, text, rows, frequency, confidence, json_extract(link, '$.query') AS query, "
        "json_extract(link, '$.candidates[0].concept_id') AS concept_id, "
        "json_extract(link, '$.candidates[0].concept_name') AS name "
        f"FROM term WHERE {_SURE} AND {where} ORDER BY id",
        {**parameters, "above": above, "hidden": only is not None, "who": only},
    ).fetchall()
    sure = [row for row in rows if not rests_on_abbreviation(row["text"], row["query"] or "", row["name"])]
    return sure, len(rows) - len(sure)


def _accepted_targets(connection: sqlite3.Connection, term: int) -> list[Target]:
    """Make targets of the first candidate of a term, or of the first candidates of its parts."""
    row = connection.execute("SELECT * FROM term WHERE id = ?", (term,)).fetchone()
    link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
    return [] if link is None else suggested_targets(link)


def accepted_batches(project: Project, limit: int = 20) -> list[dict[str, Any]]:
    """List the batches that :func:`accept` made and that are not undone, the last first.

    Returns:
        For each its ``batch`` number, ``reviewer``, time ``at``, and number of ``terms`` that still have its
        decision.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT made.batch, made.reviewer, min(made.at) AS at, count(*) AS terms FROM current "
            "JOIN decision AS made ON made.id = current.decision WHERE made.origin = 'accept' "
            "GROUP BY made.batch ORDER BY made.batch DESC LIMIT ?",
            (limit,),
        ).fetchall()
    return [dict(row) for row in rows]
