"""Types of answers about projects, for the description of the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

# Pydantic needs it before Python 3.12.
from typing_extensions import TypedDict

from nymlink.project.index_reference import IndexState
from nymlink.serve.answers import Decision


class LinkingProgress(TypedDict):
    """Progress of linking."""

    done: int
    total: int
    failed: int
    per_second: float | None
    state: Literal["linking", "done", "stopped", "waiting"]
    problem: str | None


class ProgressAnswer(TypedDict):
    """Progress of linking."""

    progress: LinkingProgress


class ProjectLine(TypedDict):
    """A project in a list. If the project cannot be read (``problem``), other values may be missing."""

    name: str
    title: str
    index: str | None
    terms: int | None
    rows: int | None
    decided: int | None
    rows_decided: int | None
    created: int | None
    problem: str | None


class ProjectsAnswer(TypedDict):
    """All projects."""

    projects: list[ProjectLine]


class DeletedProject(TypedDict):
    """The name of a deleted project."""

    deleted: str


class ProjectIndex(TypedDict):
    """The index of a project."""

    name: str
    served_as: str | None
    sources: str
    state: IndexState
    what_to_do: str | None


class ReviewerCounts(TypedDict):
    """The numbers of a reviewer's terms."""

    name: str
    decided: int
    assigned: int


class PartAgreement(TypedDict):
    """The agreement of two reviewers on a part of decisions: the verdict, the concept, or its relation."""

    terms: int
    agree: int
    kappa: Annotated[float | None, Field(description="Cohen's kappa.")]


class Agreement(PartAgreement):
    """The agreement of two reviewers."""

    reviewers: list[str]
    parts: dict[str, PartAgreement]


class ProjectFile(TypedDict):
    """A table of a project."""

    id: int
    name: str
    reading: dict[str, Any]
    imported_at: int
    imported_by: str
    rows: int


class Proof(TypedDict):
    """A cross-validated measure before and after learning."""

    before: float
    after: float
    taken: bool


class Lessons(TypedDict):
    """What a project has learned."""

    terms: int
    names: int
    nil: int
    looked_at: int
    ranker: Proof | None
    confidence: Proof | None
    seconds: float
    at: NotRequired[int]
    last: NotRequired[int]


class AcceptedBatch(TypedDict):
    """Terms that were accepted together; those decided again since do not count."""

    batch: int
    reviewer: str
    at: int
    terms: int


class ProjectAnswer(TypedDict):
    """A project."""

    name: str
    title: str
    index: ProjectIndex
    terms: int
    rows: int
    decided: int
    rows_decided: int
    created: int
    states: dict[str, int]
    verdicts: dict[str, int]
    coverage: dict[str, float]
    reviewers: list[ReviewerCounts]
    agreement: list[Agreement]
    disagreements: int
    blind: bool
    adjudicator: Annotated[str, Field(description="Who decides disagreements; empty for nobody.")]
    changed: dict[str, int]
    learned: Lessons | None
    files: list[ProjectFile]
    batches: list[AcceptedBatch]
    formats: Annotated[list[str], Field(description="Formats of export that fit the vocabulary.")]
    last: int
    progress: LinkingProgress


class TableProblem(TypedDict):
    """A problem of a table."""

    path: str | None
    line: int | None
    message: str
    rejected: bool


class TableProblems(TypedDict):
    """The problems of a table: their numbers, and the first ones."""

    rejected: int
    repaired: int
    first: list[TableProblem]


class ColumnDescription(TypedDict):
    """A column of a table."""

    name: str
    samples: list[str]
    distinct: int


class PreviewAnswer(TypedDict):
    """How a table would be read."""

    format: str
    encoding: str | None
    delimiter: str | None
    sheets: Annotated[list[str], Field(description="Sheets of a workbook.")]
    sheet: str
    header_row: int | None
    guessed: list[str]
    columns: list[ColumnDescription]
    column: str
    code: NotRequired[str | None]
    frequency: NotRequired[str | None]
    language: NotRequired[str | None]
    type: NotRequired[str | None]
    rows: list[list[str]]
    total_rows: int
    problems: TableProblems


class AppliedDecisions(TypedDict):
    """Numbers of decisions that a file states."""

    stated: int
    new: int
    unknown_terms: int
    unknown_concepts: list[str]


class ImportAnswer(AppliedDecisions):
    """What an import did."""

    problems: TableProblems


class AddedFile(TypedDict):
    """A table that was added."""

    file: int
    rows: int
    terms: int
    new_terms: int
    decided: int
    decisions: NotRequired[AppliedDecisions]
    problems: TableProblems


class ChangedDecision(TypedDict):
    """The present decision of a reviewer on a term; null if it was undone."""

    term: int
    reviewer: str
    decision: Decision | None


class ChangesAnswer(TypedDict):
    """New decisions."""

    last: int
    decisions: list[ChangedDecision]
    progress: LinkingProgress


class LearnAnswer(TypedDict):
    """What was learned; null after forgetting."""

    learned: Lessons | None
    progress: LinkingProgress


class RebaseAnswer(TypedDict):
    """Numbers of terms that another release changed, by the kind of change."""

    changed: dict[str, int]
