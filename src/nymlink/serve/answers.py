"""The answers of all routes as types, for the description of the API; no answer is checked against them."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field

# Pydantic needs it before Python 3.12.
from typing_extensions import TypedDict

from nymlink.linking.link import Relation
from nymlink.linking.link import Verdict as LinkVerdict
from nymlink.project.index_reference import IndexState
from nymlink.project.rows import Origin, Verdict


class Problem(TypedDict):
    """An error: what was wrong, and what to do."""

    status: Annotated[int, Field(description="HTTP status.")]
    code: Annotated[str, Field(description="The kind of error, one word for programs.")]
    what: Annotated[str, Field(description="The cause.")]
    what_to_do: Annotated[str, Field(description="Advice.")]
    present: NotRequired[
        Annotated[Decision | None, Field(description="The current decision, for the code conflict.")]
    ]


class MatchedName(TypedDict):
    """A name of a concept."""

    text: str
    concept_id: str
    lang: Annotated[str, Field(description="BCP 47 code, und if unknown.")]
    kind: str
    source: str


class LinkCandidate(TypedDict):
    """A concept that a mention may mean, and why."""

    concept_id: str
    concept_name: str
    matched: MatchedName
    score: Annotated[float, Field(description="Similarity, 1 for the best possible; no probability.")]
    parts: Annotated[dict[str, float], Field(description="The score of each search.")]
    contradiction: str | None


class StatedDrug(TypedDict):
    """What a mention says of a drug beside its name."""

    name: str
    strength: float | None
    unit: str | None
    quantity: str | None
    form: str | None
    route: str | None
    frequency: str | None
    salt: str | None


class LinkReview(TypedDict):
    """The decision of a person about a link."""

    decision: LinkVerdict
    relations: list[Relation]
    reviewer: str
    decided_at: str
    comment: str


class MentionLink(TypedDict):
    """A mention with the concepts it may mean."""

    document_id: NotRequired[str]
    start: NotRequired[Annotated[int, Field(description="Offset of the first character, in code points.")]]
    end: NotRequired[int]
    spans: NotRequired[list[list[int]]]
    mention_id: NotRequired[str]
    text: NotRequired[Annotated[str, Field(description="The mention, as found in a text.")]]
    concept_id: NotRequired[Annotated[str | None, Field(description="The meaning of a found mention.")]]
    mention: str
    query: Annotated[str, Field(description="The text that was searched for.")]
    confidence: Annotated[float | None, Field(description="Probability of the first candidate to be right.")]
    negated: NotRequired[bool]
    family: NotRequired[bool]
    hypothetical: NotRequired[bool]
    historical: NotRequired[bool]
    triggers: NotRequired[Annotated[dict[str, str], Field(description="For each flag that is set, its words.")]]
    nil: bool
    guessed: bool
    notes: list[str]
    candidates: Annotated[list[LinkCandidate], Field(description="Best first.")]
    parts: Annotated[list[MentionLink], Field(description="Links of the parts of a composite mention.")]
    drug: NotRequired[StatedDrug]
    review: NotRequired[LinkReview]


class LinksAnswer(TypedDict):
    """A link for each mention, in order."""

    links: list[MentionLink]


class Reference(TypedDict):
    """The id and the name of a concept, a type or a property."""

    id: str
    name: str


class ConceptName(TypedDict):
    """A name and its kind."""

    text: str
    kind: str


class ConceptAnswer(TypedDict):
    """A concept with its names, relatives and cross-references."""

    id: str
    name: str
    semantic_types: list[str]
    xrefs: list[str]
    parents: list[Reference]
    definition: str | None
    obsolete: bool
    replaced_by: list[str]
    source: str
    names: Annotated[dict[str, list[ConceptName]], Field(description="Names by language.")]
    children: Annotated[list[Reference], Field(description="The first 1,000.")]
    children_count: int


class FoundConcept(TypedDict):
    """A concept for typed text."""

    concept_id: str
    concept_name: str
    matched: MatchedName | None


class SearchAnswer(TypedDict):
    """Concepts for typed text, best first."""

    results: list[FoundConcept]


class HealthAnswer(TypedDict):
    """The state of the server."""

    status: Literal["ok"]
    version: str
    indexes: list[str]


class VocabularySource(TypedDict):
    """A source of a vocabulary."""

    name: str
    format: str
    file: str
    sha256: str
    version: str | None
    licence: str | None
    prefixes: NotRequired[Any]


class IndexDescription(TypedDict):
    """An index."""

    name: str
    sources: list[VocabularySource]
    settings: dict[str, Any]
    concepts: int
    names: int
    languages: dict[str, int]
    semantic_types: dict[str, int]
    encoder: str | None
    calibrated: bool
    match_confidence: float | None


class IndexesAnswer(TypedDict):
    """The indexes; the first is the default."""

    indexes: list[IndexDescription]


# Reconciliation; the specifications allow further fields.


class Manifest(TypedDict):
    """The manifest of a reconciliation service."""

    versions: list[str]
    name: str
    identifierSpace: NotRequired[str]
    schemaSpace: NotRequired[str]
    documentation: str
    serviceVersion: str
    logo: str
    view: dict[str, str]
    defaultTypes: list[Reference]
    batchSize: int
    standardizedScore: NotRequired[bool]
    suggest: dict[str, Any]
    preview: dict[str, Any]
    extend: dict[str, Any]
    authentication: NotRequired[dict[str, str]]


class Feature(TypedDict):
    """A feature of a candidate."""

    id: str
    name: str
    value: float | bool


class ReconciliationCandidate(TypedDict):
    """A candidate of a query."""

    id: str
    name: str
    description: NotRequired[str]
    type: list[Reference]
    score: float
    features: list[Feature]
    match: bool


class ClassicResult(TypedDict):
    """The candidates of a query in version 0.2."""

    result: list[ReconciliationCandidate]
    error: NotRequired[str]


class DraftResult(TypedDict):
    """The candidates of a query in the draft of 1.0."""

    candidates: list[ReconciliationCandidate]
    error: NotRequired[str]


class DraftResults(TypedDict):
    """The candidates of each query, in order."""

    results: list[DraftResult]


class ClassicExtension(TypedDict):
    """Values of properties: concept → property → values."""

    meta: list[Reference]
    rows: dict[str, dict[str, list[dict[str, str]]]]


class PropertyValues(TypedDict):
    """The values of a property."""

    id: str
    values: list[dict[str, str]]


class DraftRow(TypedDict):
    """The values of a concept."""

    id: str
    properties: list[PropertyValues]


class DraftExtension(TypedDict):
    """Values of properties, a row for each concept."""

    meta: list[Reference]
    rows: list[DraftRow]


class Suggestion(TypedDict):
    """A suggested concept, type or property."""

    id: str
    name: str
    description: NotRequired[str]
    notable: NotRequired[list[Reference]]
    broader: NotRequired[list[Reference]]


class Suggestions(TypedDict):
    """Suggestions, best first."""

    result: list[Suggestion]


class Flyout(TypedDict):
    """A description in HTML."""

    id: str
    html: str


class ProposedProperties(TypedDict):
    """Properties of concepts of a type."""

    properties: list[Suggestion]
    type: NotRequired[str]
    limit: NotRequired[int]


# Projects.


class Decision(TypedDict):
    """A reviewer's decision on a term."""

    id: int
    term: int
    reviewer: str
    at: Annotated[int, Field(description="Milliseconds since 1970 in UTC.")]
    verdict: Verdict
    targets: list[DecisionTarget]
    comment: str
    origin: Origin
    undone: NotRequired[bool]


