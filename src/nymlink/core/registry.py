"""Registries of plug-ins and file formats.

A package adds a plug-in by declaring an entry point in the registry's group, for example in its
``pyproject.toml``::

    [project.entry-points."nymlink.vocabulary_readers"]
    myformat = "mypackage.myformat:READER"
"""

from __future__ import annotations

import stat
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Generic, TypeVar, cast

from nymlink.core.errors import InputError, NymlinkError, UnknownFormatError, UnknownNameError
from nymlink.core.files import read_head, split_part

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind. A plug-in is imported when it is first requested.

    Args:
        group: the entry-point group, ``nymlink.<something>``.
        noun: noun for an entry in error messages, for example ``"vocabulary reader"``.
    """

    def __init__(self, group: str, *, noun: str) -> None:
        self.group = group
        self.noun = noun
        self._broken: set[str] = set()

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in sorted(entry_points(group=self.group), key=lambda e: e.name)}

    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def get(self, name: str) -> T:
        """Import and return the entry called ``name``.

        Raises:
            UnknownNameError: there is no such entry. The message lists the known entries.
            NymlinkError: the entry cannot be imported.
        """
        if name not in self._entries:
            known = ", ".join(self._entries)
            raise UnknownNameError(f"unknown {self.noun} {name!r}; known: {known}")
        entry = self._entries[name]
        try:
            return cast(T, entry.load())
        # The module of another package may raise anything.
        except Exception as error:
            package = entry.dist.name if entry.dist else entry.value
            raise NymlinkError(
                f"the {self.noun} {name!r} of the package {package} does not load ({error}): "
                "repair or uninstall that package"
            ) from error

    def __iter__(self) -> Iterator[tuple[str, T]]:
        """Yield all entries that load. For each entry that does not, warn once."""
        for name in self._entries:
            if name in self._broken:
                continue
            try:
                yield name, self.get(name)
            except NymlinkError as error:
                self._broken.add(name)
                warnings.warn(f"{error.message}; it is left out", stacklevel=2)


Read = TypeVar("Read")


@dataclass(frozen=True)  # no slots: typing sets an attribute on instances of a parametrised generic class
class Format(Generic[Read]):
    """A file format and the function that reads it.

    Attributes:
        name: its name, as a user gives it to ``--input-format``.
        description: one line for the help text.
        recognises: function that tells whether a source looks like this format. It is given the path of the source
            and the beginning of its text, which is empty for a directory or a binary file.
        read: the function that reads it.
        options: names of the reading options of this format.
        priority: formats with a smaller priority are tried first. Formats with clear signs should come before
            formats that fit almost anything.
        is_binary: whether its files are binary. A binary format is recognised by the path alone.
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
    """Return the format called ``name``. Without a name, return the first format that recognises the source.

    Formats are tried in the order of priority, then of name.

    Args:
        registry: the formats to choose from.
        path: the source.
        name: the name of its format, if known.
        otherwise: the format of files that no format recognises.
        describe: function that describes an unrecognised file, and says what to do with it. It is given the path
            and the beginning of the text, and returns ``None`` if it does not know the file.

    Raises:
        InputError: the source is missing or empty, can be read only once (a pipe), or no format recognises it.
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
    """Whether a source is neither a file nor a directory."""
    try:
        mode = split_part(path)[0].stat().st_mode
    except FileNotFoundError as error:
        raise InputError("no such file or directory", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
