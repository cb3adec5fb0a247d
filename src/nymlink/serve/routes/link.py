"""Routes that link and annotate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import ConfigDict, Field

from nymlink.core.errors import InputError
from nymlink.core.language_codes import language_of
from nymlink.corpus.documents import Document, Mention
from nymlink.index.entries.entries import Entries
from nymlink.linking.cells import split_mention
from nymlink.linking.judge import Judge
from nymlink.linking.link import Link
from nymlink.linking.linker import cut
from nymlink.linking.several import best_of
from nymlink.serve.answers import LinksAnswer, problems
from nymlink.serve.errors import ProblemError, json_bytes
from nymlink.serve.routes.parts import (
    ANNOTATE_ANSWER,
    ANNOTATE_REQUEST,
    LINK_ANSWER,
    LINK_REQUEST,
    Fields,
    Indexes,
    Memory,
    json_answer,
    judge_of,
    metrics_of,
    require_at_most,
)
from nymlink.serve.serve_settings import Limits
from nymlink.serve.served import ServedIndex
from nymlink.vocabulary.restriction import Restriction

router: Final = APIRouter(responses=problems())

_CHARACTER: Final = 512
"""Most bytes of memory for the links of a character, including their part of the answer."""


class AnnotateRequest(Fields):
    """A text to annotate."""

    model_config = ConfigDict(json_schema_extra={"examples": [ANNOTATE_REQUEST]})

    text: str
    index: str | None = Field(None, description="Name of the index; the first if not given.")
    language: str | None = Field(None, description="Code of its language; auto detects it; en if not given.")


@router.post(
    "/annotate",
    tags=["link"],
    summary="Find mentions in a text",
    response_model=LinksAnswer,
    responses={200: {"content": {"application/json": {"example": ANNOTATE_ANSWER}}}},
)
def annotate(request: Request, what: AnnotateRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with a link for each mention, in the order of the text: `{"links": [...]}`."""
    served = indexes.named(what.index)
    require_at_most("text_too_long", "characters in text", len(what.text), served.limits.text_characters)
    claim.add(_CHARACTER * len(what.text))
    links = served.annotate(what.text, _language(what.language) or "en")
    request.state.mentions = len(links)
    metrics_of(request).note_mentions(served.name, len(links))
    return json_answer({"links": [link.to_dict() for link in links]})


_FEW: Final = 50
"""Most links of an answer written in the event loop."""

_CANDIDATE: Final = 2048
"""Bytes of memory for a candidate, including its part of the answer."""


Values = Annotated[
    tuple[Annotated[str, Field(max_length=1000)], ...] | Annotated[str, Field(max_length=1000)],
    Field(max_length=1000),
]


class LocatedMention(Fields):
    """A mention with its offsets in a text and its language."""

    text: str
    start: int | None = Field(None, description="Offset of its first character in `text`, in Unicode code points.")
    end: int | None = Field(None, description="Offset one past its last character.")
    language: str | None = Field(None, description="Code of its language, such as en; auto detects it.")


class LinkRequest(Fields):
    """Mentions to link."""

    model_config = ConfigDict(json_schema_extra={"examples": [LINK_REQUEST]})

    mentions: list[str | LocatedMention | None] = Field(
        description="Missing ones (null) have an empty link.", fail_fast=True
    )
    index: str | Annotated[list[str], Field(min_length=1, max_length=20)] | None = Field(
        None,
        description="Name of the index; the first if not given. Of several, each gives its best, the one of the "
        "highest confidence first.",
    )
    top_k: int = Field(1, ge=1, description="Most candidates of a mention.")
    language: str | None = Field(None, description="Default language code of mentions; auto detects it for each.")
    composites: Literal["given", "always"] = Field(
        "given", description='"always" splits a mention of several names ("fever, cough and rash") into its parts.'
    )
    types: Values = Field((), description="Link to concepts of these semantic types only.")
    branch: Values = Field((), description="Link to these concepts, given by id, and those below them only.")
    ids: Values = Field((), description="Link to these concepts only.")
    exclude: Values = Field(
        (), description="Never link to these concepts or those below them; or, given a name, by this name."
    )
    text: str = Field("", description="The text around the mentions; its definitions of abbreviations apply.")
    judge: bool = Field(
        False,
        description="Whether the model of the server (see `/indexes`) is asked about links of low confidence, and "
        "gets their mentions, sentences and candidates.",
    )


