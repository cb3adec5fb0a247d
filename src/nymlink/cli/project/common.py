"""What the commands of projects share: the argument, the index of a project, linking with progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from nymlink.cli.common import finish, reported_problems
from nymlink.core.errors import StoreError
from nymlink.index.index import Index
from nymlink.linking.default import default_index
from nymlink.project.errors import ReadOnlyError
from nymlink.project.index_reference import ADVICE, DEFAULT, IndexReference, vocabulary_digest
from nymlink.project.learning.learned import Learned, LearnedLinker
from nymlink.project.linking import count_progress, link_waiting
from nymlink.project.project import Project

project_argument = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")


def index_option(help: str) -> Callable[[Any], Any]:
    """Make the option ``--index PATH``."""
    return click.option("--index", type=click.Path(path_type=Path), help=help)


def reviewer_option(help: str, *, required: bool = False) -> Callable[[Any], Any]:
    """Make the option ``--reviewer NAME``."""
    if required:
        return click.option("--reviewer", metavar="NAME", required=True, help=help)
    return click.option("--reviewer", metavar="NAME", default="", help=help)


def open_index(path: Path | None) -> tuple[IndexReference, Index]:
    """Open an index, or the embedded default, and describe it.

    Raises:
        StoreError: it is missing or damaged.
    """
    if path is None:
        index = default_index(progress=True)
        return IndexReference(DEFAULT, "", vocabulary_digest(index.vocabulary), "hp"), index
    index = Index.load(path)
    return IndexReference.of(path.resolve().name, index), index


def index_of(project: Project, moved: Path | None = None) -> Index:
    """Open the index that a project is linked to.

    Args:
        project: the project.
        moved: where the index is now; ``None`` for where it was.

    Raises:
        ReadOnlyError: it is gone, or has another vocabulary.
    """
    wanted = project.index
    path = moved or (Path(wanted.path) if wanted.path else None)
    if moved is None and wanted.name == DEFAULT and path is not None and not path.exists():
        # Another version of nymlink keeps the embedded default elsewhere.
        path = None
    try:
        _, index = open_index(path)
    except StoreError as error:
        raise ReadOnlyError(f"{ADVICE['gone']} ({error})", path=project.path) from error
    state = wanted.state(vocabulary_digest(index.vocabulary))
    if state != "same":
        raise ReadOnlyError(ADVICE[state], path=project.path)
    return index


def link_terms(project: Project, index: Index) -> None:
    """Link the terms of a project that wait, with progress on a terminal; Ctrl-C loses nothing that is linked."""
    linker = LearnedLinker(index, Learned.of(project))
    before = count_progress(project)
    bar = tqdm(total=before.total, initial=before.done, desc="linking", disable=None, leave=False)
    with bar:

        def report(done: int, _: float) -> None:
            bar.update(before.done + done - bar.n)

        link_waiting(project, linker.link, report=report)
    after = count_progress(project)
    failed = f", {after.failed:,} cannot be linked" if after.failed else ""
    click.echo(f"{after.done - before.done:,} terms linked{failed}", err=True)


def finish_with(problems: dict[str, Any]) -> None:
    """Print the first problems of a file, and exit with status 1 if something was rejected."""
    reported = reported_problems()
    for problem in problems["first"]:
        report = reported.reject if problem["rejected"] else reported.repair
        report(problem["path"], problem["line"], problem["message"])
    reported.rejected, reported.repaired = problems["rejected"], problems["repaired"]
    finish(reported)
