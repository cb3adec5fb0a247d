"""`GET /concepts/{id}`: what is known of a concept."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Response

from nymlink.serve.concept_details import describe_concept
from nymlink.serve.routes.examples import CONCEPT_ANSWER
from nymlink.serve.routes.parts import Indexes, IndexName, json_answer

router: Final = APIRouter()


@router.get(
    "/concepts/{concept_id:path}",
    tags=["vocabulary"],
    summary="Describe a concept",
    responses={200: {"content": {"application/json": {"example": CONCEPT_ANSWER}}}},
)
def concept(
    indexes: Indexes,
    concept_id: Annotated[str, Path(description="The id; a former one leads to what it stands for now.")],
    index: IndexName = None,
) -> Response:
    """Answer with its names by language, parents, children, cross-references and definition."""
    return json_answer(describe_concept(indexes.named(index), concept_id))
