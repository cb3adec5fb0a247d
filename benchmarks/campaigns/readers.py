"""Name all readers of files, and call each as the commands do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.campaigns.small_project import make_project
from nymlink.bulk.row_formats import ROW_FORMATS, read_rows
from nymlink.bulk.sources import cut_sources, open_sources
from nymlink.cli.link.input_rows import line_batches, open_table
from nymlink.core.files import open_buffered
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.pairs.pair_files import read_pairs
from nymlink.project.import_decisions import import_decisions
from nymlink.project.project import Project
from nymlink.project.table_columns import find_roles
from nymlink.tables.sheet import read_sheet
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

Read = Callable[[Path, Problems], None]
"""Reads a source to its end."""


def _vocabulary(format: str, path: Path, problems: Problems) -> None:
    read_vocabulary(path, format=format, problems=problems)


def _corpus(format: str, path: Path, problems: Problems) -> None:
    for document in read_documents(path, format=format, problems=problems):
        # Text that cannot be written again is no text.
        (document.text or "").encode()
        for mention in document.mentions:
            "".join((mention.text, *mention.concept_ids)).encode()


def _mappings(path: Path, problems: Problems) -> None:
    read_mappings(path, problems=problems)


def _rows(format: str, path: Path, problems: Problems) -> None:
    for shard in cut_sources(open_sources([path], column="text", given=False, further={}, format=format), 4):
        for row in read_rows(shard):
            row.text.encode()
            if row.error is not None:
                problems.reject(path, row.number, row.error)


def _pairs(path: Path, problems: Problems) -> None:
    for _ in read_pairs(path, problems=problems):
        pass


def _link_lines(path: Path, problems: Problems) -> None:
    with open_buffered(path) as stream:
        for batch in line_batches(stream, path, problems):
            "".join(mention.text for mention in batch.mentions).encode()


def _link_table(path: Path, problems: Problems) -> None:
    with open_buffered(path) as stream:
        for batch in open_table(stream, path, "2", problems, further={}).batches:
            "".join(mention.text for mention in batch.mentions).encode()


def _project_table(path: Path, problems: Problems) -> None:
    find_roles(read_sheet(path.read_bytes(), path.name, problems), {})


class _Decisions:
    """Reads decisions into a copy of a project."""

    def __init__(self) -> None:
        self._made: Path | None = None

    def __call__(self, path: Path, problems: Problems) -> None:
        folder = path.parent.parent
        if self._made is None:
            self._made = folder / "made.nymlink"
            make_project(self._made)
        copy = folder / "copy.nymlink"
        shutil.copyfile(self._made, copy)
        with Project(copy) as project:
            found = import_decisions(project, path.read_bytes(), path.name, vocabulary=None)
        for one in found["problems"]["first"]:
            problems.reject(path, one["line"], one["message"])


def readers() -> dict[str, Read]:
    """Name all readers."""
    return {
        **{f"vocabulary {name}": partial(_vocabulary, name) for name in VOCABULARY_FORMATS.names()},
        **{f"corpus {name}": partial(_corpus, name) for name in CORPUS_FORMATS.names()},
        **{f"rows {name}": partial(_rows, name) for name in ROW_FORMATS},
        "mappings": _mappings,
        "pairs": _pairs,
        "link lines": _link_lines,
        "link tables": _link_table,
        "project tables": _project_table,
        "project decisions": _Decisions(),
    }
