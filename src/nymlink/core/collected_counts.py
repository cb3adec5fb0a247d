"""Counts that are warned of: once a call, or once for all calls in a block."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final, Self


class CollectedCounts(ABC):
    """Base of counts that end in a warning, which a block around many calls can put off and make one of."""

    __slots__ = ()

    @abstractmethod
    def _add(self, other: Self) -> None:
        """Add the counts of a call."""

    @abstractmethod
    def _message(self) -> str | None:
        """Word the warning; ``None`` where there is nothing to warn of."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Add up such counts of the calls in this block, in its context, instead of warning of each."""
        token = _COLLECTING.set(MappingProxyType({**_COLLECTING.get(), type(self): self}))
        try:
            yield
        finally:
            _COLLECTING.reset(token)

    def warn(self, *, stacklevel: int) -> None:
        """Warn, if there is reason to, or leave that to the block that collects such counts.

        Args:
            stacklevel: the line that the warning names: 1 for the caller's, 2 for the line that called that.
        """
        collecting = _COLLECTING.get().get(type(self))
        if collecting is not None:
            collecting._add(self)
        elif (message := self._message()) is not None:
            warnings.warn(message, stacklevel=stacklevel + 1)


_COLLECTING: Final[ContextVar[Mapping[type[CollectedCounts], CollectedCounts]]] = ContextVar(
    "collected counts", default=MappingProxyType({})
)
"""The counts that collect, by their class."""
