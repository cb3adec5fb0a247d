"""Read a file of many small units (axioms, statements), and leave out only the broken ones.

A window of text moves over the file. Files and lines may have any length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.files import read_text_blocks
from nymlink.core.problems import Problems

_MAX_UNIT: Final = 1 << 22
MAX_DEPTH: Final = 64
"""Largest number of nested brackets in a unit; without a limit, a file of open brackets would never end."""
_BLANK: Final = re.compile(r"(?:\s++|#[^\n]*+\n)*+")


class IncompleteError(Exception):
    """The window ends within a unit."""


class MalformedError(Exception):
    """A unit is broken; the message says why."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Tokens and units of a syntax.

    Attributes:
        noun: name of a unit in reports.
        token: matches one token, in one named group.
        multiline: first characters of tokens that may contain line ends.
        resume: matches up to the next place where a unit may begin.
    """

    noun: str
    token: re.Pattern[str]
    multiline: tuple[str, ...]
    resume: re.Pattern[str]


class Scanner:
    """Tokeniser of a window.

    Args:
        text: the window.
        place: offset of the first token.
        final: whether the window reaches the end of the file.
        grammar: the syntax.
    """

    def __init__(self, text: str, place: int, *, final: bool, grammar: Grammar) -> None:
        self.text = text
        self.place = place
        self._final = final
        self._grammar = grammar

    def take(self) -> tuple[str, str]:
        """Take the next token; returns its kind and its text.

        Raises:
            IncompleteError: the window ends before the token does.
            MalformedError: the file ends there, or the text there is no token.
        """
        match = self._grammar.token.match(self.text, self.place)
        if match is None:
            self.place = _after_blank(self.text, self.place)
            match = self._grammar.token.match(self.text, self.place)
        if match is None:
            is_open = (
                self.text.startswith(self._grammar.multiline, self.place) or self.text.find("\n", self.place) < 0
            )
            if is_open and not self._final:
                raise IncompleteError
            rest = self.text[self.place : self.place + 20]
            raise MalformedError(f"unexpected {rest!r}" if rest else "the file ends within it")
        if match.end() == len(self.text) and not self._final:
            raise IncompleteError
        self.place = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind]

    def take_language(self) -> str | None:
        """Take the language or datatype after the text of a literal, if there is one; return the language."""
        place = self.place
        kind, token = self.take()
        if kind == "lang":
            return token[1:]
        if token == "^^":
            self.take()
        else:
            self.place = place
        return None


def read_units(path: Path, problems: Problems, grammar: Grammar, parse: Callable[[Scanner], None]) -> None:
    """Read a plain or gzip file unit by unit; report broken units and skip them.

    Args:
        path: the file.
        problems: receives broken units.
        grammar: its syntax.
        parse: parses the tokens of one unit. Raises :class:`IncompleteError` or :class:`MalformedError`.

    Raises:
        InputError: see :func:`nymlink.core.files.read_text_blocks`.
    """
    window = _Window(read_text_blocks(path, problems))
    while window.has_more():
        scanner = Scanner(window.text, window.place, final=window.final, grammar=grammar)
        try:
            parse(scanner)
        except IncompleteError:
            if len(window.text) - window.place < _MAX_UNIT:
                window.extend()
                continue
            fault = f"{grammar.noun} of more than {_MAX_UNIT >> 20} million characters"
        except MalformedError as error:
            fault = f"{grammar.noun} that cannot be read ({error})"
        else:
            window.place = scanner.place
            continue
        problems.reject(path, window.line(), fault)
        window.skip(grammar.resume)


class _Window:
    """Window of text that moves over a file, with a place in it."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self.text = ""
        self.place = 0
        self.final = False
        self._blocks = blocks
        self._line = 1
        self._counted = 0

    def line(self) -> int:
        """Count the lines up to the place."""
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line

    def has_more(self) -> bool:
        """Skip white space and comments; return whether anything follows."""
        self.place = _after_blank(self.text, self.place)
        while self.place == len(self.text) and not self.final:
            self.extend()
            self.place = _after_blank(self.text, self.place)
        return self.place < len(self.text)

    def extend(self) -> None:
        """Drop the text before the place and read more."""
        self.line()
        parts = [self.text[self.place :]]
        # Double the window each time, to avoid parsing the beginning of a long unit many times.
        wanted, length = 2 * len(parts[0]), len(parts[0])
        self.place = self._counted = 0
        while length <= wanted and not self.final:
            block = next(self._blocks, None)
            self.final = block is None
            # Add a line end at the end of the file, to end a comment there, too.
            parts.append("\n" if block is None else block.replace("\r\n", "\n"))
            length += len(parts[-1])
        self.text = "".join(parts)

    def skip(self, resume: re.Pattern[str]) -> None:
        """Move to the next place where a unit may begin."""
        while (match := resume.search(self.text, self.place)) is None and not self.final:
            # A match may lie across the end of the window.
            self.place = max(self.place + 1, len(self.text) - 1000)
            self.extend()
        self.place = match.end() if match else len(self.text)


def _after_blank(text: str, place: int) -> int:
    """Find the end of white space and comments."""
    match = _BLANK.match(text, place)
    return match.end() if match else place
