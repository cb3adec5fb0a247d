"""Columns and reader of review files of Usagi.

Usagi (https://github.com/OHDSI/Usagi) maps codes of a source to standard concepts of OMOP. Its file has one row
for each code and target. The rows of a code follow each other. The concept 0 means that there is no target.

Only approved targets are gold ids; other targets are suggestions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import (
    CorpusOptions,
    distinct_documents,
    first_lines,
    require_documents,
    source_name,
)
from nymlink.tables.columns import USAGI
from nymlink.tables.delimited import delimited_rows, header_cells

BEFORE: Final = ("sourceCode", "sourceName", "sourceFrequency", "sourceAutoAssignedConceptIds")
"""Columns that come before the user's own columns."""
ADDITIONAL: Final = "ADD_INFO:"
"""Prefix of the headers of the user's own columns."""
AFTER: Final = (
    "matchScore",
    "mappingStatus",
    "equivalence",
    "statusSetBy",
    "statusSetOn",
    "conceptId",
    "conceptName",
    "domainId",
    "mappingType",
    "comment",
    "createdBy",
    "createdOn",
    "assignedReviewer",
)
"""Columns that come after the user's own columns."""

NO_CONCEPT: Final = "0"
OMOP: Final = "OMOP:"
"""Prefix of the ids of OMOP concepts in an index."""


_APPROVED: Final = "APPROVED"
_COUNT: Final = re.compile("[0-9]{1,12}")


def _recognises(_: Path, head: str) -> bool:
    return set(USAGI) <= set(header_cells(first_lines(head)))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(_documents(path, problems), path, problems, keep=options.keep_repeated)
    return require_documents(documents, path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[tuple[int, Document]]:
    name = source_name(path)
    for (code, term), rows in groupby(
        _rows(path, problems), lambda row: (row[1]["sourceCode"], row[1]["sourceName"])
    ):
        found = list(rows)
        line = found[0][0]
        if not term.strip():
            problems.reject(path, line, f"the source code {code!r} has no name")
            continue
        approved = (row["conceptId"].strip() for _, row in found if row["mappingStatus"] == _APPROVED)
        ids = tuple(dict.fromkeys(OMOP + each for each in approved if each not in ("", NO_CONCEPT)))
        stated = found[0][1].get("sourceFrequency", "").strip()
        frequency = int(stated) if _COUNT.fullmatch(stated) else 1
        mention = Mention(term.strip(), concept_ids=ids, id=code or None, frequency=frequency)
        yield line, Document(code or f"{name}:{line}", mentions=(mention,))


def _rows(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    first, header, rows = delimited_rows(path, problems)
    if missing := [name for name in USAGI if name not in header]:
        raise InputError(f"this is no review file of Usagi: it has no column {missing[0]}", path=path, line=first)
    return rows


FORMAT: Final[CorpusFormat] = Format(
    name="usagi",
    description="Usagi's review file: source codes, and approved targets as gold",
    recognises=_recognises,
    read=_read,
)
