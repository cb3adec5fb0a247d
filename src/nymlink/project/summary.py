"""Sum a project up: what is linked, what is decided, by whom, and how much of the tables that covers."""

from __future__ import annotations

from typing import Any

from nymlink.project.linking import count_progress
from nymlink.project.project import Project
from nymlink.project.review.agreement import agreements
from nymlink.project.review.changes import last_entry
from nymlink.project.stored_json import stored


def short_summary(project: Project) -> dict[str, Any]:
    """Sum a project up in a line of a list."""
    with project.reading() as connection:
        terms, rows = connection.execute("SELECT count(*), coalesce(sum(rows), 0) FROM term").fetchone()
        decided, rows_decided = connection.execute(
            "SELECT count(*), coalesce(sum(term.rows), 0) FROM settled JOIN term ON term.id = settled.term "
            "JOIN decision ON decision.id = settled.decision WHERE decision.verdict IN ('concept', 'nil')"
        ).fetchone()
    return {
        "title": project.title,
        "index": project.index.name,
        "terms": terms,
        "rows": rows,
        "decided": decided,
        "rows_decided": rows_decided,
        "created": project.created,
    }


def summary(project: Project) -> dict[str, Any]:
    """Sum a project up.

    Returns:
        That of :func:`short_summary`; ``states`` (of linking) and ``verdicts`` with their numbers of terms;
        ``coverage``: the shares of terms, rows and occurrences (``frequency``) that are given a concept or none;
        ``reviewers`` with their numbers of decided and assigned terms; ``agreement`` of each two;
        ``disagreements``; ``changed``, what another release changed; ``files``; ``last``, the last entry of the
        log; ``learned``, from what and how well, or ``None``; ``progress`` of linking.
    """
    with project.reading() as connection:
        states = dict(connection.execute("SELECT state, count(*) FROM term GROUP BY state").fetchall())
        verdicts = dict(
            connection.execute(
                "SELECT coalesce(decision.verdict, 'open'), count(*) FROM term "
                "LEFT JOIN settled ON settled.term = term.id LEFT JOIN decision ON decision.id = settled.decision "
                "GROUP BY 1"
            ).fetchall()
        )
        whole = connection.execute(
            "SELECT count(*), coalesce(sum(rows), 0), coalesce(sum(frequency), 0) FROM term"
        ).fetchone()
        covered = connection.execute(
            "SELECT count(*), coalesce(sum(term.rows), 0), coalesce(sum(term.frequency), 0) FROM settled "
            "JOIN term ON term.id = settled.term JOIN decision ON decision.id = settled.decision "
            "WHERE decision.verdict IN ('concept', 'nil')"
        ).fetchone()
        reviewers = connection.execute(
            "SELECT name, (SELECT count(*) FROM current JOIN decision ON decision.id = current.decision "
            "WHERE current.reviewer = name AND decision.verdict != 'open') AS decided, "
            "(SELECT count(*) FROM assignment WHERE reviewer = name) AS assigned "
            "FROM (SELECT reviewer AS name FROM current UNION SELECT reviewer FROM assignment) ORDER BY name"
        ).fetchall()
        disagreements = connection.execute("SELECT count(*) FROM disagreement").fetchone()[0]
        changed = connection.execute(
            "SELECT kind, count(DISTINCT term) FROM release_change GROUP BY kind"
        ).fetchall()
        files = connection.execute(
            "SELECT id, name, reading, imported_at, imported_by, (SELECT count(*) FROM row WHERE file = file.id) "
            "AS rows FROM file ORDER BY id"
        ).fetchall()
    names = ("terms", "rows", "frequency")
    return {
        **short_summary(project),
        "states": {state: states.get(state, 0) for state in ("waiting", "linked", "failed")},
        "verdicts": {verdict: verdicts.get(verdict, 0) for verdict in ("concept", "nil", "flag", "open")},
        "coverage": {
            name: part / all_ if all_ else 0.0 for name, part, all_ in zip(names, covered, whole, strict=True)
        },
        "reviewers": [dict(row) for row in reviewers],
        "agreement": agreements(project),
        "disagreements": disagreements,
        "changed": dict(changed),
        "learned": _learned(project),
        "files": [{**dict(row), "reading": stored(row["reading"])} for row in files],
        "last": last_entry(project),
        "progress": count_progress(project).to_dict(),
    }


def _learned(project: Project) -> Any:
    """Say what the project has learned, as far as that can be read."""
    value = project.property("learned")
    return value.get("report") if isinstance(value, dict) else None
