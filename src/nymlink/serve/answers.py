"""Types of answers, for the description of the API. No answer is checked against them.

Answers about projects are in :mod:`nymlink.serve.project_answers` and :mod:`nymlink.serve.term_answers`, those of
the reconciliation service in :mod:`nymlink.serve.reconcile_answers`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field, TypeAdapter

# Pydantic needs it before Python 3.12.
from typing_extensions import TypedDict

from nymlink.linking.link import Relation
from nymlink.linking.link import Verdict as LinkVerdict
from nymlink.project.rows import Origin, Verdict


class Problem(TypedDict):
    """An error: what was wrong, and what to do."""

    status: Annotated[int, Field(description="HTTP status.")]
    code: Annotated[str, Field(description="The kind of error, one word for programs.")]
    what: Annotated[str, Field(description="The cause.")]
    what_to_do: Annotated[str, Field(description="Advice.")]
    request_id: Annotated[str, Field(description="Id of the request, as in X-Request-ID and in the server's log.")]
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


class MentionDomain(TypedDict):
    """The vocabulary that a mention is guessed to belong to, in an index of several."""

    name: Annotated[str, Field(description="Prefix of its ids.")]
    confidence: Annotated[float | None, Field(description="Probability that the concept is in it.")]
    nearest: Annotated[int, Field(description="Number of its concepts among the nearest ones.")]
    of: Annotated[int, Field(description="Number of the nearest concepts.")]


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
    domain: NotRequired[MentionDomain]
    drug: NotRequired[StatedDrug]
    review: NotRequired[LinkReview]


class LinksAnswer(TypedDict):
    """A link for each mention, in order."""

    links: list[MentionLink]
    judge: NotRequired[Annotated[str, Field(description="Address of the model asked about doubtful links.")]]


class Reference(TypedDict):
    """The id and the name of a concept, a type or a property."""

    id: str
    name: str


class NameVerdict(TypedDict):
    """Whether a name and a concept id agree."""

    name: str
    stated: Annotated[str, Field(description="The id that stands beside the name.")]
    verdict: Literal[
        "agrees",
        "similar",
        "missing",
        "unknown",
        "obsolete",
        "replaced",
        "opposite",
        "broader",
        "narrower",
        "other",
        "unlike",
    ]
    concept_id: Annotated[str | None, Field(description="The concept to use instead.")]
    concept_name: str | None
    confidence: float | None


class CheckAnswer(TypedDict):
    """A verdict on each row, in order."""

    verdicts: list[NameVerdict]


class RelinkedMention(TypedDict):
    """A former link after a release."""

    why: Annotated[str, Field(description="How the release affects it; empty if it does not.")]
    concept_id: Annotated[str, Field(description="Id of the concept; empty for NIL.")]
    concept_name: str
    confidence: float | None
    matched_name: Annotated[str, Field(description="Name that matched in the new link; empty if there is none.")]
    score: float | None


class RelinkAnswer(TypedDict):
    """The present link of each former one, in order."""

    links: list[RelinkedMention]


class CrossedId(TypedDict):
    """An id of another vocabulary for a concept."""

    id: str
    kind: Literal["exact", "narrow", "close", "xref", "related", "broad"]
    via: Annotated[str, Field(description="The concept that has the id: itself, or the nearest above.")]
    steps: Annotated[int, Field(description="Number of levels between them.")]
    source: Annotated[str, Field(description="File of the mapping; empty for a cross-reference.")]
    loss: Annotated[str, Field(description="What is lost, in words; empty if nothing is.")]


class RecodedId(TypedDict):
    """A concept, those it is rolled up to, and its ids of other prefixes."""

    id: str
    concepts: Annotated[list[Reference], Field(description="The present concepts; empty for an unknown id.")]
    rolled_up: NotRequired[list[Reference]]
    to: Annotated[dict[str, list[CrossedId]], Field(description="Ids by prefix, the closest first.")]


class CountedConcept(TypedDict):
    """A concept rolled up to; without an id and a name for concepts below none."""

    id: str
    name: str
    count: int


class RecodeAnswer(TypedDict):
    """A row for each id, in order; or counts, the highest first."""

    rows: NotRequired[list[RecodedId]]
    counts: NotRequired[list[CountedConcept]]


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
    """The state of the server: building until all indexes are open."""

    status: Literal["ok", "building"]
    version: str
    indexes: list[str]


class ReloadedIndex(TypedDict):
    """An index after a reload."""

    name: str
    changed: Annotated[bool, Field(description="Whether its folder has another release.")]


class ReloadAnswer(TypedDict):
    """The indexes after a reload."""

    indexes: list[ReloadedIndex]


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
    parts: Annotated[list[Reference], Field(description="Types, then the largest branches, to search in.")]
    encoder: str | None
    calibrated: bool
    match_confidence: float | None


class IndexesAnswer(TypedDict):
    """The indexes, the first is the default; and the model that requests may have asked."""

    indexes: list[IndexDescription]
    judge: Annotated[str | None, Field(description="Its address; null if the server asks none.")]


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
    part: NotRequired[str]
    denied: NotRequired[bool]
    details: NotRequired[dict[str, str]]


_EVERYWHERE: Final = {
    400: "The request cannot be read.",
    401: "The request has no valid token.",
    404: "Something of this name, or this id, does not exist.",
    408: "The body took too long to arrive.",
    413: "The request is too large.",
    415: "The body has another content type than JSON.",
    421: "The server is not known by this name.",
    422: "A value is wrong.",
    429: "The token has sent its requests of this minute; Retry-After says when to go on.",
    500: "The server failed, or an index is damaged.",
    501: "A package is missing on the server.",
    503: "The server starts, is busy, or stops; try again later.",
}
_OF_PROJECTS: Final = {
    403: "A page of another site may change nothing here.",
    409: "Another decision was made since, or the project is read-only.",
    423: "Another process has the project open.",
    507: "Nothing can be saved.",
}


def problems(*, projects: bool = False) -> dict[int | str, dict[str, Any]]:
    """Declare the errors of a route: :class:`Problem` with each status.

    By reference: FastAPI makes a schema of a model anew for each status of each route, hundreds of times, and the
    first request waits for that.
    """
    statuses = _EVERYWHERE | (_OF_PROJECTS if projects else {})
    content = {"application/json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}}}
    return {status: {"description": statuses[status], "content": content} for status in sorted(statuses)}


_REFERENCE: Final = "#/components/schemas/{model}"


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
    problem = TypeAdapter(Problem).json_schema(ref_template=_REFERENCE, mode="serialization")
    api["components"]["schemas"] |= {**problem.pop("$defs", {}), "Problem": problem}
    api["components"]["securitySchemes"] = {"token": _TOKEN}
    api["security"] = [{"token": []}] if token else [{}, {"token": []}]
    for path in ("/health", "/ready"):
        api["paths"][path]["get"]["security"] = []
    for methods in api["paths"].values():
        for method, route in methods.items():
            # Requests without a body cannot have a wrong one.
            for status in ("408", "415") if method == "get" else ():
                del route["responses"][status]
