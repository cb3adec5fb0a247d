"""Several reviewers: a blind review, its disagreements, and the adjudicator who decides them."""

from __future__ import annotations

from typing import Any

from nymlink.project.decisions import checked_reviewer
from nymlink.project.project import Project, store_property
from nymlink.project.rows import Decision


def set_review(project: Project, *, blind: bool | None = None, adjudicator: str | None = None) -> None:
    """Choose how several reviewers work together.

    Args:
        project: project opened for writing.
        blind: whether reviewers see only their own decisions; the adjudicator sees all. ``None`` for no change.
        adjudicator: name of the reviewer who decides disagreements; empty for nobody, ``None`` for no change.
            Without an adjudicator, the last decision on a term counts. With one, a term on which others disagree
            is open until the adjudicator decides.

    Raises:
        InputError: this is no name of a reviewer.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    name = checked_reviewer(adjudicator) if adjudicator else adjudicator
    with project.writing() as connection:
        if blind is not None:
            store_property(connection, "blind", blind)
        if name is not None:
            connection.execute("DELETE FROM adjudicator")
            connection.executemany("INSERT INTO adjudicator VALUES (?)", [(name,)] if name else [])


def adjudicator(project: Project) -> str:
    """Return the name of the reviewer who decides disagreements; empty if there is none."""
    with project.reading() as connection:
        found = connection.execute("SELECT reviewer FROM adjudicator").fetchone()
    return "" if found is None else str(found[0])


def is_hidden(project: Project, viewer: str | None) -> bool:
    """Whether a reviewer may see only their own decisions.

    Args:
        project: the project.
        viewer: the reviewer; ``None`` for a person who may see everything.
    """
    return viewer is not None and bool(project.property("blind")) and viewer != (adjudicator(project) or None)


def disagreements(project: Project) -> list[dict[str, Any]]:
    """List the terms that wait for the adjudicator, the most frequent first.

    Returns:
        For each term its ``id``, ``text`` and ``frequency``, and its ``decisions`` by reviewer, as JSON values.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.text, term.frequency, decision.* FROM disagreement "
            "JOIN term ON term.id = disagreement.term JOIN current ON current.term = term.id "
            "JOIN decision ON decision.id = current.decision "
            "WHERE decision.verdict != 'open' AND coalesce(term.form_of, term.id) = term.id "
            "ORDER BY term.frequency DESC, term.id, current.reviewer"
        ).fetchall()
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        named = {"id": row["term"], "text": row["text"], "frequency": row["frequency"], "decisions": {}}
        found.setdefault(row["term"], named)["decisions"][row["reviewer"]] = Decision.of(row).to_dict()
    return list(found.values())
