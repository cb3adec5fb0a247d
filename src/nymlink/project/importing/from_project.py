"""Read the decisions of another project."""

from __future__ import annotations

from collections.abc import Iterator

from nymlink.project.importing.stated import StatedDecision
from nymlink.project.model import Decision
from nymlink.project.project import Project


def project_decisions(other: Project) -> Iterator[StatedDecision]:
    """Yield the decisions that count now, of each reviewer on each term."""
    with other.reading() as connection:
        rows = connection.execute(
            "SELECT decision.*, term.text FROM current JOIN decision ON decision.id = current.decision "
            "JOIN term ON term.id = current.term WHERE decision.verdict != 'open' ORDER BY decision.id"
        ).fetchall()
    for row in rows:
        made = Decision.of(row)
        yield StatedDecision(
            made.id, row["text"], made.verdict, made.targets, made.reviewer, made.at, made.comment
        )
