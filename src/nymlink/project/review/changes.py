"""Tell what was decided since, so that the windows of several reviewers show the same."""

from __future__ import annotations

from typing import Any

from nymlink.project.model import Decision
from nymlink.project.project import Project


def changes_after(project: Project, after: int, *, limit: int = 5000) -> dict[str, Any]:
    """Tell which terms were decided after an entry of the log, and what counts for them now.

    Args:
        project: where.
        after: number of the last entry that is known; 0 for none.
        limit: how many entries at most; the rest comes when it is asked again.

    Returns:
        ``last``, the number of the last entry that is told, and ``decisions``: for each term and reviewer the
        decision that counts now, or ``None`` where all were undone.
    """
    with project.reading() as connection:
        entries = connection.execute(
            "SELECT id, term, reviewer FROM decision WHERE id > ? ORDER BY id LIMIT ?", (after, limit)
        ).fetchall()
        last = entries[-1]["id"] if entries else after
        rows = connection.execute(
            "SELECT DISTINCT changed.term AS changed_term, changed.reviewer AS changed_reviewer, decision.* "
            "FROM decision AS changed LEFT JOIN current "
            "ON current.term = changed.term AND current.reviewer = changed.reviewer "
            "LEFT JOIN decision ON decision.id = current.decision "
            "WHERE changed.id > ? AND changed.id <= ? ORDER BY decision.id",
            (after, last),
        ).fetchall()
    return {
        "last": last,
        "decisions": [
            {
                "term": row["changed_term"],
                "reviewer": row["changed_reviewer"],
                "decision": None if row["id"] is None else Decision.of(row).to_dict(),
            }
            for row in rows
        ],
    }


def last_entry(project: Project) -> int:
    """Return the number of the last entry of the log; 0 for none."""
    with project.reading() as connection:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM decision").fetchone()[0])