class DecisionTarget(TypedDict):
    """A concept chosen for a term."""

    concept_id: str
    name: str
    relation: Relation
    details: NotRequired[dict[str, str]]


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
    """A project in a list; with a problem, values may be missing."""

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


class Agreement(TypedDict):
    """The agreement of two reviewers."""

    reviewers: list[str]
    terms: int
    agree: int
    kappa: Annotated[float | None, Field(description="Cohen's kappa.")]


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
    changed: dict[str, int]
    learned: Lessons | None
    files: list[ProjectFile]
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


class ShortCandidate(TypedDict):
    """A candidate in a list."""

    id: str
    name: str
    score: float
    confidence: float | None


class ListedTerm(TypedDict):
    """A term in a list."""

    id: int
    text: str
    frequency: int | None
    language: str
    type: str
    state: Literal["waiting", "linked", "failed"]
    confidence: float | None
    margin: float | None
    nil: bool | None
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


class TermAnswer(TypedDict):
    """A term with its candidates, decisions and rows."""

    id: int
    text: str
    frequency: int | None
    language: str
    type: str
    state: Literal["waiting", "linked", "failed"]
    confidence: float | None
    margin: float | None
    nil: bool | None
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


class AcceptAnswer(TypedDict):
    """Numbers of accepted terms and rows, and of terms expected to be wrong."""

    terms: int
    rows: int
    expected_wrong: float


class AssignAnswer(TypedDict):
    """The number of assigned terms."""

    assigned: int


_EVERYWHERE: Final = {
    400: "The request cannot be read.",
    401: "The request has no valid token.",
    404: "Something of this name, or this id, does not exist.",
    408: "The body took too long to arrive.",
    413: "The request is too large.",
    415: "The body has another content type than JSON.",
    421: "The server is not known by this name.",
    422: "A value is wrong.",
    500: "The server failed, or an index is damaged.",
    501: "A package is missing on the server.",
    503: "The server is busy, or stops; try again later.",
}
_OF_PROJECTS: Final = {
    403: "A page of another site may not change projects.",
    409: "Another decision was made since, or the project is read-only.",
    423: "Another process has the project open.",
    507: "Nothing can be saved.",
}


def problems(*, projects: bool = False) -> dict[int | str, dict[str, Any]]:
    """Declare the errors of a route: :class:`Problem` with each status."""
    statuses = _EVERYWHERE | (_OF_PROJECTS if projects else {})
    return {status: {"model": Problem, "description": statuses[status]} for status in sorted(statuses)}


_TOKEN: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A line of the file of `nymlink serve --token-file`; without that option none is needed.",
}


def complete_description(api: dict[str, Any], *, token: bool) -> None:
    """Add to an OpenAPI description what FastAPI does not know.

    Args:
        api: the description, which is changed.
        token: whether requests need a token, which a guard checks.
    """
    api["components"]["securitySchemes"] = {"token": _TOKEN}
    api["security"] = [{"token": []}] if token else [{}, {"token": []}]
    api["paths"]["/health"]["get"]["security"] = []
    for methods in api["paths"].values():
        for method, route in methods.items():
            # Requests without a body cannot have a wrong one.
            for status in ("408", "415") if method == "get" else ():
                del route["responses"][status]
            for status, answer in route["responses"].items():
                if int(status) >= 400:
                    # Also of routes whose answers are no JSON.
                    answer["content"] = {"application/json": next(iter(answer["content"].values()))}


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
