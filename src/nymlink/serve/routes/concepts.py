"""`GET /concepts/{id}`: what is known of a concept."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Response

from nymlink.serve.concept_details import describe_concept
from nymlink.serve.routes.examples import CONCEPT_ANSWER
from nymlink.serve.routes.parts import IndexName, indexes_of, json_answer
from nymlink.serve.served import ServedIndexes

router: Final = APIRouter()


@router.get(
    "/concepts/{concept_id:path}",
    tags=["vocabulary"],
    summary="Describe a concept",
    responses={200: {"content": {"application/json": {"example": CONCEPT_ANSWER}}}},
)
def concept(
    indexes: Annotated[ServedIndexes, Depends(indexes_of)],
    concept_id: Annotated[str, Path(description="The id; a former one leads to what it stands for now.")],
    index: IndexName = None,
) -> Response:
    """Answer with its names by language, parents, children, cross-references and definition."""
    return json_answer(describe_concept(indexes.named(index), concept_id))
