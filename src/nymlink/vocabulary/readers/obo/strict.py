"""What is wrong in an OBO file by the letter of the format, as the parser fastobo sees it.

Reading a vocabulary mends or passes over what it can; who maintains the file wants to know all of it. Source:
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
"""So many violations of one stanza are found; what is wrong in so many places is no OBO."""


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


def refuse_violations(path: Path) -> None:
    """See that a file keeps to the letter of OBO 1.4.

    Raises:
        InputError: it does not; the message tells the first violations, a line each. See also :func:`check`.
        MissingExtraError: fastobo is not installed.
    """
    found = check(path)
    if found:
        listed = "\n".join(map(str, found[:_LISTED])) + ("\n…" if len(found) > _LISTED else "")
        places = "place" if len(found) == 1 else "places"
        raise InputError(f"not OBO to the letter in {len(found):,} {places}:\n{listed}", path=path)


def check(path: Path) -> list[Violation]:
    """All breaches of the OBO 1.4 syntax in a plain or gzip file, in the order of its lines.

    Raises:
        MissingExtraError: fastobo is not installed.
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    try:
        fastobo = importlib.import_module("fastobo")
    except ImportError as error:
        raise MissingExtraError("strict", purpose="checking OBO strictly") from error
    found: list[Violation] = []

    def unreadable(problem: Problem) -> None:
        found.append(Violation(problem.path, problem.line or 1, None, problem.message))

    lines = read_lines(path, Problems(on_problem=unreadable))
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
        # Lines that could not be read are not there.
        stanza.extend("" for _ in range(start + len(stanza), number))
        stanza.append(line)
    yield start, stanza


def _violations(fastobo: Any, path: Path, start: int, stanza: list[str]) -> Iterator[Violation]:
    # The parser falls over lines that are comments only.
    lines = ["" if line.lstrip().startswith("!") else line for line in stanza]
    # It stops at the first breach; without that line it shows the next.
    for _ in range(_MOST_A_STANZA):
        if not any(line.strip() for line in lines):
            return
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
        except BaseException as error:
            # What a parser in Rust raises when it falls over is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            yield Violation(str(path), start, None, "a stanza on which fastobo gives up")
            return
        else:
            return