@router.post(
    "/link",
    tags=["link"],
    summary="Link mentions to concepts",
    response_model=LinksAnswer,
    responses={200: {"content": {"application/json": {"example": LINK_ANSWER}}}},
)
async def link(request: Request, what: LinkRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with a link for each mention, in order: `{"links": [...]}`."""
    names = list(dict.fromkeys(what.index)) if isinstance(what.index, list) else [what.index]
    chosen = [indexes.named(name) for name in names]
    _require_comparable(chosen)
    request.state.mentions = len(what.mentions)
    _require_within(what, chosen[0].limits)
    judge = _judge(request, chosen) if what.judge else None
    most = what.top_k if judge is None else max(what.top_k, judge.candidates)
    until = time.monotonic() + chosen[0].limits.answer_seconds
    language = _language(what.language)
    mentions = tuple(_mention(mention, language) for mention in what.mentions)
    restriction = Restriction.of(types=what.types, branch=what.branch, ids=what.ids, exclude=what.exclude)
    documents, most_parts = [], 0
    for served in chosen:
        own = mentions
        if what.composites == "always":
            own = await run_in_threadpool(_split, mentions, served.index.entries)
        parts = sum(max(len(mention.parts), 1) for mention in own)
        require_at_most("too_many_mentions", "mentions and parts", parts, served.limits.mentions)
        claim.add(_CANDIDATE * parts * (1 + min(most, len(served.vocabulary))))
        most_parts = max(most_parts, parts)
        documents.append(Document("", what.text, own))
    each = await asyncio.gather(
        *(
            served.link_soon(document, top_k=most, restriction=restriction)
            for served, document in zip(chosen, documents, strict=True)
        )
    )
    for served in chosen:
        metrics_of(request).note_mentions(served.name, len(mentions))
    links = each[0] if len(each) == 1 else list(map(best_of, zip(*each, strict=True)))
    if judge is not None:
        [judged] = await run_in_threadpool(judge.judge, documents, [links], chosen[0].vocabulary, until=until)
        links = [cut(each, what.top_k) for each in judged]
    at = None if judge is None else judge.settings.endpoint
    return _answer(links, at) if most_parts <= _FEW else await run_in_threadpool(_answer, links, at)


def _split(mentions: Sequence[Mention], entries: Entries) -> tuple[Mention, ...]:
    return tuple(split_mention(mention, entries) for mention in mentions)


def _judge(request: Request, chosen: Sequence[ServedIndex]) -> Judge:
    """Get the judge of the server for a request to some indexes."""
    judge = judge_of(request)
    if judge is None:
        raise ProblemError(422, "no_judge", "this server asks no model", "leave judge out; or serve with --judge")
    if len(chosen) > 1:
        what = "what a judge puts first has no confidence to compare with other indexes"
        raise ProblemError(422, "judge_of_several", what, "ask one index; or leave judge out")
    if chosen[0].index.calibration is None:
        what = f"a judge is asked about links of low confidence, and {chosen[0].name} is not calibrated"
        raise ProblemError(422, "not_calibrated", what, "leave judge out; or run `nymlink calibrate`")
    return judge


def _require_comparable(chosen: Sequence[ServedIndex]) -> None:
    """Check that the confidences of several indexes can be compared."""
    for served in chosen if len(chosen) > 1 else ():
        if served.index.calibration is None:
            what = f"several indexes are compared by confidence, and {served.name} is not calibrated"
            raise ProblemError(422, "not_calibrated", what, "ask one index; or run `nymlink calibrate`")


def _answer(links: Sequence[Link], judge: str | None) -> Response:
    # One by one, because Python values take many times the memory of JSON.
    written = b", ".join(json_bytes(link.to_dict()) for link in links)
    asked = b"" if judge is None else b', "judge": ' + json_bytes(judge)
    return Response(b'{"links": [' + written + b"]" + asked + b"}", media_type="application/json")


def _mention(mention: str | LocatedMention | None, language: str | None) -> Mention:
    if isinstance(mention, LocatedMention):
        own = _language(mention.language) if mention.language else language
        return Mention(mention.text, mention.start, mention.end, language=own)
    return Mention(mention or "", language=language)


def _language(code: str | None) -> str | None:
    """Normalise a language code."""
    try:
        return language_of(code)
    except InputError:
        raise ProblemError(
            422, "unknown_language", "language is no language code", "give one like en or pt-BR, or auto"
        ) from None


def _require_within(what: LinkRequest, limits: Limits) -> None:
    """Check the limits of a request."""
    require_at_most("too_many_mentions", "mentions", len(what.mentions), limits.mentions)
    longest = max((len(_text(mention)) for mention in what.mentions), default=0)
    require_at_most("mention_too_long", "characters in a mention", longest, limits.mention_characters)
    require_at_most("text_too_long", "characters in text", len(what.text), limits.text_characters)
    require_at_most("too_many_candidates", "candidates (top_k)", what.top_k, limits.top_k, status=422)


def _text(mention: Any) -> str:
    return mention.text if isinstance(mention, LocatedMention) else mention or ""
