"""Rows of the project file, and errors about projects."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from nymlink.core.errors import NymlinkError, OutputError, StoreError, UnknownNameError
from nymlink.linking.link import Relation


class ProjectError(StoreError):
    """A project file is missing, damaged, of a newer version, or not a project."""


class UnknownTermError(UnknownNameError):
    """No term of the project has this number."""


class LockedError(NymlinkError):
    """Another process has the project file open for writing."""


class ReadOnlyError(NymlinkError):
    """Nothing can be decided in this project now: it was opened for reading only, or its vocabulary differs."""


class NotSavedError(OutputError):
    """Something could not be written: the disk is full, or permission is missing. Earlier changes are kept."""


class ConflictError(NymlinkError):
    """The reviewer has seen an outdated decision.

    Args:
        message: what was wrong, and what to do.
        present: the current decision, as JSON values; ``None`` for none.
    """

    def __init__(self, message: str, present: dict[str, Any] | None) -> None:
        super().__init__(message)
        self.present = present


def stored(text: str) -> Any:
    """Read a JSON value.

    Raises:
        ProjectError: the value is damaged.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise ProjectError(f"the project file is damaged ({error}): take a copy from before") from error


Verdict = Literal["concept", "nil", "flag", "open"]
"""The term means concepts; it means none of the vocabulary; it must be looked at again; its decision was
undone."""

Origin = Literal["review", "accept", "import", "release", "form", "undo"]
"""How a decision was made: by a reviewer on this term; by accepting many terms with a high confidence; by import
from a file; by a release of the vocabulary that changed it; on another form of the term; or by undoing it."""

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
RELATIONS: Final[tuple[Relation, ...]] = ("exact", "broader", "narrower", "related", "part")
"""Relations that a reviewer may choose."""
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
CHANGES: Final = ("gone", "obsolete", "replaced", "renamed", "better")
"""Changes that another release of a vocabulary may make to a term."""


@dataclass(frozen=True, slots=True)
class Target:
    """A concept chosen for a term.

    Attributes:
        concept_id: the concept.
        name: its preferred name at that time.
        relation: relation of the concept to the term; ``"part"``: the meaning of a part of the term.
        part: text of that part, if the term was split; otherwise empty.
        denied: whether the term says that this finding is absent ("no fever").
        details: further cells of the file that it was read from, by column.
    """

    concept_id: str
    name: str = ""
    relation: Relation = "exact"
    part: str = ""
    denied: bool = False
    details: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        given = {"part": self.part, "denied": self.denied, "details": dict(self.details)}
        known = {"concept_id": self.concept_id, "name": self.name, "relation": self.relation}
        return {**known, **{name: value for name, value in given.items() if value}}


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's decision on a term.

    Attributes:
        id: its number in the project; later decisions have greater numbers.
        term: number of the term.
        reviewer: who decided.
        at: when, in milliseconds since 1970 in UTC.
        verdict: the verdict.
        targets: the concepts; for a flagged term, the concepts that it may mean.
        comment: remark of the reviewer.
        origin: how the decision was made.
        batch: number of the first decision of its batch, made and undone together; ``None`` for a single decision.
        details: further cells of the file that it was read from, by column.
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
    """Write a text that is equal for decisions that agree."""
    if verdict != "concept":
        return verdict
    signs = {False: "", True: "!"}
    return " ".join(sorted(f"{each.relation}:{signs[each.denied]}{each.concept_id}" for each in targets))
