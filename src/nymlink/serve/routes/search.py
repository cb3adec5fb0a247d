"""`GET /search`: complete what is being typed to concepts."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from nymlink.serve.routes.examples import SEARCH_ANSWER
from nymlink.serve.routes.parts import Indexes, IndexName, json_answer

router: Final = APIRouter()


@router.get(
    "/search",
    tags=["vocabulary"],
    summary="Complete a name or an id",
    responses={200: {"content": {"application/json": {"example": SEARCH_ANSWER}}}},
)
def search(
    indexes: Indexes,
    q: Annotated[str, Query(description="The beginning of a name, of a later word of it, or of an id.")],
    index: IndexName = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """Find concepts by what is typed: best first, each with the name that matched, or `null` where its id did."""
    found = indexes.named(index).completer.complete(q, limit)
    results = [
        {
            "concept_id": completion.concept_id,
            "concept_name": completion.concept_name,
            "matched": None if completion.matched is None else completion.matched.to_dict(),
        }
        for completion in found
    ]
    return json_answer({"results": results})
