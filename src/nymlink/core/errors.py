"""The exceptions of nymlink. Every deliberate error derives from :class:`NymlinkError`.

A message says what was wrong, where, and what to do. The command line prints the message without a traceback, and
exits with status 2. If a message quotes a file, control characters are escaped.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from nymlink.core.terminal import escape_controls


class NymlinkError(Exception):
    """Base class of all deliberate errors.

    Args:
        message: what was wrong, and what to do.
        path: the file or directory at fault.
        line: 1-based line number in ``path``.

    Example:
        >>> from nymlink import Linker, NymlinkError
        >>> try:
        ...     Linker.load("nowhere")
        ... except NymlinkError as error:
        ...     print(type(error).__name__)
        StoreError
    """

    def __init__(self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else fspath(path)
        self.line = line
        where = "" if self.path is None else self.path + (f":{line}" if line is not None else "") + ": "
        super().__init__(escape_controls(where + message))


class InputError(NymlinkError):
    """The input cannot be read: missing, empty, truncated, or not in the expected format.

    Example:
        >>> from nymlink import InputError, read_vocabulary
        >>> try:
        ...     read_vocabulary("nowhere.obo")
        ... except InputError as error:
        ...     print(error.path, error.message)
        nowhere.obo no such file or directory
    """


class UnknownFormatError(InputError):
    """The format of the input is not recognised.

    Example:
        >>> from pathlib import Path
        >>> from nymlink import UnknownFormatError, read_vocabulary
        >>> _ = Path("letter.txt").write_text("He has no gout.", encoding="utf-8")
        >>> try:
        ...     read_vocabulary("letter.txt")
        ... except UnknownFormatError as error:
        ...     print(error.path)
        letter.txt
    """


class StoreError(NymlinkError):
    """A directory of nymlink (vocabulary, index, encoder …) is missing, damaged, or of another version.

    It is also raised if a server has other vectors than the index, or refuses a request.

    Example:
        >>> from nymlink import Index, StoreError
        >>> try:
        ...     Index.load("nowhere")
        ... except StoreError as error:
        ...     print(error)
        nowhere: no such index
    """


class StoreUnavailableError(StoreError):
    """The server with the vectors of an index cannot be reached, or does not answer in time."""


class OutputError(NymlinkError):
    """The output cannot be written. No partial output is left behind.

    Example:
        >>> from nymlink import OutputError, read_vocabulary
        >>> try:
        ...     read_vocabulary("diseases.obo").save("diseases.obo")
        ... except OutputError as error:
        ...     print(error.path)
        diseases.obo
    """


class UnknownNameError(NymlinkError):
    """A name is not in the registry, or an id is not in the vocabulary.

    Example:
        >>> from nymlink import UnknownNameError, read_vocabulary
        >>> try:
        ...     read_vocabulary("diseases.obo")["MONDO:7"]
        ... except UnknownNameError as error:
        ...     print(error)
        no concept 'MONDO:7' in the vocabulary
    """


class MissingExtraError(NymlinkError):
    """An optional dependency is not installed. The message gives the exact pip command.

    Example:
        >>> from nymlink import MissingExtraError
        >>> print(MissingExtraError("train", purpose="training"))
        training needs an optional dependency: pip install 'nymlink[train]'
    """

    def __init__(self, extra: str, *, purpose: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency: pip install 'nymlink[{extra}]'")
        self._arguments = (extra, purpose)

    def __reduce__(self) -> tuple[Any, ...]:
        # Processes exchange errors by pickle. By default, pickle passes only the message to the constructor.
        return _missing_extra, self._arguments


def _missing_extra(extra: str, purpose: str) -> MissingExtraError:
    return MissingExtraError(extra, purpose=purpose)
