"""Reader of mention tables: CSV, TSV or JSON lines, one mention per row.

The reader recognises common headers; the caller can name other columns. Several gold ids in a cell are joined by
``|`` or ``;``. The rows of a document need not be together in the file. A row without a document becomes a
document with the id ``<file>:<line>``. MedMentions' ``pmid<TAB>mention<TAB>CUI`` is recognised without a header.
JSON objects may have different keys; the first objects decide which keys are read.

A text may look like another format, such as XML, standoff annotations or an ontology. It is then read as a table
only if the caller names this format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from nymlink.core.files import read_head, read_lines
from nymlink.core.json_files import read_json_objects
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import CorpusOptions, first_lines, most_match, require_documents, source_name
from nymlink.corpus.readers.tables.mention_rows import MentionRows, object_rows, row_documents
from nymlink.tables.columns import header_columns, is_mention
from nymlink.tables.delimited import delimited_rows, header_cells
from nymlink.tables.foreign_formats import describe_format

_JSON: Final = re.compile(r'\s*\{\s*"')
_MEDMENTIONS: Final = re.compile(r"[0-9]{1,9}\t[^\t]+\tC[0-9]{7}\s*$")
_MEDMENTIONS_COLUMNS: Final = {"document": "1", "mention": "2", "concept_id": "3"}
_SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")


def _recognises_table(path: Path, head: str) -> bool:
    lines = first_lines(head)
    header = header_cells(lines)
    if any(map(is_mention, header)):
        return True
    if not lines or describe_format(head, may_be_objects=True) is not None:
        return False
    tabs = {line.count("\t") for line in lines}
    return (
        most_match(lines, _JSON)
        or most_match(lines, _MEDMENTIONS)
        # No known header: still a table, so that the reader asks for its columns.
        or (len(header) > 1 and path.name.removesuffix(".gz").endswith(_SUFFIXES))
        or (len(lines) > 1 and len(tabs) == 1 and tabs != {0})
    )


def _read_table(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = row_documents(_rows(path, options.columns, problems), path, options, problems)
    return require_documents(documents, path=path, problems=problems)


def _rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> MentionRows:
    if most_match(first_lines(read_head(path)), _JSON):
        return object_rows(read_json_objects(path, problems), wanted, path, problems)
    return _delimited_rows(path, wanted, problems)


def _delimited_rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> MentionRows:
    lines = first_lines(read_head(path))
    first, header, rows = delimited_rows(path, problems)
    if not wanted and not any(map(is_mention, header)) and most_match(lines, _MEDMENTIONS):
        wanted = _MEDMENTIONS_COLUMNS
    if (
        wanted
        and not any(map(is_mention, header))
        and all(name.isdecimal() and name not in header for name in wanted.values())
    ):
        width = max(len(header), *map(int, wanted.values()))
        header = [str(column) for column in range(1, width + 1)]
        first, _, rows = delimited_rows(path, problems, header)
    columns = header_columns(header, wanted, path, first)
    for number, values in rows:
        yield number, columns, values


TABLE: Final[CorpusFormat] = Format(
    name="table",
    description="a CSV, TSV or JSON-lines table, one mention a row",
    recognises=_recognises_table,
    read=_read_table,
    options=frozenset({"columns"}),
    priority=20,
)


def _recognises_lines(_: Path, head: str) -> bool:
    return bool(first_lines(head)) and describe_format(head) is None


def _read_lines(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents(path, problems), path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    for number, line in read_lines(path, problems):
        if "\0" in line:
            problems.reject(path, number, "contains a NUL character: this is not text")
        elif line.strip():
            # One document per mention, so that its id gives the line.
            yield Document(f"{name}:{number}", mentions=(Mention(line.strip()),))


LINES: Final[CorpusFormat] = Format(
    name="lines",
    description="plain text, one mention a line, no gold ids",
    recognises=_recognises_lines,
    read=_read_lines,
    priority=1000,
)
