"""What decisions teach: which terms mean which concepts, or none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from nymlink.corpus.model import Mention
from nymlink.project.links import mention_of
from nymlink.project.model import Target
from nymlink.project.project import Project

_LOOKED_AT: Final = ("review", "import", "release")
"""Origins of decisions that somebody made looking at the term: the others only say again what the linker said."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A decided term.

    Attributes:
        mention: the term.
        targets: the concepts that it means; none where it means none of the vocabulary.
        looked_at: whether somebody looked at it; not where it was accepted with many others.
    """

    mention: Mention
    targets: tuple[Target, ...]
    looked_at: bool


def lessons(project: Project) -> list[Lesson]:
    """List what was decided, the last at the end; not what was flagged, or what reviewers disagree on."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.text, term.language, term.type, decision.targets, decision.origin "
            "FROM settled JOIN decision ON decision.id = settled.decision JOIN term ON term.id = settled.term "
            "WHERE decision.verdict IN ('concept', 'nil') "
            "AND settled.term NOT IN (SELECT term FROM disagreement) ORDER BY decision.id"
        ).fetchall()
    return [
        Lesson(
            mention_of(row["text"], row["language"], row["type"]),
            tuple(Target(**target) for target in json.loads(row["targets"])),
            row["origin"] in _LOOKED_AT,
        )
        for row in rows
    ]
