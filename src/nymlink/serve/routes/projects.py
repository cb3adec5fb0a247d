"""Routes of projects: list, make, add tables, link, learn, and changes."""

from __future__ import annotations

import io
from typing import Annotated, Any, Final
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import Field

from nymlink.project.acceptance import accepted_batches
from nymlink.project.add_file import add_table
from nymlink.project.export import export_formats
from nymlink.project.learn import forget, learn
from nymlink.project.lessons import write_names
from nymlink.project.reviewers import disagreements, is_hidden, set_review
from nymlink.project.summary import changes_after, summary
from nymlink.project.table_columns import preview_table
from nymlink.serve.answers import problems
from nymlink.serve.errors import ProblemError
from nymlink.serve.project_answers import (
    AddedFile,
    ChangesAnswer,
    DeletedProject,
    LearnAnswer,
    PreviewAnswer,
    ProgressAnswer,
    ProjectAnswer,
    ProjectsAnswer,
)
from nymlink.serve.routes.parts import SAME_SITE, Fields, Memory, json_answer
from nymlink.serve.served_projects import ServedProject, ServedProjects
from nymlink.serve.term_answers import DisagreementsAnswer
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import Restriction

LARGEST: Final = 2**53
"""Largest number of a term or a log entry: JavaScript is exact up to it."""


# A coroutine, since FastAPI would call a function in a thread.
async def _projects(request: Request) -> ServedProjects:
    projects: ServedProjects | None = request.app.state.projects
    if projects is None:
        raise ProblemError(404, "no_projects", "this server has no projects", "start it with --projects FOLDER")
    return projects


def _project(
    projects: Projects, name: Annotated[str, Path(description="Name of the project.", max_length=200)]
) -> ServedProject:
    return projects.named(name)


async def _body(request: Request) -> bytes:
    return await request.body()


async def _file_name(x_file_name: Annotated[str, Header(max_length=1000)] = "") -> str:
    """Read the name of the sent file from a header of our own: browsers ask before another site's page sends it.

    Raises:
        ProblemError: the header is missing.
    """
    if not x_file_name.strip():
        to_do = "send the header X-File-Name with the name of the file, percent-encoded"
        raise ProblemError(400, "no_file_name", "the file has no name", to_do)
    return unquote(x_file_name, errors="replace")


Projects = Annotated[ServedProjects, Depends(_projects)]
OpenProject = Annotated[ServedProject, Depends(_project)]
FileBody = Annotated[bytes, Depends(_body)]
FileName = Annotated[str, Depends(_file_name)]
Column = Annotated[str | None, Query(max_length=1000, description="A header, or a number from 1.")]
Setting = Annotated[str | None, Query(max_length=20)]
SheetTitle = Annotated[str, Query(max_length=200, description="Sheet of a workbook; found if not given.")]
HeaderRow = Annotated[int | None, Query(ge=1, le=1_048_576, description="Row or line of the header.")]
Number = Annotated[int, Query(ge=0, le=LARGEST)]
Viewer = Annotated[
    str, Query(max_length=200, description="Who asks. In a blind review, the answer has only their decisions.")
]

