"""Learning: what a project makes of its decisions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from nymlink.core.errors import NymlinkError
from nymlink.project.learning.learn import forget, learn
from nymlink.project.learning.names_table import write_names
from nymlink.serve.routes.parts import json_answer
from nymlink.serve.routes.projects import SAME_SITE, OpenProject

router: Final = APIRouter(prefix="/projects/{name}", tags=["projects"], dependencies=[SAME_SITE])


class Learning(BaseModel):
    """What to do with what was decided."""

    model_config = ConfigDict(extra="forbid")

    forget: bool = Field(False, description="Forget what was learned; decisions stay.")


@router.post("/learn", summary="Learn from decisions")
def post_learn(opened: OpenProject, wanted: Learning) -> Response:
    """Learn from what was decided, or forget that; undecided terms are then linked again in the background."""
    served = opened.require_index()
    with opened.learning:
        opened.linking.end()
        report = None
        try:
            if wanted.forget:
                forget(opened.project)
            else:
                report = learn(opened.project, served.index).report
        except NymlinkError:
            opened.linking.resume(served)
            raise
        opened.linking.go_on(served)
    return json_answer({"learned": report, "progress": opened.linking.progress.to_dict()})


@router.get("/names", summary="Decided terms as a vocabulary table")
def names(opened: OpenProject) -> Response:
    """Answer with the table that `nymlink project learn --save-names` writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "names.tsv"
        write_names(opened.project, file)
        body = file.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{opened.name}-names.tsv"'}
    return Response(body, media_type="text/tab-separated-values", headers=headers)
