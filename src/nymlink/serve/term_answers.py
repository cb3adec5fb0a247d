"""Types of answers about the terms of projects, for the description of the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

# Pydantic needs it before Python 3.12.
from typing_extensions import TypedDict

from nymlink.serve.answers import Decision, DecisionTarget, Reference


class ShortCandidate(TypedDict):
    """A candidate in a list."""

    id: str
    name: str
    score: float
    confidence: float | None


class TermState(TypedDict):
    """A term with the state of its link."""

    id: int
    text: str
    frequency: int | None
    language: str
    type: str
    state: Literal["waiting", "linked", "failed"]
    confidence: float | None
    margin: float | None
    nil: bool | None


class TermForm(TypedDict):
    """Another form of a term, which is decided with it."""

    id: int
    text: str
    language: str
    frequency: int


class TermPart(TypedDict):
    """A finding in a term with several, with the ids of its candidates."""

    text: str
    denied: bool
    candidates: list[str]


class FormsAndParts(TermState):
    """A term with its forms and parts."""

    forms: list[TermForm]
    parts: list[TermPart]
    suggested: Annotated[list[DecisionTarget], Field(description="Concepts of the parts, to accept together.")]


class ListedTerm(FormsAndParts):
    """A term in a list."""

    candidates: list[ShortCandidate]
    decisions: Annotated[dict[str, Decision], Field(description="By reviewer.")]
    carried: bool


class TermsAnswer(TypedDict):
    """A page of terms, and the number of all that match."""

    total: int
    terms: list[ListedTerm]


class ConceptTermsAnswer(TypedDict):
    """The terms of a concept."""

    terms: list[ListedTerm]


class ShownCandidate(TypedDict):
    """A candidate with its relatives."""

    id: str
    name: str
    matched: str
    language: str
    kind: str
    score: float
    parts: dict[str, float]
    contradiction: str | None
    definition: str | None
    parents: list[Reference]
    children: list[Reference]
    children_count: int
    obsolete: bool | None


class ReleaseChange(TypedDict):
    """A change of a decided concept by another release."""

    kind: str
    concept_id: str
    concept_name: str
    now: Any


class TermRow(TypedDict):
    """A row of a table."""

    file: str
    number: int
    code: str
    header: list[str]
    cells: list[str]


class TermAnswer(FormsAndParts):
    """A term with its candidates, decisions and rows."""

    candidates: list[ShownCandidate]
    decisions: dict[str, Decision]
    carried: bool
    row_count: int
    assigned: list[str]
    history: list[Decision]
    changed: list[ReleaseChange]
    rows: list[TermRow]
    query: str | None
    notes: list[str]


class DecisionAnswer(TypedDict):
    """The decision as it was saved."""

    decision: Decision


class UndoneDecision(TypedDict):
    """A decision that was undone, and the reviewer's decision on the term now."""

    term: int
    undone: Decision
    decision: Decision | None


class UndoAnswer(TypedDict):
    """What was undone."""

    undone: list[UndoneDecision]


class SplitAnswer(TypedDict):
    """Numbers of the terms that are decided by themselves now."""

    terms: list[int]


class Disagreement(TypedDict):
    """A term on which reviewers disagree."""

    id: int
    text: str
    frequency: int
    decisions: Annotated[dict[str, Decision], Field(description="By reviewer.")]


class DisagreementsAnswer(TypedDict):
    """The terms that wait for the adjudicator, the most frequent first."""

    terms: list[Disagreement]


class AcceptedTerm(TypedDict):
    """A term and the concept that is accepted for it."""

    id: int
    text: str
    frequency: int
    confidence: float
    concept_id: str
    name: str


class AcceptAnswer(TypedDict):
    """Numbers of accepted terms and rows, and of terms expected to be wrong."""

    terms: int
    rows: int
    expected_wrong: float
    abbreviations: Annotated[int, Field(description="Terms that rest on an abbreviation and are left out.")]
    batch: Annotated[int | None, Field(description="Number of the batch, to undo it.")]
    sample: Annotated[list[AcceptedTerm], Field(description="Up to 20 terms, the least confident first.")]


class AssignAnswer(TypedDict):
    """The number of assigned terms."""

    assigned: int


class NextTerm(TypedDict):
    """A term to decide first."""

    id: int
    text: str
    frequency: int
    confidence: float
    gain: Annotated[float, Field(description="Expected number of wrong occurrences that the decision mends.")]


class NextTerms(TypedDict):
    """The terms to decide first, and how much is left."""

    terms: list[NextTerm]
    right: Annotated[list[float], Field(description="Share of occurrences that are right, and its 90 % interval.")]
    left: Annotated[list[int], Field(description="Decisions left until the target, and their 90 % interval.")]
    target: float
    stop: Annotated[bool, Field(description="Whether the lower end of the interval has reached the target.")]
    decided: int


class OwnConceptAnswer(TypedDict):
    """A concept that was added to a project."""

    id: str
    name: str
    parents: list[str]
    synonyms: list[str]
    definition: str
    reviewer: str
    at: int


class OwnConceptsAnswer(TypedDict):
    """The concepts that were added to a project."""

    concepts: list[OwnConceptAnswer]
