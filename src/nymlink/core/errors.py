"""The one exception family: every error nymlink raises on purpose derives from :class:`NymlinkError`.

A message says what was wrong, where, and what to do about it. The command line prints the message and exits
with status 2; it never shows a traceback for one of these. What is quoted from files in it is made visible.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from nymlink.core.visible import visible


class NymlinkError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: what was wrong, and what to do.
        path: the file or directory concerned.
        line: 1-based line number in ``path``.
    """

    def __init__(self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else fspath(path)
        self.line = line
        where = "" if self.path is None else self.path + (f":{line}" if line is not None else "") + ": "
        super().__init__(visible(where + message))


class InputError(NymlinkError):
    """Input that cannot be read at all: missing, empty, truncated, or not in the format expected."""


class UnknownFormatError(InputError):
    """Input in no format that is told by its content."""


class StoreError(NymlinkError):
    """A vocabulary or index directory that is missing, damaged, or of another format version."""


class OutputError(NymlinkError):
    """Output that could not be written. Nothing half-written is left behind."""


class UnknownNameError(NymlinkError):
    """A name that is in no registry, or an id that is in no vocabulary."""


class MissingExtraError(NymlinkError):
    """An optional dependency is not installed; the message holds the exact pip command."""

    def __init__(self, extra: str, *, purpose: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency: pip install 'nymlink[{extra}]'")
        self._made_of = (extra, purpose)

    def __reduce__(self) -> tuple[Any, ...]:
        # As errors are handed from process to process, by default with the message for an argument.
        return _missing_extra, self._made_of


def _missing_extra(extra: str, purpose: str) -> MissingExtraError:
    return MissingExtraError(extra, purpose=purpose)
