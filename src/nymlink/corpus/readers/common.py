"""Helpers shared by corpus readers: recognise formats, split ids, tell documents apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name
from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document

MUTATION: Final = re.compile(
    r"(?:(?<![^\s;,+|])(?:tmVar:)?[cgmnpr]|(?<![^\s;]))\|(?:SUB|DEL|INS|DUP|INDEL|INV|FS|COPY|Allele)\|[^;]*"
)
"""The id of a mutation as tmVar writes it: sequence, change, and what stands where, for example
``c|SUB|G|Ex2+860|C``."""

_NO_CONCEPT: Final = frozenset({"", "-", "-1"})


def source_name(path: Path) -> str:
    """Return the short name of a source: its file name without ``.gz`` and the ending before it."""
    path = path.resolve()
    name = decoded_name(path)
    return name if path.is_dir() else Path(name.removesuffix(".gz")).stem


def first_lines(head: str, limit: int = 20) -> list[str]:
    """Return the first lines that are not blank, without the last one, which may be cut.

    A head with NUL characters has no lines: it is not text but an archive, a spreadsheet or another binary file.
    """
    if "\0" in head:
        return []
    *whole, last = head.split("\n")
    lines = [line.rstrip("\r") for line in whole if line.strip()] or [last]
    return [line for line in lines if line.strip()][:limit]


def most_match(lines: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether at least half of the lines match from their start, so that a few broken ones do not matter."""
    return bool(lines) and 2 * sum(pattern.match(line) is not None for line in lines) >= len(lines)


def clean_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Strip gold ids and leave out repeats and marks for "no concept" (``-1``, ``-``)."""
    stripped = (concept_id.strip() for concept_id in ids)
    return tuple(dict.fromkeys(concept_id for concept_id in stripped if concept_id not in _NO_CONCEPT))


def split_ids(field: str, separators: str) -> tuple[str, ...]:
    """Split a field of gold ids at each character of ``separators``, and clean the ids.

    The id of a mutation (:data:`MUTATION`) is one, whatever is in it.
    """
    return clean_ids(filter(None, re.split(f"({MUTATION.pattern})|[{re.escape(separators)}]", field)))


def split_parts(field: str) -> tuple[str, ...]:
    """Split a composite mention at ``|`` into its parts; empty for a single part."""
    parts = tuple(part.strip() for part in field.split("|") if part.strip())
    return parts if len(parts) > 1 else ()


def mention_language(code: str, path: Path, line: int, problems: Problems) -> str | None:
    """Read the language of a mention in a cell of a table.

    Args:
        code: the cell.
        path: the file, for reports.
        line: the line, for reports.
        problems: receives a report where this is no language code.

    Returns:
        Its code, normalised; ``None`` where it is unknown.
    """
    if not code.strip():
        return None
    language = normalise_language(code)
    if language is None:
        problems.repair(
            path,
            line,
            f"{code[:40]!r} is no language code, as 'de' and 'pt-BR' are: taken as unknown",
        )
    return None if language == UNKNOWN_LANGUAGE else language


def require_documents(documents: Iterable[Document], *, path: Path, problems: Problems) -> Iterator[Document]:
    """Yield the documents, checking that there is at least one.

    Raises:
        InputError: there is none; the message gives the first problem reported.
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
