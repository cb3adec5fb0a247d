"""Check an OBO file strictly against the format, with the parser fastobo.

The reader repairs or skips what it can; the maintainer of a file needs to know every violation. Source:
https://github.com/fastobo/fastobo-py, after https://owlcollab.github.io/oboformat/doc/obo-syntax.html.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problem, Problems

_LISTED: Final = 20
_MOST_A_STANZA: Final = 100
"""Most violations found in one stanza; a stanza with more is hardly OBO."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Violation of the format: its 1-based line and column (``None`` where it concerns the whole line)."""

    path: str
    line: int
    column: int | None
    message: str

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column}"
        return f"{self.path}:{self.line}{column}: {self.message}"


def refuse_violations(path: Path) -> None:
    """Refuse a file that violates OBO 1.4.

    Raises:
        InputError: it does; the message lists the first violations, a line each. See also :func:`check`.
        MissingExtraError: fastobo is not installed.
    """
    violations = check(path)
    if violations:
        first = "\n".join(map(str, violations[:_LISTED])) + ("\n…" if len(violations) > _LISTED else "")
        places = "place" if len(violations) == 1 else "places"
        raise InputError(f"not OBO to the letter in {len(violations):,} {places}:\n{first}", path=path)


def check(path: Path) -> list[Violation]:
    """List all violations of the OBO 1.4 syntax in a plain or gzip file, in the order of its lines.

    Raises:
        MissingExtraError: fastobo is not installed.
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    try:
        fastobo = importlib.import_module("fastobo")
    except ImportError as error:
        raise MissingExtraError("strict", purpose="checking OBO strictly") from error
    violations: list[Violation] = []

    def unreadable(problem: Problem) -> None:
        violations.append(Violation(problem.path, problem.line or 1, None, problem.message))

    lines = read_lines(path, Problems(on_problem=unreadable))
    for start, stanza in _stanzas(lines):
        violations.extend(_violations(fastobo, path, start, stanza))
    return sorted(violations, key=lambda violation: violation.line)


def _stanzas(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and each stanza, with the number of its first line."""
    start, stanza = 1, list[str]()
    for number, line in lines:
        if line.startswith("["):
            yield start, stanza
            start, stanza = number, []
        # Blank lines stand for those that could not be read, to keep the line numbers.
        stanza.extend("" for _ in range(start + len(stanza), number))
        stanza.append(line)
    yield start, stanza


def _violations(fastobo: Any, path: Path, start: int, stanza: list[str]) -> Iterator[Violation]:
    # The parser fails on lines that are only comments.
    lines = ["" if line.lstrip().startswith("!") else line for line in stanza]
    # The parser stops at the first violation; with that line blanked it reports the next.
    for _ in range(_MOST_A_STANZA):
        if not any(line.strip() for line in lines):
            return
        try:
            fastobo.loads("\n".join(lines) + "\n", threads=1)
        except SyntaxError as error:
            place = min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
            message = f"{error.msg}, in {lines[place][:80]!r}"
            yield Violation(str(path), start + place, error.offset, message)
            # Without a required line the rest cannot be parsed; a line that is blank already cannot be blanked.
            if lines[place].startswith(("[", "id:")) or not lines[place].strip():
                return
            lines[place] = ""
        except ValueError as error:
            yield Violation(str(path), start, None, str(error))
            return
        except BaseException as error:
            # A panic of the parser, written in Rust, is a BaseException but no Exception.
            if type(error).__name__ != "PanicException":
                raise
            yield Violation(str(path), start, None, "a stanza that crashes the parser fastobo")
            return
        else:
            return
