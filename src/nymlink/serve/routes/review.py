"""Routes of review: list terms, decide, undo, accept, assign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from nymlink.linking.link import Relation
from nymlink.project.acceptance import accept
from nymlink.project.decisions import decide, undo
from nymlink.project.forms import split_forms
from nymlink.project.lessons import names_given
from nymlink.project.own_concepts import add_concept, find_own_concepts, own_concepts, request_text
from nymlink.project.priorities import TARGET, prioritise
from nymlink.project.reviewers import is_hidden
from nymlink.project.rows import RELATIONS, Target, Verdict
from nymlink.project.terms import Sort, Status, TermFilter, assign, list_terms, term_details, terms_of_concept
from nymlink.serve.answers import SearchAnswer, problems
from nymlink.serve.errors import ProblemError
from nymlink.serve.routes.parts import SAME_SITE, Fields, json_answer
from nymlink.serve.routes.projects import LARGEST, Number, OpenProject, Viewer
from nymlink.serve.served import ServedIndex
from nymlink.serve.served_projects import ServedProject, describe_candidate
from nymlink.serve.term_answers import (
    AcceptAnswer,
    AssignAnswer,
    ConceptTermsAnswer,
    DecisionAnswer,
    NextTerms,
    OwnConceptAnswer,
    OwnConceptsAnswer,
    SplitAnswer,
    TermAnswer,
    TermsAnswer,
    UndoAnswer,
)

router: Final = APIRouter(
    prefix="/projects/{name}", tags=["projects"], dependencies=[SAME_SITE], responses=problems(projects=True)
)

Share = Annotated[float | None, Query(ge=0, le=1)]
Reviewer = Annotated[str, Query(max_length=200)]
Short = Annotated[str, Field(max_length=200)]


class GivenTarget(Fields):
    """A concept for a term."""

    concept_id: str = Field(max_length=1000)
    name: str = Field("", description="Ignored; the vocabulary gives the name.", max_length=10_000)
    relation: Relation = Field(
        "exact", description="Relation of the concept to the term.", json_schema_extra={"enum": list(RELATIONS)}
    )
    part: str = Field(
        "", description="The part of the term with this meaning, if it was split.", max_length=10_000
    )
    denied: bool = Field(False, description="Whether the term says that this finding is absent.")
    details: dict[Short, Annotated[str, Field(max_length=10_000)]] = Field(
        {}, description="Further cells of an imported decision, by column.", max_length=100
    )


class NewDecision(Fields):
    """A decision."""

    reviewer: str = Field(max_length=200)
    term: int = Field(ge=0, le=LARGEST)
    expects: int | None = Field(
        None, description="Number of this reviewer's last known decision; null for none.", le=LARGEST
    )
    verdict: Verdict
    targets: list[GivenTarget] = Field([], max_length=100, fail_fast=True)
    comment: str = Field("", max_length=10_000)


class NewConcept(Fields):
    """A concept for a project."""

    name: str = Field(description="Preferred name.", max_length=1000)
    parents: list[Short] = Field([], description="Ids of broader concepts.", max_length=100, fail_fast=True)
    synonyms: list[Annotated[str, Field(max_length=1000)]] = Field([], max_length=100, fail_fast=True)
    definition: str = Field("", max_length=1000)
    reviewer: str = Field("", max_length=200)


class WhichTerms(Fields):
    """A filter of terms, as for the list."""

    status: Status = "all"
    reviewer: Short = ""
    assigned: Short = ""
    text: Annotated[str, Field(max_length=2000)] = ""
    min_confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    max_confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    max_margin: Annotated[float | None, Field(ge=0)] = None
    min_frequency: Annotated[int | None, Field(ge=0, le=LARGEST)] = None


class Acceptance(Fields):
    """A request to accept links."""

    reviewer: str = Field(max_length=200)
    above: float = Field(ge=0, le=1, description="Least confidence.")
    filter: WhichTerms | None = Field(None, description="Which terms; null for all undecided ones.")
    dry_run: bool = Field(False, description="Only report the effect.")


class Assignment(Fields):
    """A request to assign terms to a reviewer."""

    reviewer: str = Field(max_length=200)
    terms: list[Annotated[int, Field(ge=0, le=LARGEST)]] | None = Field(
        None, description="Numbers of terms; null for those of the filter.", fail_fast=True, max_length=100_000
    )
    filter: WhichTerms = WhichTerms()
    share: float = Field(1.0, ge=0, le=1, description="Share of them to assign; 0 removes the assignment.")


class Undoing(Fields):
    """A request to undo decisions."""

    reviewer: str = Field(max_length=200)
    batch: int | None = Field(
        None, description="Number of an accepted batch; null for the last decision.", le=LARGEST
    )


@router.get("/terms", summary="List terms", operation_id="list_terms", response_model=TermsAnswer)
def terms(
    opened: OpenProject,
    status: Status = "all",
    q: Annotated[str, Query(max_length=2000, description="Text in a term.")] = "",
    min_confidence: Share = None,
    max_confidence: Share = None,
    max_margin: Annotated[float | None, Query(ge=0)] = None,
    min_frequency: Annotated[int | None, Query(ge=0, le=LARGEST)] = None,
    reviewer: Reviewer = "",
    assigned: Reviewer = "",
    sort: Sort = "order",
    descending: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    offset: Number = 0,
    viewer: Viewer = "",
) -> Response:
    """Answer with a page of the matching terms, and their number."""
    which = TermFilter(
        status=status,
        reviewer=reviewer,
        assigned=assigned,
        text=q,
        min_confidence=min_confidence,
        max_confidence=max_confidence,
        max_margin=max_margin,
        min_frequency=min_frequency,
    )
    return json_answer(
        list_terms(
            opened.project, which, sort=sort, descending=descending, limit=limit, offset=offset, viewer=viewer
        )
    )


@router.get(
    "/next", summary="List the terms to decide first", operation_id="list_next_terms", response_model=NextTerms
)
def next_terms(
    opened: OpenProject,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    target: Annotated[float, Query(ge=0, le=1)] = TARGET,
) -> Response:
    """Answer with the terms whose decision mends most, the number left to reach the target, and when to stop."""
    return json_answer(prioritise(opened.project, limit=limit, target=target).to_dict())


@router.get("/terms/{term}", summary="Show a term", operation_id="show_term", response_model=TermAnswer)
def term(opened: OpenProject, term: Annotated[int, Path(ge=0, le=LARGEST)], viewer: Viewer = "") -> Response:
    """Answer with the candidates of a term, the history of its decisions, and its rows."""
    shown = term_details(opened.project, term, viewer=viewer)
    link = shown.pop("link") or {"query": None, "notes": [], "candidates": []}
    candidates = [describe_candidate(opened.served, candidate) for candidate in link["candidates"]]
    return json_answer({**shown, "query": link["query"], "notes": link["notes"], "candidates": candidates})


@router.get(
    "/concepts/{concept_id:path}",
    summary="List the terms of a concept",
    operation_id="list_terms_of_concept",
    response_model=ConceptTermsAnswer,
)
def concept(opened: OpenProject, concept_id: str, viewer: Viewer = "") -> Response:
    """Answer with the terms of a concept."""
    return json_answer({"terms": terms_of_concept(opened.project, concept_id, viewer=viewer)})


@router.get(
    "/search", summary="Search concepts for a term", operation_id="search_for_term", response_model=SearchAnswer
)
def search(
    opened: OpenProject,
    q: Annotated[str, Query(description="As of `/search`, or a part of a decided term.", max_length=2000)],
    within: Annotated[str, Query(description="A semantic type, or the id of a branch.", max_length=1000)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """Find concepts as `/search` does, those of decided terms that contain the text, and added ones."""
    served = opened.require_index()
    members = served.types.members(within) if within else None
    # In a blind review, the decisions of others stay hidden.
    given = names_given(opened.project, q, limit) if q.strip() and not is_hidden(opened.project, "") else []
    rows = {each["concept_id"]: served.vocabulary.row(each["concept_id"]) for each in given}
    known = {id_ for id_, row in rows.items() if row is not None and (members is None or members[row])}
    found = served.search(q, limit, within=within)
    taught = [each for each in given if each["concept_id"] in known]
    # A name of the vocabulary that has the text comes before a decided term that has it.
    typed = q.strip().casefold()
    sure = [each for each in found[:1] if each["matched"] is None or typed in each["matched"]["text"].casefold()]
    results: dict[str, dict[str, Any]] = {}
    own = [] if within else find_own_concepts(opened.project, q, limit)
    for each in (*sure, *own, *taught, *found):
        results.setdefault(each["concept_id"], each)
    return json_answer({"results": list(results.values())[:limit]})


@router.get(
    "/concepts",
    summary="List the project's own concepts",
    operation_id="list_own_concepts",
    response_model=OwnConceptsAnswer,
)
def get_concepts(opened: OpenProject) -> Response:
    """Answer with the concepts that were added to the project."""
    return json_answer({"concepts": [each.to_dict() for each in own_concepts(opened.project)]})


@router.post(
    "/concepts",
    summary="Add a concept to the project",
    operation_id="add_own_concept",
    status_code=201,
    response_model=OwnConceptAnswer,
)
def post_concept(opened: OpenProject, new: NewConcept) -> Response:
    """Add a concept for terms whose meaning the vocabulary lacks; it is a candidate of terms linked later."""
    served = opened.require_index()
    added = add_concept(
        opened.project,
        served.vocabulary,
        new.name,
        parents=new.parents,
        synonyms=new.synonyms,
        definition=new.definition,
        reviewer=new.reviewer,
    )
    return json_answer(added.to_dict(), status=201)


@router.get(
    "/concept-requests",
    summary="Write requests for the project's own concepts",
    operation_id="request_concepts",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def concept_requests(opened: OpenProject, template: Literal["robot", "issue"] = "issue") -> Response:
    """Answer with a template of ROBOT, or with the texts of issues for the tracker of the ontology."""
    vocabulary = None if opened.served is None else opened.served.vocabulary
    return Response(request_text(opened.project, vocabulary, template), media_type="text/plain; charset=utf-8")


@router.post("/decisions", summary="Decide a term", operation_id="decide", response_model=DecisionAnswer)
def post_decision(opened: OpenProject, new: NewDecision) -> Response:
    """Save a decision; 409 if the reviewer decided the term since, with the newer decision as `present`."""
    served = opened.require_index()
    made = decide(
        opened.project,
        reviewer=new.reviewer,
        term=new.term,
        verdict=new.verdict,
        targets=_targets(opened, served, new.targets),
        comment=new.comment.encode("utf-8", "replace").decode(),
        expects=new.expects,
    )
    return json_answer({"decision": made.to_dict()})


@router.post("/undo", summary="Undo a decision", operation_id="undo_decision", response_model=UndoAnswer)
def post_undo(opened: OpenProject, what: Undoing) -> Response:
    """Undo the last decision of a reviewer, with its whole batch, or an earlier batch."""
    opened.require_index()
    return json_answer({"undone": undo(opened.project, reviewer=what.reviewer, batch=what.batch)})


class Splitting(Fields):
    """A request to decide a form of a term by itself."""

    term: int = Field(ge=0, le=LARGEST)


@router.post("/split", summary="Split forms of a term", operation_id="split_forms", response_model=SplitAnswer)
def post_split(opened: OpenProject, what: Splitting) -> Response:
    """Decide a form by itself from now on; of a listed term, decide all its forms by themselves."""
    opened.require_index()
    return json_answer({"terms": split_forms(opened.project, what.term)})


@router.post("/accept", summary="Accept confident links", operation_id="accept_links", response_model=AcceptAnswer)
def post_accept(opened: OpenProject, what: Acceptance) -> Response:
    """Accept the first candidates of undecided terms, as one batch; estimate the number of wrong ones.

    Terms that rest on an abbreviation are left out.
    """
    opened.require_index()
    which = None if what.filter is None else TermFilter(**what.filter.model_dump())
    told = accept(opened.project, reviewer=what.reviewer, above=what.above, which=which, dry_run=what.dry_run)
    return json_answer(told)


@router.post(
    "/assign", summary="Assign terms to a reviewer", operation_id="assign_terms", response_model=AssignAnswer
)
def post_assign(opened: OpenProject, what: Assignment) -> Response:
    """Assign a share of the selected terms to a reviewer, those with the fewest reviewers first."""
    opened.require_index()
    terms = TermFilter(**what.filter.model_dump()) if what.terms is None else what.terms
    return json_answer({"assigned": assign(opened.project, reviewer=what.reviewer, terms=terms, share=what.share)})


def _targets(opened: ServedProject, served: ServedIndex, given: Sequence[GivenTarget]) -> list[Target]:
    """Look up concepts of the vocabulary or of the project; raise ``ProblemError`` for an unknown id."""
    own = {each.id: each.name for each in own_concepts(opened.project)}
    targets = []
    for each in given:
        row = served.vocabulary.row(each.concept_id)
        name = own.get(each.concept_id) if row is None else served.vocabulary.preferred_name(row)
        if name is None:
            raise ProblemError(422, "unknown_concept", "no concept has this id", "look for it with /search")
        part = each.part.encode("utf-8", "replace").decode()
        targets.append(Target(each.concept_id, name, each.relation, part, each.denied, each.details))
    return targets
