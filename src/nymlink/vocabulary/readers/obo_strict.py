"""What is wrong in an OBO file by the letter of the format, as the parser fastobo sees it.

Reading a vocabulary mends or passes over what it can; who maintains the file wants to know all of it. Source:
https://github.com/fastobo/fastobo-py, after https://owlcollab.github.io/oboformat/doc/obo-syntax.html.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nymlink.errors import MissingExtraError
from nymlink.files import read_lines
from nymlink.problems import Problem, Problems


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach of the format: its 1-based line and column (``None`` where it concerns the whole line)."""

    path: str
    line: int
    column: int | None
    message: str

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column}"
        return f"{self.path}:{self.line}{column}: {self.message}"


def check(path: Path) -> list[Violation]:
    """All breaches of the OBO 1.4 syntax in a plain or gzip file, in the order of its lines.

    Raises:
        MissingExtraError: fastobo is not installed.
        InputError: see :func:`nymlink.files.open_bytes`.
    """
    try:
        fastobo = importlib.import_module("fastobo")
    except ImportError as error:
        raise MissingExtraError("strict", purpose="checking OBO strictly") from error
    found: list[Violation] = []

    def not_utf8(problem: Problem) -> None:
        found.append(Violation(problem.path, problem.line or 1, None, "not UTF-8"))

    lines = read_lines(path, Problems(on_problem=not_utf8))
    for start, stanza in _stanzas(lines):
        found.extend(_violations(fastobo, path, start, stanza))
    return sorted(found, key=lambda violation: violation.line)


def _stanzas(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """The header and each stanza, with the number of its first line."""
    start, stanza = 1, list[str]()
    for number, line in lines:
        if line.startswith("["):
            yield start, stanza
            start, stanza = number, []
        stanza.append(line)
    yield start, stanza


def _violations(fastobo: Any, path: Path, start: int, stanza: list[str]) -> Iterator[Violation]:
    # The parser stops at the first breach; without that line it shows the next.
    lines = list(stanza)
    while any(line.strip() for line in lines):
        try:
            fastobo.loads("\n".join(lines) + "\n", threads=1)
        except SyntaxError as error:
            place = min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
            message = f"{error.msg}, in {lines[place][:80]!r}"
            yield Violation(str(path), start + place, error.offset, message)
            # Where the line is needed, nothing after it makes sense; nor where taking it out changes nothing.
            if lines[place].startswith(("[", "id:")) or not lines[place].strip():
                return
            lines[place] = ""
        except ValueError as error:
            yield Violation(str(path), start, None, str(error))
            return
        else:
            return
