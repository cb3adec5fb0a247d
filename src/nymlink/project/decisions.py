"""Make and undo decisions on terms; every entry is saved at once, and none is ever removed."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.project.project import Project, now
from nymlink.project.rows import (
    RELATIONS,
    VERDICTS,
    ConflictError,
    Decision,
    Origin,
    Target,
    UnknownTermError,
    Verdict,
    essence,
)

_LONGEST_REVIEWER: Final = 100
_LONGEST_COMMENT: Final = 10_000
_MOST_TARGETS: Final = 100
_UNDONE_BY_HAND: Final = ("review", "accept")
"""Origins that undo takes back; decisions from files or from a release were not made by the reviewer here."""


def decide(
    project: Project,
    *,
    reviewer: str,
    term: int,
    verdict: Verdict,
    targets: Sequence[Target] = (),
    comment: str = "",
    expects: int | None = None,
) -> Decision:
    """Decide a term, and its other forms in the same way.

    Args:
        project: project opened for writing.
        reviewer: who decides.
        term: number of the term.
        verdict: the verdict.
        targets: the concepts that it means; for a flagged term, the concepts that it may mean.
        comment: remark to keep with the decision.
        expects: number of the reviewer's latest decision on this term that the reviewer has seen; ``None`` for
            none.

    Raises:
        InputError: the verdict, targets and comment are not a valid decision.
        UnknownTermError: there is no such term.
        ConflictError: the reviewer has decided it in the meantime, perhaps in another window.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    reviewer = checked_reviewer(reviewer)
    check_decision(verdict, targets, comment)
    with project.writing() as connection:
        require_term(connection, term)
        present = current_decision(connection, term, reviewer)
        if (None if present is None else present.id) != expects:
            raise ConflictError(
                "this term was decided in the meantime, perhaps in another window: see that decision, then decide",
                None if present is None else present.to_dict(),
            )
        number = append(
            connection, reviewer=reviewer, term=term, verdict=verdict, targets=targets, comment=comment
        )
        decide_forms(connection, number)
        connection.execute(
            "DELETE FROM release_change WHERE term = ?1 OR term IN (SELECT id FROM term WHERE form_of = ?1)",
            (term,),
        )
        return decision(connection, number)


