"""Files of a project: export and import of decisions, and another release of its vocabulary."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock, get_ident
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import TEXT_ERRORS
from nymlink.project.export import export_formats, export_project
from nymlink.project.import_decisions import import_decisions
from nymlink.project.index_reference import IndexReference
from nymlink.project.rebase import rebase
from nymlink.project.report import STYLE, write_report
from nymlink.serve.answers import problems
from nymlink.serve.batching import OverloadedError
from nymlink.serve.errors import ProblemError
from nymlink.serve.project_answers import ImportAnswer, RebaseAnswer
from nymlink.serve.routes.parts import SAME_SITE, Fields, Memory, indexes_of, json_answer
from nymlink.serve.routes.projects import RAW, Column, FileBody, FileName, OpenProject, Setting

router: Final = APIRouter(
    prefix="/projects/{name}", tags=["projects"], dependencies=[SAME_SITE], responses=problems(projects=True)
)

_MEDIA: Final = {
    "csv": "text/csv",
    "usagi": "text/csv",
    "source-to-concept-map": "text/csv",
    "tsv": "text/tab-separated-values",
    "sssom": "text/tab-separated-values",
    "table": "text/plain",
    "jsonl": "application/x-ndjson",
    "fhir-r4b": "application/fhir+json",
    "fhir-r5": "application/fhir+json",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_BINARY: Final = "application/octet-stream"
_FILE: Final = {"type": "string", "format": "binary"}
_ENDINGS: Final = {
    "csv-excel": ".csv",
    "source-to-concept-map": ".csv",
    "fhir-r4b": ".json",
    "fhir-r5": ".json",
    "table": ".txt",
}
"""Endings of files whose format states none."""

_OF_BYTE: Final = 8
"""Bytes of memory of an export for each byte of its project."""

_WARNING: Final = Lock()
"""Lock: warnings are caught for the whole process, so for one request at a time."""

_WAITING: Final = 60.0
"""Seconds to wait for this lock."""


class NewRelease(Fields):
    """Another index for a project."""

    index: str | None = Field(None, description="Name of the index; that of the project if not given.")


def _ending(format: str, *, guesses: bool) -> str:
    """Write the end of a file name, which differs for each export."""
    own = next(iter(LINK_FORMATS.get(format).endings), "")
    return ("-with-guesses" if guesses else "") + (own or f"-{format}{_ENDINGS.get(format, '')}")


@router.get(
    "/export",
    summary="Export a project",
    operation_id="export_project",
    response_class=Response,
    responses={200: {"content": {kind: {"schema": _FILE} for kind in sorted({*_MEDIA.values(), _BINARY})}}},
)
def export(
    opened: OpenProject,
    claim: Memory,
    format: Annotated[str, Query(max_length=50, description="Name of a format of links.")],
    guesses: Annotated[bool, Query(description="Also first candidates of undecided terms, marked.")] = False,
    limit: Annotated[int | None, Query(ge=1, le=1000, description="Only the first rows, as a preview.")] = None,
) -> Response:
    """Answer with a file of all rows and the decisions, or of the mappings of decided terms.

    Warnings, for example of cells that a spreadsheet would run, are in the header X-Warnings, one per line,
    percent-encoded.
    """
    if format not in export_formats():
        known = ", ".join(export_formats())
        raise ProblemError(422, "unknown_format", "there is no such format of links", f"ask for one of: {known}")
    vocabulary = None if opened.served is None else opened.served.vocabulary
    claim.add(_OF_BYTE * opened.project.path.stat().st_size)
    # In memory: a killed process would leave a file.
    body = io.BytesIO()
    is_binary = LINK_FORMATS.get(format).target == "binary"
    out = body if is_binary else io.TextIOWrapper(body, "utf-8", TEXT_ERRORS, newline="", write_through=True)
    with _own_warnings() as caught:
        export_project(opened.project, out, format=format, vocabulary=vocabulary, guesses=guesses, limit=limit)
    headers = {"Content-Disposition": f'attachment; filename="{opened.name}{_ending(format, guesses=guesses)}"'}
    if caught:
        headers["X-Warnings"] = quote("\n".join(caught))
    return Response(body.getvalue(), media_type=_MEDIA.get(format, _BINARY), headers=headers)


_DIGEST: Final = b64encode(sha256(STYLE.encode()).digest()).decode()
_REPORT_POLICY: Final = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


@router.get("/report", summary="Report on a review", operation_id="report_on_project", response_class=HTMLResponse)
def report(opened: OpenProject) -> Response:
    """Answer with a page to print: coverage, reviewers, agreement, confidences, speed, and open disagreements."""
    out = io.StringIO()
    write_report(opened.project, out)
    return HTMLResponse(out.getvalue(), headers={"Content-Security-Policy": _REPORT_POLICY})


@contextmanager
def _own_warnings() -> Iterator[list[str]]:
    """Collect the warnings of this request, and show those of others as usual."""
    if not _WARNING.acquire(timeout=_WAITING):
        raise OverloadedError(f"other exports have taken {_WAITING:g} seconds")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            shown, thread = warnings.showwarning, get_ident()
            caught: list[str] = []

            def show(message: Warning | str, *where: Any, **more: Any) -> None:
                if get_ident() == thread:
                    caught.append(str(message))
                else:
                    shown(message, *where, **more)

            warnings.showwarning = show
            yield caught
    finally:
        _WARNING.release()


@router.post(
    "/import",
    summary="Import decisions",
    operation_id="import_decisions",
    response_model=ImportAnswer,
    openapi_extra=RAW,
)
def import_(
    opened: OpenProject,
    claim: Memory,
    body: FileBody,
    file_name: FileName,
    reviewer: Annotated[str, Query(max_length=100, description="Reviewer, if the file names none.")] = "",
    encoding: Setting = None,
    delimiter: Setting = None,
    column: Column = None,
) -> Response:
    """Apply the decisions of Usagi, SSSOM, a ConceptMap of FHIR, an export, or another project."""
    served = opened.require_index()
    return json_answer(
        import_decisions(
            opened.project,
            body,
            file_name,
            vocabulary=served.vocabulary,
            reviewer=reviewer,
            encoding=encoding,
            delimiter=delimiter,
            column=column,
            claim=claim.add,
        )
    )


@router.post(
    "/rebase",
    summary="Apply decisions to another release",
    operation_id="rebase",
    response_model=RebaseAnswer,
)
def post_rebase(request: Request, opened: OpenProject, new: NewRelease) -> Response:
    """Link a project to another index; report the changes to decided concepts."""
    indexes = indexes_of(request)
    served = indexes.named(new.index or opened.project.index.name)
    with opened.linking.paused():
        changed = rebase(opened.project, IndexReference.of(served.name, served.index), served.vocabulary)
        opened.find_index(indexes)
    opened.linking.go_on()
    return json_answer({"changed": changed})
