"""Summarise a project: coverage, changes, agreement of reviewers (Cohen's kappa)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from nymlink.project.links import count_progress
from nymlink.project.project import Project
from nymlink.project.reviewers import adjudicator, is_hidden
from nymlink.project.rows import Decision, stored


def agreements(project: Project) -> list[dict[str, Any]]:
    """Measure the agreement of each pair of reviewers with decisions on the same terms, without the adjudicator.

    Other forms of a term do not count.

    Returns:
        For each pair: ``reviewers``; ``terms``, the number of terms that both decided on; ``agree``, the number on
        which they agree; ``kappa``, ``None`` if all their decisions are the same; and ``parts``, the same three
        numbers for each part of a decision: ``verdict``, then ``concept`` for terms to which both gave one, then
        ``relation`` for terms to which both gave the same.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT current.term, current.reviewer, decision.verdict, decision.essence FROM current "
            "JOIN decision ON decision.id = current.decision JOIN term ON term.id = current.term "
            "WHERE decision.verdict != 'open' AND coalesce(term.form_of, term.id) = term.id "
            "AND current.reviewer NOT IN (SELECT reviewer FROM adjudicator)"
        ).fetchall()
    decided: dict[str, dict[int, tuple[str, str]]] = defaultdict(dict)
    for term, reviewer, verdict, essence in rows:
        decided[reviewer][term] = (verdict, essence)
    pairs = []
    for first, second in combinations(sorted(decided), 2):
        both = sorted(decided[first].keys() & decided[second].keys())
        if both:
            pairs.append(
                {
                    "reviewers": [first, second],
                    **_agreement([(decided[first][term], decided[second][term]) for term in both]),
                }
            )
    return pairs


Said = tuple[str, str]
"""A verdict and the essence of a decision."""


def _agreement(pairs: Sequence[tuple[Said, Said]]) -> dict[str, Any]:
    """Count the agreement of two reviewers, on whole decisions and on their parts."""

    def counted(labels: Sequence[tuple[str, str]]) -> dict[str, Any]:
        agree = sum(one == other for one, other in labels)
        return {"terms": len(labels), "agree": agree, "kappa": cohens_kappa(labels) if labels else None}

    given = [(one, other) for (verdict, one), (same, other) in pairs if verdict == same == "concept"]
    concepts = [(_concepts(one), _concepts(other)) for one, other in given]
    relations = [pair for pair, (one, other) in zip(given, concepts, strict=True) if one == other]
    parts = {
        "verdict": counted([(one, other) for (one, _), (other, _) in pairs]),
        "concept": counted(concepts),
        "relation": counted([(_relations(one), _relations(other)) for one, other in relations]),
    }
    return {**counted([(one, other) for (_, one), (_, other) in pairs]), "parts": parts}


def _concepts(essence: str) -> str:
    return " ".join(sorted(target.partition(":")[2].removeprefix("!") for target in essence.split(" ")))


def _relations(essence: str) -> str:
    return " ".join(f"{each.partition(':')[0]}{'!' * (':!' in each)}" for each in essence.split(" "))


def cohens_kappa(labels: Sequence[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa, the agreement beyond chance: 1 for complete agreement, 0 for agreement by chance.

    Args:
        labels: for each term the decisions of both reviewers.

    Returns:
        Kappa; ``None`` if chance alone would give complete agreement.
    """
    total = len(labels)
    agreed = sum(one == other for one, other in labels) / total
    first, second = Counter(one for one, _ in labels), Counter(other for _, other in labels)
    by_chance = sum(first[label] * second[label] for label in first) / total**2
    return None if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


def changes_after(project: Project, after: int, *, viewer: str | None = None, limit: int = 5000) -> dict[str, Any]:
    """List the terms decided after an entry of the log, with the current decisions.

    Args:
        project: the project.
        after: number of the last known entry; 0 for none.
        viewer: reviewer who asks; see :func:`nymlink.project.reviewers.is_hidden`.
        limit: largest number of entries; call again for the rest.

    Returns:
        ``last``, the number of the last entry that is included, and ``decisions``: for each term and reviewer the
        decision that counts now, or ``None`` if all were undone.
    """
    hidden = is_hidden(project, viewer)
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
            if not hidden or row["changed_reviewer"] == viewer
        ],
    }


def last_entry(project: Project) -> int:
    """Return the number of the last entry of the log; 0 for none."""
    with project.reading() as connection:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM decision").fetchone()[0])


def short_summary(project: Project) -> dict[str, Any]:
    """Summarise a project for one line of a list."""
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
    """Summarise a project.

    Returns:
        The values of :func:`short_summary`; ``states`` (of linking) and ``verdicts`` with their numbers of terms;
        ``coverage``: shares of terms, rows and occurrences (``frequency``) with the verdict concept or nil;
        ``reviewers`` with their numbers of decided and assigned terms; ``agreement`` of each pair;
        ``disagreements``; ``blind`` and ``adjudicator``, see :func:`nymlink.project.reviewers.set_review`;
        ``changed``, changes by another release; ``files``; ``last``, the last entry of the log;
        ``learned``, the report of learning, or ``None``; ``progress`` of linking.
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
        "blind": bool(project.property("blind")),
        "adjudicator": adjudicator(project),
        "changed": dict(changed),
        "learned": _learned(project),
        "files": [{**dict(row), "reading": stored(row["reading"])} for row in files],
        "last": last_entry(project),
        "progress": count_progress(project).to_dict(),
    }


def _learned(project: Project) -> Any:
    """Return the report of what the project has learned, if it can be read."""
    value = project.property("learned")
    return value.get("report") if isinstance(value, dict) else None
