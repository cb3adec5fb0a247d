"""File formats: the description of a reader in a registry, and the choice of a reader by content."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import read_head
from nymlink.core.registry import Registry

Read = TypeVar("Read")


@dataclass(frozen=True)  # no slots: typing marks instances of a parametrised generic class
class Format(Generic[Read]):
    """A file format and the function that reads it.

    Attributes:
        name: its name, as given to ``--input-format``.
        description: one line for the help text.
        recognises: tells whether a source looks like this format, from its path and the beginning of its text
            (empty for a directory or a binary file).
        read: the function that reads it.
        options: names of the reading options that this format uses and others may not.
        priority: formats of smaller priority are tried first: those with clear signs before catch-alls.
        is_binary: whether its files are no text: such a format is recognised by the path alone.
    """

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    read: Read
    options: frozenset[str] = frozenset()
    priority: int = 0
    is_binary: bool = False


def find_format(
    registry: Registry[Format[Read]],
    path: Path,
    name: str | None = None,
    *,
    otherwise: str | None = None,
    describe: Callable[[Path, str], str | None] = lambda *_: None,
) -> Format[Read]:
    """Return the format called ``name``, or the first, by priority and then name, that recognises the source.

    Args:
        registry: the formats to choose from.
        path: the source.
        name: the name of its format, if known.
        otherwise: the format to use for a file that no format recognises.
        describe: says what a file looks like that no format recognises and what to do with it, from its path and
            the beginning of its text; ``None`` where it does not know.

    Raises:
        InputError: the source is missing or empty or can be read only once, or no format recognises it.
        UnknownNameError: there is no format of that name.
    """
    if _is_stream(path):
        raise InputError("a pipe or device cannot be read here: save its output to a file first", path=path)
    if name is not None:
        return registry.get(name)
    for _, candidate in registry:
        if candidate.is_binary and candidate.recognises(path, ""):
            return candidate
    head = "" if path.is_dir() else read_head(path)
    if not path.is_dir() and not head.strip():
        raise InputError("the file is empty", path=path)
    texts = (entry for _, entry in registry if not entry.is_binary)
    for candidate in sorted(texts, key=lambda entry: entry.priority):
        if candidate.recognises(path, head):
            return candidate
    if otherwise is not None and not path.is_dir():
        return registry.get(otherwise)
    if description := describe(path, head):
        raise InputError(description, path=path)
    known = ", ".join(registry.names())
    raise UnknownFormatError(f"unknown {registry.noun}: say which with --input-format (known: {known})", path=path)


def _is_stream(path: Path) -> bool:
    """Whether a source is neither a file nor a directory.

    Raises:
        InputError: it does not exist or cannot be examined.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError("no such file or directory", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
