"""Rows of a project, and errors about them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

from nymlink.core.errors import NymlinkError, OutputError, StoreError, UnknownNameError


class ProjectError(StoreError):
    """A project file that is missing, damaged, of a newer version, or none."""


class UnknownTermError(UnknownNameError):
    """A number that no term of the project has."""


class LockedError(NymlinkError):
    """A project file that another process writes to."""


class ReadOnlyError(NymlinkError):
    """A project in which nothing can be decided now: it was opened to read, or its vocabulary is not the same."""


class NotSavedError(OutputError):
    """Something could not be written: the disk is full, or not ours to write. What was saved before is kept."""


class ConflictError(NymlinkError):
    """A decision made on what is no longer so.

    Args:
        message: what was wrong, and what to do.
        present: the decision that there is now, as JSON values; ``None`` for none.
    """

    def __init__(self, message: str, present: dict[str, Any] | None) -> None:
        super().__init__(message)
        self.present = present


def stored(text: str) -> Any:
    """Read a value.

    Raises:
        ProjectError: it is damaged.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ProjectError(f"the project file is damaged ({error}): take a copy from before") from error


Verdict = Literal["concept", "nil", "flag", "open"]
"""The term means concepts; none of the vocabulary; is to be looked at again; is not decided any more."""

Relation = Literal["exact", "broader", "narrower", "related"]
"""How a concept is to a term: it is what the term means, broader, narrower, or related."""

Origin = Literal["review", "accept", "import", "release", "undo"]
"""A reviewer decided this term; or many that were sure enough; it was read from a file; a release of the
vocabulary changed what was decided; or it was undone."""

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
RELATIONS: Final[tuple[Relation, ...]] = get_args(Relation)
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
CHANGES: Final = ("gone", "obsolete", "replaced", "renamed", "better")
"""What another release of a vocabulary may change for a term."""


@dataclass(frozen=True, slots=True)
class Target:
    """A concept that a term was given.

    Attributes:
        concept_id: the concept.
        name: its preferred name when it was given.
        relation: how it is to the term.
        details: what a file that it was read from says of it, by that file's columns.
    """

    concept_id: str
    name: str = ""
    relation: Relation = "exact"
    details: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = asdict(self)
        if not value["details"]:
            del value["details"]
        return value


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer decided of a term.

    Attributes:
        id: its number in the project; later ones are greater.
        term: number of the term.
        reviewer: who decided.
        at: when, in milliseconds since 1970 in UTC.
        verdict: what.
        targets: the concepts; of a flagged term those that it may mean.
        comment: what the reviewer said of it.
        origin: how it came about.
        batch: number of the first decision of those that were made, and are undone, at once; ``None`` for one
            alone.
        details: what a file that it was read from says of it, by that file's columns.
    """

    id: int
    term: int
    reviewer: str
    at: int
    verdict: Verdict
    targets: tuple[Target, ...] = ()
    comment: str = ""
    origin: Origin = "review"
    batch: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, row: sqlite3.Row) -> Decision:
        """Read a row of the table of decisions."""
        return cls(
            row["id"],
            row["term"],
            row["reviewer"],
            row["at"],
            row["verdict"],
            tuple(Target(**target) for target in stored(row["targets"])),
            row["comment"],
            row["origin"],
            row["batch"],
            stored(row["details"]),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "term": self.term,
            "reviewer": self.reviewer,
            "at": self.at,
            "verdict": self.verdict,
            "targets": [target.to_dict() for target in self.targets],
            "comment": self.comment,
            "origin": self.origin,
        }


def essence(verdict: Verdict, targets: Sequence[Target]) -> str:
    """Write what two decisions must have in common to agree."""
    if verdict != "concept":
        return verdict
    return " ".join(sorted(f"{target.relation}:{target.concept_id}" for target in targets))
