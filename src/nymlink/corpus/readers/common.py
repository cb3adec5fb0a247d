"""Functions and options shared by the readers of corpora."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import xxhash

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document
from nymlink.corpus.offsets import OffsetUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusOptions:
    """Options for reading a corpus.

    Attributes:
        columns: for mention tables: nymlink's column name → header in the file, for example
            ``{"mention": "term", "concept_id": "mondo_id"}``. In a file without headers, the number of the column,
            from 1, stands for the header (``"3"``).
        offsets: unit of the offsets of mentions.
        keep_repeated: whether a document with the id of an earlier document is kept, under another id. By default
            it is left out, so that nothing counts twice. The reader reports such a document in either case.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    offsets: OffsetUnit = "characters"
    keep_repeated: bool = False


_RECENT: Final = 1 << 16
"""Number of digests in a set after which they move to a sorted array, which takes only eight bytes for each."""


class DistinctIds:
    """The ids of the documents that were already read. Each id is kept as a digest of 64 bits."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._older = np.empty(0, np.uint64)
        self._copies: Counter[str] = Counter()

    def add(self, id_: str) -> bool:
        """Add an id; return whether it is new."""
        digest = xxhash.xxh3_64_intdigest(id_.encode("utf-8", "surrogatepass"))
        place = int(np.searchsorted(self._older, np.uint64(digest))) if len(self._older) else 0
        if digest in self._recent or (place < len(self._older) and int(self._older[place]) == digest):
            return False
        self._recent.add(digest)
        if len(self._recent) >= _RECENT:
            self._older = np.union1d(self._older, np.fromiter(self._recent, np.uint64, len(self._recent)))
            self._recent.clear()
        return True

    def rename(self, document: Document, path: Path, line: int | None, problems: Problems) -> Document:
        """Return a document with a unique id: the second document with id 7 gets ``7:2``, and is reported."""
        if self.add(document.id):
            return document
        while True:
            self._copies[document.id] += 1
            new = f"{document.id}:{self._copies[document.id] + 1}"
            if self.add(new):
                break
        problems.repair(path, line, f"another document with the id {document.id}: renamed to {new}")
        return replace(document, id=new)


def distinct_documents(
    documents: Iterable[tuple[int | None, Document]], path: Path, problems: Problems, *, keep: bool
) -> Iterator[Document]:
    """Yield documents, and report each document that has the id of an earlier document.

    Args:
        documents: documents, each with its line.
        path: the file, for reports.
        problems: receives the reports.
        keep: whether to keep a document with a repeated id under another id. If not, it is left out.
    """
    ids = DistinctIds()
    for line, document in documents:
        if keep:
            yield ids.rename(document, path, line, problems)
        elif ids.add(document.id):
            yield document
        else:
            count = len(document.mentions)
            problems.reject(path, line, f"second copy of document {document.id}, with {count} mentions")


MUTATION: Final = re.compile(
    r"(?:(?<![^\s;,+|])(?:tmVar:)?[cgmnpr]|(?<![^\s;]))\|(?:SUB|DEL|INS|DUP|INDEL|INV|FS|COPY|Allele)\|[^;]*"
)
"""A mutation id of tmVar: sequence, change, and details of the change, for example ``c|SUB|G|Ex2+860|C``."""

_NO_CONCEPT: Final = frozenset({"", "-", "-1"})


def source_name(path: Path) -> str:
    """Return the short name of a source: its file name without ``.gz`` and the ending before it."""
    path = path.resolve()
    name = decoded_name(path)
    return name if path.is_dir() else Path(name.removesuffix(".gz")).stem


def first_lines(head: str, limit: int = 20) -> list[str]:
    """Return the first lines that are not blank, without the last line, which may be incomplete.

    A head with NUL characters has no lines, because it is from an archive, a spreadsheet or another binary file.
    """
    if "\0" in head:
        return []
    *whole, last = head.split("\n")
    lines = [line.rstrip("\r") for line in whole if line.strip()] or [last]
    return [line for line in lines if line.strip()][:limit]


def most_match(lines: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether at least half of the lines match from their start; a few broken lines do not matter."""
    return bool(lines) and 2 * sum(pattern.match(line) is not None for line in lines) >= len(lines)


def clean_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Strip gold ids and leave out repeats and marks for "no concept" (``-1``, ``-``)."""
    stripped = (concept_id.strip() for concept_id in ids)
    return tuple(dict.fromkeys(concept_id for concept_id in stripped if concept_id not in _NO_CONCEPT))


def split_ids(field: str, separators: str) -> tuple[str, ...]:
    """Split a field of gold ids at each character of ``separators``, and clean the ids.

    A mutation id (:data:`MUTATION`) is not split.
    """
    return clean_ids(filter(None, re.split(f"({MUTATION.pattern})|[{re.escape(separators)}]", field)))


def split_parts(field: str) -> tuple[str, ...]:
    """Split a composite mention at ``|`` into its parts; empty for a single part."""
    parts = tuple(part.strip() for part in field.split("|") if part.strip())
    return parts if len(parts) > 1 else ()


def require_documents(documents: Iterable[Document], *, path: Path, problems: Problems) -> Iterator[Document]:
    """Yield the documents; check that there is at least one.

    Raises:
        InputError: there is none; the message has the first reported problem.
    """
    earlier = len(problems.first)
    documents = iter(documents)
    first = next(documents, None)
    if first is None:
        reason = f": {problems.first[earlier].message}" if len(problems.first) > earlier else ""
        line = problems.first[earlier].line if reason else None
        raise InputError(f"nothing in it can be used{reason}", path=path, line=line)
    yield first
    yield from documents
