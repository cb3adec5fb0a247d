"""File formats: what a reader in a registry says of itself, and how the right one is found by content."""

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
    """One file format and the function that reads it.

    Attributes:
        name: as given to ``--format``.
        description: one line for the help.
        recognises: whether a source looks like this format, from its path and the first bytes of its text
            (empty for a directory).
        read: reads it.
        heeds: names of the options that it heeds and not every format does.
        priority: smaller is asked earlier; formats told by clear signs come before catch-alls.
    """

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    read: Read
    heeds: frozenset[str] = frozenset()
    priority: int = 0


def find_format(
    registry: Registry[Format[Read]], path: Path, name: str | None = None, *, otherwise: str | None = None
) -> Format[Read]:
    """The format called ``name``, or the first in order of priority, then name, that recognises the source.

    Args:
        registry: the formats to choose from.
        path: the source.
        name: its format, if that is known.
        otherwise: the format of a file that none recognises.

    Raises:
        InputError: the source is missing or empty or can be read only once, or no format recognises it.
        UnknownNameError: there is no format of that name.
    """
    if _is_stream(path):
        raise InputError("a pipe or device cannot be read here: write what it gives to a file first", path=path)
    if name is not None:
        return registry.get(name)
    head = "" if path.is_dir() else read_head(path)
    if not path.is_dir() and not head.strip():
        raise InputError("the file is empty", path=path)
    for candidate in sorted((entry for _, entry in registry), key=lambda entry: entry.priority):
        if candidate.recognises(path, head):
            return candidate
    if otherwise is not None and not path.is_dir():
        return registry.get(otherwise)
    known = ", ".join(registry.names())
    raise UnknownFormatError(f"unknown {registry.noun}: say which with --format (known: {known})", path=path)


def _is_stream(path: Path) -> bool:
    """Whether a source is there, but neither a file nor a directory.

    Raises:
        InputError: it is not there.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError("no such file or directory", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
