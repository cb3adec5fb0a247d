"""Routes on concept ids: check them against names, link again after a release, roll up, and cross over."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field

from nymlink.corpus.documents import Document, Mention
from nymlink.evaluation.concordance import CANDIDATES, check_links
from nymlink.linking.link import Link
from nymlink.linking.relink import Former, relink
from nymlink.serve.answers import CheckAnswer, RecodeAnswer, RelinkAnswer, problems
from nymlink.serve.errors import ProblemError
from nymlink.serve.guards.memory import Claim
from nymlink.serve.routes.parts import Fields, Indexes, Memory, json_answer, metrics_of, require_at_most
from nymlink.serve.served import ServedIndex, labelled

router: Final = APIRouter(tags=["codes"], responses=problems())

_ROW: Final = 2048
"""Bytes of memory for the answer to a row."""

Id = Annotated[str, Field(max_length=1000)]
IndexOf = Annotated[str | None, Field(description="Name of the index; the first if not given.", max_length=200)]


class NamedId(Fields):
    """A name, and the concept id that stands beside it."""

    name: str
    id: Id


class CheckRequest(Fields):
    """Names and ids to check."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rows": [{"name": "seizures", "id": "HP:0000365"}]}]}
    )

    rows: list[NamedId] = Field(fail_fast=True)
    index: IndexOf = None


@router.post("/check", summary="Check whether names and ids agree", response_model=CheckAnswer)
def check(request: Request, what: CheckRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with a verdict on each row, in order, as `nymlink check`, and the concept to use."""
    served = indexes.named(what.index)
    _require_rows(served, [row.name for row in what.rows], claim, candidates=CANDIDATES)
    document = Document("", mentions=tuple(Mention(row.name, concept_ids=(row.id,)) for row in what.rows))
    links = served.link(document, top_k=CANDIDATES)
    _note(request, served, len(links))
    verdicts = [verdict.to_dict() for verdict in check_links(served.index, document, links)]
    for verdict in verdicts:
        del verdict["where"]
    return json_answer({"verdicts": verdicts})


class FormerLink(Fields):
    """A link to a former release."""

    mention: str
    concept_id: Id = Field("", description="Id of its concept; empty for NIL.")
    matched_name: str = Field("", description="The name that matched, if known.", max_length=10_000)


class RelinkRequest(Fields):
    """Links to a former release, and the two releases."""

    links: list[FormerLink] = Field(fail_fast=True)
    old: str = Field(description="Name of the index of the former release.", max_length=200)
    new: str = Field(description="Name of the index of the newer release.", max_length=200)


@router.post(
    "/relink", summary="Link again what a release affects", operation_id="relink", response_model=RelinkAnswer
)
def post_relink(request: Request, what: RelinkRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with the present link of each, in order, and why it was linked again, as `nymlink relink`."""
    old, new = indexes.named(what.old), indexes.named(what.new)
    _require_rows(new, [each.mention for each in what.links], claim)
    release = new.release_after(old)

    def link(mentions: list[Mention]) -> list[Link]:
        _note(request, new, len(mentions))
        return new.link(Document("", mentions=tuple(mentions)), top_k=1)

    former = [Former(each.mention, each.concept_id, each.matched_name) for each in what.links]
    return json_answer({"links": [each.to_dict() for each in relink(release, link, former)]})


class RecodeRequest(Fields):
    """Concepts to roll up, or to write with ids of other vocabularies."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ids": ["HP:0001250"], "level": 2, "to": ["UMLS"]}]}
    )

    ids: list[Id] = Field(fail_fast=True)
    slim: list[Id] = Field([], description="Roll up to these concepts.", max_length=1000)
    level: int | None = Field(
        None, ge=0, le=1000, description="Roll up to this level; 0 has the concepts at the top."
    )
    to: list[Annotated[str, Field(max_length=100)]] = Field(
        [], description="Add ids of these prefixes.", max_length=20
    )
    counts: bool = Field(False, description="Count the ids by the concepts rolled up to, instead of the rows.")
    index: IndexOf = None


@router.post(
    "/recode", summary="Roll concepts up, or cross over", operation_id="recode", response_model=RecodeAnswer
)
def recode(what: RecodeRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with a row for each id, in order, or with counts, as `nymlink recode`."""
    served = indexes.named(what.index)
    _require_rows(served, what.ids, claim)
    if what.slim and what.level is not None:
        raise _unusable("slim and level both say what to roll up to", "give one")
    if not what.slim and what.level is None and not what.to:
        raise _unusable("the request says neither what to roll up to nor a prefix", "give slim, level or to")
    if what.counts and (what.to or (not what.slim and what.level is None)):
        raise _unusable("counts goes with slim or level alone", "leave the others out")
    present = [served.vocabulary.resolve(each) for each in what.ids]
    rolling = served.roll_up(tuple(what.slim), what.level) if what.slim or what.level is not None else None
    if what.counts and rolling is not None:
        counts = rolling.counts(each for ids in present for each in ids)
        return json_answer(
            {"counts": [{**labelled(served, id_), "count": count} for id_, count in counts.items()]}
        )
    crossings = {prefix: served.crossing(prefix) for prefix in dict.fromkeys(what.to)}
    rows = []
    for given, ids in zip(what.ids, present, strict=True):
        row: dict[str, Any] = {"id": given, "concepts": [labelled(served, each) for each in ids]}
        if rolling is not None:
            above = dict.fromkeys(target for each in ids for target in rolling.of(each))
            row["rolled_up"] = [labelled(served, each) for each in above]
        row["to"] = {
            prefix: [crossed.to_dict() for each in ids for crossed in crossing.of(each)]
            for prefix, crossing in crossings.items()
        }
        rows.append(row)
    return json_answer({"rows": rows})


def _require_rows(served: ServedIndex, texts: list[str], claim: Claim, *, candidates: int = 1) -> None:
    """Check the limits of a request, and claim memory for its answer."""
    limits = served.limits
    require_at_most("too_many_mentions", "rows", len(texts), limits.mentions)
    longest = max(map(len, texts), default=0)
    require_at_most("mention_too_long", "characters in a name", longest, limits.mention_characters)
    claim.add(_ROW * len(texts) * (1 + candidates))


def _note(request: Request, served: ServedIndex, mentions: int) -> None:
    request.state.mentions = mentions
    metrics_of(request).note_mentions(served.name, mentions)


def _unusable(what: str, to_do: str) -> ProblemError:
    return ProblemError(422, "invalid_request", what, to_do)
