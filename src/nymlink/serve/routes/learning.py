"""Learning: what a project makes of its decisions."""

from __future__ import annotations

import io
from typing import Final

from fastapi import APIRouter, Response
from pydantic import Field

from nymlink.project.learning.learn import forget, learn
from nymlink.project.learning.names_table import write_names
from nymlink.serve.routes.parts import Fields, json_answer
from nymlink.serve.routes.projects import SAME_SITE, OpenProject

router: Final = APIRouter(prefix="/projects/{name}", tags=["projects"], dependencies=[SAME_SITE])


class Learning(Fields):
    """What to do with what was decided."""

    forget: bool = Field(False, description="Forget what was learned; decisions stay.")


@router.post("/learn", summary="Learn from decisions")
def post_learn(opened: OpenProject, wanted: Learning) -> Response:
    """Learn from what was decided, or forget that; undecided terms are then linked again in the background."""
    served = opened.require_index()
    report = None
    with opened.learning, opened.linking.paused():
        if wanted.forget:
            forget(opened.project)
        else:
            report = learn(opened.project, served.index).report
    opened.linking.go_on()
    return json_answer({"learned": report, "progress": opened.linking.progress.to_dict()})


@router.get("/names", summary="Decided terms as a vocabulary table")
def names(opened: OpenProject) -> Response:
    """Answer with the table that `nymlink project learn --save-names` writes."""
    body = io.StringIO()
    write_names(opened.project, body)
    headers = {"Content-Disposition": f'attachment; filename="{opened.name}-names.tsv"'}
    return Response(body.getvalue(), media_type="text/tab-separated-values", headers=headers)