def undo(project: Project, *, reviewer: str, batch: int | None = None) -> list[dict[str, Any]]:
    """Undo the last decision of a reviewer that is not yet undone; if it is one of a batch, undo the whole batch.

    Args:
        project: project opened for writing.
        reviewer: who decided.
        batch: number of an earlier batch to undo instead. Later decisions on its terms stay.

    Returns:
        For each undone decision its ``term``, the decision itself (``undone``), and the reviewer's ``decision``
        that counts now, or ``None``. Empty if there is nothing to undo.

    Raises:
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    reviewer = checked_reviewer(reviewer)
    with project.writing() as connection:
        last = connection.execute(
            "SELECT id, batch FROM decision AS made WHERE reviewer = ? AND origin IN (?, ?) AND "
            "batch IS coalesce(?, batch) AND NOT EXISTS (SELECT 1 FROM decision WHERE undoes = made.id) "
            "ORDER BY id DESC LIMIT 1",
            (reviewer, *_UNDONE_BY_HAND, batch),
        ).fetchone()
        if last is None:
            return []
        which = ("id", last["id"]) if last["batch"] is None else ("batch", last["batch"])
        rows = connection.execute(f"SELECT id FROM decision WHERE {which[0]} = ? AND origin != 'undo'", which[1:])
        made = {number for (number,) in rows}
        # Also undo its repetitions for other forms, and the changes that releases of the vocabulary made to them.
        for number, was in connection.execute(
            "SELECT id, json_extract(details, '$.was') FROM decision "
            "WHERE origin IN ('release', 'form') AND id > ? ORDER BY id",
            (min(made),),
        ):
            if was in made:
                made.add(number)
        undone = [
            Decision.of(row)
            for number in sorted(made)
            for row in connection.execute(
                "SELECT * FROM decision AS entry WHERE id = ? "
                "AND NOT EXISTS (SELECT 1 FROM decision WHERE undoes = entry.id)",
                (number,),
            ).fetchall()
        ]
        return [_undo(connection, each) for each in undone]


def _undo(connection: sqlite3.Connection, undone: Decision) -> dict[str, Any]:
    connection.execute(
        "INSERT INTO decision (term, reviewer, at, origin, undoes, batch) VALUES (?, ?, ?, 'undo', ?, ?)",
        (undone.term, undone.reviewer, now(), undone.id, undone.batch),
    )
    before = connection.execute(
        "SELECT max(id) FROM decision AS made WHERE term = ? AND reviewer = ? AND origin != 'undo' AND NOT EXISTS "
        "(SELECT 1 FROM decision WHERE undoes = made.id)",
        (undone.term, undone.reviewer),
    ).fetchone()[0]
    _set_current(connection, undone.term, undone.reviewer, before)
    present = None if before is None else decision(connection, before).to_dict()
    return {"term": undone.term, "undone": undone.to_dict(), "decision": present}


def append(
    connection: sqlite3.Connection,
    *,
    reviewer: str,
    term: int,
    verdict: Verdict,
    targets: Sequence[Target] = (),
    comment: str = "",
    origin: Origin = "review",
    batch: int | None = None,
    at: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> int:
    """Append a decision, which counts from now on, in the transaction of the caller; return its number.

    Args:
        connection: connection in a transaction.
        reviewer: reviewer checked by :func:`checked_reviewer`.
        term: number of an existing term.
        verdict: verdict checked, with the targets and the comment, by :func:`check_decision`.
        targets: the concepts.
        comment: remark to keep with the decision.
        origin: how the decision was made.
        batch: number of the first decision of a batch.
        at: time of the decision; ``None`` for now.
        details: details from the file with the decision.
    """
    cursor = connection.execute(
        "INSERT INTO decision (term, reviewer, at, origin, verdict, targets, essence, comment, batch, details) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            term,
            reviewer,
            now() if at is None else at,
            origin,
            verdict,
            json.dumps([target.to_dict() for target in targets], ensure_ascii=False),
            essence(verdict, targets),
            comment,
            batch,
            json.dumps(dict(details or {}), ensure_ascii=False),
        ),
    )
    number = cursor.lastrowid
    assert number is not None
    _set_current(connection, term, reviewer, number)
    return number


def _set_current(connection: sqlite3.Connection, term: int, reviewer: str, number: int | None) -> None:
    if number is None:
        connection.execute("DELETE FROM current WHERE term = ? AND reviewer = ?", (term, reviewer))
    else:
        connection.execute(
            "INSERT INTO current VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET decision = excluded.decision",
            (term, reviewer, number),
        )


def decision(connection: sqlite3.Connection, number: int) -> Decision:
    """Read a decision."""
    return Decision.of(connection.execute("SELECT * FROM decision WHERE id = ?", (number,)).fetchone())


def current_decision(connection: sqlite3.Connection, term: int, reviewer: str) -> Decision | None:
    """Find the decision of a reviewer on a term that counts now."""
    row = connection.execute(
        "SELECT decision.* FROM current JOIN decision ON decision.id = current.decision "
        "WHERE current.term = ? AND current.reviewer = ?",
        (term, reviewer),
    ).fetchone()
    return None if row is None else Decision.of(row)


def current_of(connection: sqlite3.Connection, term: int) -> dict[str, Decision]:
    """Find the decisions on a term that count now, by reviewer."""
    rows = connection.execute(
        "SELECT decision.* FROM current JOIN decision ON decision.id = current.decision WHERE current.term = ?",
        (term,),
    )
    return {row["reviewer"]: Decision.of(row) for row in rows}


def repeat(connection: sqlite3.Connection, made: Decision, term: int) -> None:
    """Repeat a decision for another form of its term, in the transaction of the caller."""
    append(
        connection,
        reviewer=made.reviewer,
        term=term,
        verdict=made.verdict,
        targets=made.targets,
        comment=made.comment,
        origin="form",
        at=made.at,
        details={"was": made.id},
    )


def other_forms(connection: sqlite3.Connection, term: int) -> list[int]:
    """List the other forms of a term."""
    rows = connection.execute(
        "SELECT form.id FROM term JOIN term AS form ON form.id = coalesce(term.form_of, term.id) "
        "OR form.form_of = coalesce(term.form_of, term.id) WHERE term.id = ? AND form.id != term.id "
        "ORDER BY form.id",
        (term,),
    )
    return [number for (number,) in rows]


def decide_forms(connection: sqlite3.Connection, number: int) -> None:
    """Repeat a decision for the other forms of its term, in the transaction of the caller."""
    made = decision(connection, number)
    for form in other_forms(connection, made.term):
        repeat(connection, made, form)


def require_term(connection: sqlite3.Connection, term: int) -> None:
    """Check that a term exists.

    Raises:
        UnknownTermError: no term has this number.
    """
    if connection.execute("SELECT 1 FROM term WHERE id = ?", (term,)).fetchone() is None:
        raise UnknownTermError(f"the project has no term number {term}")


def checked_reviewer(name: str) -> str:
    """Check the name of a reviewer, and reduce white space to single blanks.

    Raises:
        InputError: it is empty, too long, or not valid text.
    """
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_REVIEWER:
        raise InputError(f"a reviewer needs a name of at most {_LONGEST_REVIEWER} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InputError("the name of a reviewer has invalid characters")
    return name


def check_decision(verdict: Verdict, targets: Sequence[Target], comment: str) -> None:
    """Check that a verdict, its targets and its comment are valid.

    Raises:
        InputError: verdict and targets do not go together, or the comment is too long.
    """
    if verdict not in VERDICTS:
        raise InputError(f"a verdict must be one of {', '.join(VERDICTS)}, not {str(verdict)[:40]!r}")
    if verdict == "concept" and not targets:
        raise InputError("the verdict concept needs a target: give one, or decide nil")
    if verdict in ("nil", "open") and targets:
        raise InputError(f"the verdict {verdict} allows no targets: leave them out, or decide concept")
    if len(targets) > _MOST_TARGETS or len({target.concept_id for target in targets}) < len(targets):
        raise InputError(f"targets must be distinct concepts, at most {_MOST_TARGETS}")
    if any(target.relation not in RELATIONS for target in targets):
        raise InputError(f"the relation of a target must be one of {', '.join(RELATIONS)}")
    if any(not target.concept_id.strip() for target in targets):
        raise InputError("a target has no concept_id")
    if len(comment) > _LONGEST_COMMENT:
        raise InputError(f"a comment may have at most {_LONGEST_COMMENT:,} characters")