RAW: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""OpenAPI description of a file as the body."""

router: Final = APIRouter(
    prefix="/projects", tags=["projects"], dependencies=[SAME_SITE], responses=problems(projects=True)
)


class NewProject(Fields):
    """A project to make."""

    name: str = Field(description="Name of its file: letters, digits, '.', '_' and '-'.", max_length=200)
    title: str = Field("", description="Title.", max_length=300)
    index: str | None = Field(None, description="Name of the index; the first if not given.")


@router.get("", summary="List the projects", response_model=ProjectsAnswer)
def list_projects(projects: Projects) -> Response:
    """Answer with a summary of each project, or with the problem of one that cannot be opened."""
    return json_answer({"projects": list(projects.summaries())})


@router.post("", summary="Make a project", status_code=201, response_model=ProjectAnswer)
def make_project(projects: Projects, new: NewProject) -> Response:
    """Make a project without tables."""
    made = projects.create(new.name, title=new.title, index=new.index)
    return json_answer(_summary(made), status=201)


@router.post(
    "/preview",
    summary="Show how a table would be read",
    operation_id="preview_table",
    response_model=PreviewAnswer,
    openapi_extra=RAW,
)
def preview(
    claim: Memory,
    body: FileBody,
    file_name: FileName,
    encoding: Setting = None,
    delimiter: Setting = None,
    column: Column = None,
    sheet: SheetTitle = "",
    header_row: HeaderRow = None,
) -> Response:
    """Read a table without keeping it: its encoding, delimiter, columns and first rows."""
    columns = {} if column is None else {"mention": column}
    return json_answer(
        preview_table(
            body,
            file_name,
            encoding=encoding,
            delimiter=delimiter,
            columns=columns,
            sheet=sheet,
            header_row=header_row,
            claim=claim.add,
        )
    )


@router.get("/{name}", summary="Summarise a project", response_model=ProjectAnswer)
def show_project(opened: OpenProject) -> Response:
    """Answer with counts, coverage, reviewers, agreement, progress and the state of the index."""
    return json_answer(_summary(opened))


class Title(Fields):
    """Another title of a project."""

    title: str = Field(max_length=300)


@router.post(
    "/{name}/rename", summary="Rename a project", operation_id="rename_project", response_model=ProjectAnswer
)
def rename_project(opened: OpenProject, new: Title) -> Response:
    """Give a project another title. Its name in addresses stays."""
    opened.project.rename(new.title.encode("utf-8", "replace").decode())
    return json_answer(_summary(opened))


@router.delete("/{name}", summary="Delete a project", operation_id="delete_project", response_model=DeletedProject)
def delete_project(
    projects: Projects, name: Annotated[str, Path(description="Name of the project.", max_length=200)]
) -> Response:
    """Remove the file of a project, with all its decisions."""
    projects.delete(name)
    return json_answer({"deleted": name})


class Reviewing(Fields):
    """How several reviewers work together; null for no change."""

    blind: bool | None = Field(None, description="Whether reviewers see only their own decisions.")
    adjudicator: str | None = Field(
        None, description="Who decides disagreements; empty for nobody.", max_length=200
    )


@router.post(
    "/{name}/reviewers", summary="Choose how to review", operation_id="set_review", response_model=ProjectAnswer
)
def post_reviewers(opened: OpenProject, how: Reviewing) -> Response:
    """Make a review blind, or name the reviewer who decides disagreements."""
    set_review(opened.project, blind=how.blind, adjudicator=how.adjudicator)
    return json_answer(_summary(opened))


@router.get(
    "/{name}/disagreements",
    summary="List disagreements",
    operation_id="list_disagreements",
    response_model=DisagreementsAnswer,
)
def get_disagreements(opened: OpenProject, viewer: Viewer = "") -> Response:
    """Answer with the terms that wait for the adjudicator; none for a reviewer of a blind review."""
    found = [] if is_hidden(opened.project, viewer) else disagreements(opened.project)
    return json_answer({"terms": found})


Values = Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Query(max_length=1000)]


@router.post(
    "/{name}/files",
    summary="Add a table",
    operation_id="add_table",
    response_model=AddedFile,
    openapi_extra=RAW,
)
def add_file(
    opened: OpenProject,
    claim: Memory,
    body: FileBody,
    file_name: FileName,
    encoding: Setting = None,
    delimiter: Setting = None,
    column: Column = None,
    code: Column = None,
    frequency: Column = None,
    language: Column = None,
    type: Column = None,
    sheet: SheetTitle = "",
    header_row: HeaderRow = None,
    reviewer: Annotated[str, Query(max_length=100, description="Name of the person who adds it.")] = "",
    types: Values = (),
    branch: Values = (),
    ids: Values = (),
    exclude: Values = (),
    composites: Annotated[Composites, Query(description="Which cells are split into findings.")] = "given",
) -> Response:
    """Keep the rows of a table, and link its terms in the background; what they are linked to is as of `/link`."""
    served = opened.require_index()
    said = {"mention": column, "code": code, "frequency": frequency, "language": language, "type": type}
    added = add_table(
        opened.project,
        body,
        file_name,
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        header_row=header_row,
        columns={role: header for role, header in said.items() if header is not None},
        by=reviewer,
        composites=composites,
        restriction=Restriction.of(types=types, branch=branch, ids=ids, exclude=exclude),
        vocabulary=served.vocabulary,
        claim=claim.add,
    )
    opened.linking.go_on()
    return json_answer(added)


@router.post("/{name}/cancel", summary="Stop linking", operation_id="stop_linking", response_model=ProgressAnswer)
def cancel(opened: OpenProject) -> Response:
    """Stop linking until a user continues it; links found so far are kept."""
    opened.linking.cancel()
    return json_answer({"progress": opened.linking.progress.to_dict()})


@router.post(
    "/{name}/continue",
    summary="Continue linking",
    operation_id="continue_linking",
    response_model=ProgressAnswer,
)
def go_on(opened: OpenProject) -> Response:
    """Link the waiting terms."""
    opened.linking.go_on()
    return json_answer({"progress": opened.linking.progress.to_dict()})


@router.get(
    "/{name}/changes", summary="List new decisions", operation_id="list_changes", response_model=ChangesAnswer
)
def changes(opened: OpenProject, after: Number = 0, viewer: Viewer = "") -> Response:
    """Answer with the present decisions of all terms decided after an entry of the log."""
    found = changes_after(opened.project, after, viewer=viewer)
    return json_answer({**found, "progress": opened.linking.progress.to_dict()})


def _summary(opened: ServedProject) -> dict[str, Any]:
    return {
        "name": opened.name,
        **summary(opened.project),
        "index": opened.describe_index(),
        "batches": accepted_batches(opened.project),
        "formats": list(export_formats(None if opened.served is None else opened.served.vocabulary)),
        "progress": opened.linking.progress.to_dict(),
    }


learning_router: Final = APIRouter(
    prefix="/projects/{name}", tags=["projects"], dependencies=[SAME_SITE], responses=problems(projects=True)
)


class Learning(Fields):
    """A request to learn from decisions, or to forget."""

    forget: bool = Field(False, description="Forget learned names and weights; keep decisions.")


@learning_router.post("/learn", summary="Learn from decisions", operation_id="learn", response_model=LearnAnswer)
def post_learn(opened: OpenProject, wanted: Learning) -> Response:
    """Learn from decisions, or forget; then link undecided terms again in the background."""
    served = opened.require_index()
    report = None
    with opened.learning, opened.linking.paused():
        if wanted.forget:
            forget(opened.project)
        else:
            report = learn(opened.project, served.index).report
    opened.linking.go_on()
    return json_answer({"learned": report, "progress": opened.linking.progress.to_dict()})


@learning_router.get(
    "/names",
    summary="Decided terms as a vocabulary table",
    operation_id="export_names",
    response_class=Response,
    responses={200: {"content": {"text/tab-separated-values": {"schema": {"type": "string"}}}}},
)
def names(opened: OpenProject) -> Response:
    """Answer with the table that `nymlink project learn --save-names` writes."""
    body = io.StringIO()
    write_names(opened.project, body)
    headers = {"Content-Disposition": f'attachment; filename="{opened.name}-names.tsv"'}
    return Response(body.getvalue(), media_type="text/tab-separated-values", headers=headers)
