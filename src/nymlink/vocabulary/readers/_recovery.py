"""Reading a text of many small units (axioms, statements) so that a broken one costs itself and no other.

The text is held in a window that moves over the file, so files of any size and lines of any length can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nymlink.problems import Problems
from nymlink.vocabulary.readers._text_blocks import read_blocks

_MAX_UNIT: Final = 1 << 22
MAX_DEPTH: Final = 64
"""How many brackets a unit may hold within each other; a file of nothing but open brackets would take for ever."""
_BLANK: Final = re.compile(r"(?:\s++|#[^\n]*+\n)*+")


class IncompleteError(Exception):
    """The window ends within the unit."""


class MalformedError(Exception):
    """The unit cannot be read; the message says why."""


class Scanner:
    """Takes tokens from a window, one after the other.

    Args:
        text: the window.
        place: where to begin.
        final: whether the file ends where the window does.
        token: matches one token, in one named group.
        multiline: what tokens begin with that may hold line ends.
    """

    def __init__(
        self, text: str, place: int, *, final: bool, token: re.Pattern[str], multiline: tuple[str, ...]
    ) -> None:
        self.text = text
        self.place = place
        self._final = final
        self._token = token
        self._multiline = multiline

    def take(self) -> tuple[str, str]:
        """The kind of the next token, and the token.

        Raises:
            IncompleteError: the window ends before the token does.
            MalformedError: the file ends there, or something else stands there.
        """
        match = self._token.match(self.text, self.place)
        if match is None:
            self.place = _after_blank(self.text, self.place)
            match = self._token.match(self.text, self.place)
        if match is None:
            is_open = self.text.startswith(self._multiline, self.place) or self.text.find("\n", self.place) < 0
            if is_open and not self._final:
                raise IncompleteError
            found = self.text[self.place : self.place + 20]
            raise MalformedError(f"what is {found!r}?" if found else "the file ends within it")
        if match.end() == len(self.text) and not self._final:
            raise IncompleteError
        self.place = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind]


def _after_blank(text: str, place: int) -> int:
    """Where white space and comments end."""
    match = _BLANK.match(text, place)
    return match.end() if match else place


def read_units(
    path: Path,
    problems: Problems,
    parse: Callable[[str, int, bool], int],
    *,
    noun: str,
    resume: re.Pattern[str],
) -> None:
    """Read a plain or gzip file unit by unit; report and pass over those that cannot be read.

    Args:
        path: the file.
        problems: told of broken units.
        parse: reads the unit at a place of a text, of which the third argument says whether it is the file's last;
            returns where the unit ends. Raises :class:`IncompleteError` or :class:`MalformedError`.
        noun: what a unit is called in reports.
        resume: matches up to where another unit may begin.

    Raises:
        InputError: see :func:`nymlink.files.open_bytes`.
    """
    blocks = read_blocks(path, problems)
    text, place, final = "", 0, False
    line, counted = 1, 0

    def line_here() -> int:
        nonlocal line, counted
        line += text.count("\n", counted, place)
        counted = place
        return line

    def extend() -> None:
        # As much again as there is, so that a long unit is not read over and over.
        nonlocal text, place, counted, final
        line_here()
        parts = [text[place:]]
        wanted, length = 2 * len(parts[0]), len(parts[0])
        place = counted = 0
        while length <= wanted and not final:
            block = next(blocks, None)
            final = block is None
            # With a line end after it, the last comment of a file is like any other.
            parts.append("\n" if block is None else block.replace("\r\n", "\n"))
            length += len(parts[-1])
        text = "".join(parts)

    def skip() -> None:
        nonlocal place
        while (match := resume.search(text, place)) is None and not final:
            # What the pattern matches may lie across the end of the window.
            place = max(place + 1, len(text) - 1000)
            extend()
        place = match.end() if match else len(text)

    while True:
        place = _after_blank(text, place)
        if place == len(text):
            if final:
                return
            extend()
            continue
        try:
            place = parse(text, place, final)
        except IncompleteError:
            if len(text) - place < _MAX_UNIT:
                extend()
                continue
            message = f"{noun} of more than {_MAX_UNIT >> 20} million characters"
            problems.reject(path, line_here(), message)
            skip()
        except MalformedError as error:
            problems.reject(path, line_here(), f"{noun} that cannot be read ({error})")
            skip()
