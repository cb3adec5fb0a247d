"""What corpus readers share: telling formats by their first lines, splitting ids, checking offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import name_of
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document

NEARBY: Final = 30
"""How many characters either side of a wrong offset a mention is looked for."""

_NO_CONCEPT: Final = frozenset({"", "-", "-1"})


def source_name(path: Path) -> str:
    """Short name of a source: its file name without ``.gz`` and the ending before it."""
    path = path.resolve()
    name = name_of(path)
    return name if path.is_dir() else Path(name.removesuffix(".gz")).stem


def first_lines(head: str, limit: int = 20) -> list[str]:
    """The first lines of a text that are not blank, without one that ``head`` may have cut short.

    There are none in what is not text: archives, spreadsheets and other binary files hold NUL characters.
    """
    if "\0" in head:
        return []
    *whole, last = head.split("\n")
    lines = [line.rstrip("\r") for line in whole if line.strip()] or [last]
    return [line for line in lines if line.strip()][:limit]


def most_match(lines: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Whether half of the lines or more match from their start: a few broken ones do not hide a format."""
    return bool(lines) and 2 * sum(pattern.match(line) is not None for line in lines) >= len(lines)


def clean_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """Gold ids as written, less white space around them, repeats, and what means "no concept" (``-1``, ``-``)."""
    stripped = (one.strip() for one in ids)
    return tuple(dict.fromkeys(one for one in stripped if one not in _NO_CONCEPT))


def split_ids(field: str, separators: str) -> tuple[str, ...]:
    """The gold ids in one field, where any character of ``separators`` may stand between two of them."""
    return clean_ids(re.split(f"[{re.escape(separators)}]", field))


def split_parts(field: str) -> tuple[str, ...]:
    """The single names of a composite mention, written with ``|`` between them; none when there is only one."""
    parts = tuple(part.strip() for part in field.split("|") if part.strip())
    return parts if len(parts) > 1 else ()


def place(
    text: str, surface: str, start: int, end: int, *, path: Path, line: int, problems: Problems
) -> tuple[int, int] | tuple[None, None]:
    """Check the offsets given for a mention; mend and report them where it stands somewhere near instead.

    It is looked for as written, then without the white space around it.

    Args:
        text: what the offsets count in.
        surface: the mention.
        start: offset of its first character, as the file has it.
        end: offset one past its last character, as the file has it.
        path: for the report.
        line: for the report.
        problems: takes the report.

    Returns:
        The offsets at which it stands in ``text``, or none when it is not within :data:`NEARBY` characters.
    """
    if text[start:end] == surface:
        return start, end
    for form in filter(None, (surface, surface.strip())):
        # A look-ahead, so that occurrences that overlap are all seen.
        occurrences = re.compile(f"(?={re.escape(form)})").finditer(
            text, max(0, start - NEARBY), start + NEARBY + len(form)
        )
        at = min((match.start() for match in occurrences), key=lambda at: abs(at - start), default=None)
        if at is not None:
            stop = at + len(form)
            problems.repair(
                path, line, f"mention {surface!r} at {start}-{end} is {form!r} at {at}-{stop} in the text"
            )
            return at, stop
    problems.repair(
        path, line, f"mention {surface!r} is not in the text near {start}-{end}: its offsets were dropped"
    )
    return None, None


def some_documents(documents: Iterable[Document], *, path: Path, problems: Problems) -> Iterator[Document]:
    """Pass documents on.

    Raises:
        InputError: there was not one; the message holds the first thing that was wrong.
    """
    known = len(problems.first)
    documents = iter(documents)
    first = next(documents, None)
    if first is None:
        why = f": {problems.first[known].message}" if len(problems.first) > known else ""
        line = problems.first[known].line if why else None
        raise InputError(f"nothing in it can be used{why}", path=path, line=line)
    yield first
    yield from documents
