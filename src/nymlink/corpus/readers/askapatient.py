"""Reader of AskAPatient: ``concept id<TAB>concept label<TAB>phrase`` without a header; the phrase is the mention.

Ids are SNOMED CT or AMT. Limsopatham & Collier, "Normalising medical concepts in social media texts by learning
semantic representation" (ACL 2016).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.columns import is_mention
from nymlink.corpus.readers.common import first_lines, most_match, require_documents, source_name

_ID: Final = re.compile(r"[0-9]{6,18}")
# The third column must not look like an id: that would be PMID, mention, concept.
_LINE: Final = re.compile(r"[0-9]{6,18}\t[^\t]*\t(?!\s*[A-Za-z]{0,12}[:_]?[0-9]+\s*$)[^\t]+$")


def _recognises(_: Path, head: str) -> bool:
    lines = first_lines(head)
    return most_match(lines, _LINE) and not any(map(is_mention, lines[0].split("\t")))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents(path, problems), path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    mentions = []
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        row = [cell.strip() for cell in line.split("\t")]
        if len(row) != 3 or not _ID.fullmatch(row[0]) or not row[2]:
            problems.reject(path, number, "not of the form id<TAB>label<TAB>phrase with a SNOMED CT or AMT id")
            continue
        mentions.append(Mention(row[2], concept_ids=(row[0],)))
    if mentions:
        yield Document(source_name(path), mentions=tuple(mentions))


FORMAT: Final[CorpusFormat] = Format(
    name="askapatient",
    description="AskAPatient: concept id, label and phrase in three columns without a header",
    recognises=_recognises,
    read=_read,
)
