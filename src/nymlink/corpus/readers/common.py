"""Helpers shared by corpus readers: recognise formats, split ids, check offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name
from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention

NEARBY: Final = 30
"""Characters on either side of a wrong offset in which the mention is searched."""

_SPACES: Final = re.compile(r"\s+")
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
    """Split a field of gold ids at each character of ``separators``, and clean the ids."""
    return clean_ids(re.split(f"[{re.escape(separators)}]", field))


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


def check_offsets(
    text: str, surface: str, start: int, end: int, *, path: Path, line: int | None, problems: Problems
) -> tuple[int, int] | tuple[None, None]:
    """Check the offsets of a mention, and correct and report them where the mention is nearby.

    The mention is searched as written, then without white space around it.

    Args:
        text: the text to which offsets refer.
        surface: the mention.
        start: offset of its first character, according to the file.
        end: offset one past its last character, according to the file.
        path: the file, for reports.
        line: the line, for reports; ``None`` in a file where lines mean nothing.
        problems: receives the reports.

    Returns:
        The offsets of the mention in ``text``, or ``(None, None)`` when it is not within :data:`NEARBY`
        characters.
    """
    if start >= 0 and text[start:end] == surface:
        return start, end
    for form in filter(None, (surface, surface.strip())):
        # A look-ahead, to find overlapping occurrences too.
        occurrences = re.compile(f"(?={re.escape(form)})").finditer(
            text, max(0, start - NEARBY), max(0, start + NEARBY + len(form))
        )
        nearest = min((match.start() for match in occurrences), key=lambda at: abs(at - start), default=None)
        if nearest is not None:
            stop = nearest + len(form)
            problems.repair(
                path, line, f"mention {surface!r} at {start}-{end} is {form!r} at {nearest}-{stop} in the text"
            )
            return nearest, stop
    problems.repair(
        path, line, f"mention {surface!r} is not in the text near {start}-{end}: its offsets were left out"
    )
    return None, None


def place_mention(
    mention: Mention,
    text: str,
    pieces: Sequence[tuple[int, int]],
    *,
    path: Path,
    line: int | None,
    problems: Problems,
) -> Mention | None:
    """Give a mention the offsets of its pieces in a text, checked and corrected.

    Pieces with nothing but white space between them are one, as BRAT divides a mention at the ends of lines.

    Args:
        mention: the mention, its text as the file states it; empty where it states none.
        text: the text to which offsets refer.
        pieces: offsets of its pieces according to the file, in code points.
        path: the file, for reports.
        line: the line, for reports; ``None`` in a file where lines mean nothing.
        problems: receives the reports.

    Returns:
        The mention with its offsets, or without any where they are wrong; ``None`` where it has no text either.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if joined and joined[-1][1] <= start and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    at = ";".join(f"{start}-{end}" for start, end in pieces)
    inside = all(0 <= start < end <= len(text) for start, end in joined)
    apart = all(end <= start for (_, end), (start, _) in pairwise(joined))
    found = " ".join(text[start:end] for start, end in joined) if joined and inside and apart else ""
    surface = mention.text
    if not found.strip() and not surface.strip():
        problems.reject(path, line, f"a mention without text, and none at {at or 'no offsets'}")
        return None
    start, end = (joined[0][0], joined[-1][1]) if joined else (0, 0)
    # Some write the whole text from the first to the last piece.
    forms = [found, text[start:end]] if found else []
    if any(_alike(form) == _alike(surface) for form in forms) or not surface.strip():
        spans = tuple(joined) if len(joined) > 1 else ()
        return replace(mention, text=found if spans else text[start:end], start=start, end=end, spans=spans)
    if len(joined) == 1:
        start_, end_ = check_offsets(text, surface, *joined[0], path=path, line=line, problems=problems)
        stated = surface.strip() if start_ is None else text[start_:end_]
        return replace(mention, text=stated, start=start_, end=end_)
    if joined:
        problems.repair(path, line, f"mention {surface!r} is not in the text at {at}: its offsets were left out")
    return replace(mention, text=surface.strip())


def _alike(text: str) -> str:
    """Write a text without regard to case and kinds of white space."""
    return _SPACES.sub(" ", text.casefold())


def distinct_documents(
    documents: Iterable[tuple[int | None, Document]], path: Path, problems: Problems
) -> Iterator[Document]:
    """Yield documents, reporting and leaving out each whose id another one before it has.

    Args:
        documents: their lines, and the documents.
        path: the file, for reports.
        problems: receives the reports.
    """
    seen: set[str] = set()
    for line, document in documents:
        if document.id in seen:
            count = len(document.mentions)
            problems.reject(path, line, f"second copy of document {document.id}, with {count} mentions")
        else:
            seen.add(document.id)
            yield document


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
