"""Plug-in registries over entry-point groups; nymlink's own parts are registered in the same way.

A package adds a part by declaring an entry point in the group, for example in its ``pyproject.toml``::

    [project.entry-points."nymlink.vocabulary_readers"]
    myformat = "mypackage.myformat:READER"
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from nymlink.core.errors import NymlinkError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind, imported when first requested.

    Args:
        group: the entry-point group, ``nymlink.<something>``.
        noun: what an entry is called in error messages, for example ``"vocabulary reader"``.
    """

    def __init__(self, group: str, *, noun: str) -> None:
        self.group = group
        self.noun = noun
        self._broken: set[str] = set()

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in sorted(entry_points(group=self.group), key=lambda e: e.name)}

    def names(self) -> tuple[str, ...]:
        """List all names, sorted."""
        return tuple(self._entries)

    def get(self, name: str) -> T:
        """Import and return the entry called ``name``.

        Raises:
            UnknownNameError: there is no such entry; the message lists the known ones.
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
        """Yield all entries that load; a warning names each that does not, once."""
        for name in self._entries:
            if name in self._broken:
                continue
            try:
                yield name, self.get(name)
            except NymlinkError as error:
                self._broken.add(name)
                warnings.warn(f"{error.message}; it is left out", stacklevel=2)
