"""What stores that are servers have in common: address, content, time limit, errors in plain words."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from nymlink.core.errors import InputError, StoreError, StoreUnavailableError
from nymlink.core.store.arrays import HalfVectors, Vectors
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS
from nymlink.index.dense.stores.address import URL_VARIABLE, StoreAddress
from nymlink.index.dense.stores.content import StoredContent
from nymlink.index.fusion.hits import Rows

HNSW: Final = "hnsw"
SERVER_KINDS: Final = (EXACT_NEIGHBOURS, HNSW)
"""Kinds of dense search that servers offer."""

LINKS: Final = 32
"""HNSW: links of each entry (M), as with faiss."""

EF: Final = 128
"""HNSW: size of the candidate list in building and in searching, as with faiss."""

TIMEOUT_VARIABLE: Final = "NYMLINK_STORE_TIMEOUT"
_TIMEOUT: Final = 30.0

CONNECT_SECONDS: Final = 10
"""How long a server may take to accept a connection."""


class ServerStore(ABC):
    """A copy of the vectors of an index on a server. It is connected to when it is first searched.

    Args:
        address: of the server.
        content: the vectors that it holds.
    """

    FILES: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str]

    def __init__(self, address: StoreAddress, content: StoredContent) -> None:
        self.address = address
        self.content = content
        self._told = False

    @property
    def is_exact(self) -> bool:
        """Whether all vectors are compared."""
        return self.content.kind == EXACT_NEIGHBOURS

    @property
    @abstractmethod
    def most(self) -> int:
        """Largest k."""

    @classmethod
    @abstractmethod
    def check(cls, address: StoreAddress) -> None:
        """Check that a server is there and can hold vectors, before anything is encoded for it.

        Raises:
            MissingExtraError: the package that speaks to it is not installed.
            StoreError: it is not there, or cannot hold vectors.
        """

    @abstractmethod
    def upload(self, vectors: HalfVectors, *, progress: bool) -> None:
        """Copy vectors to the server, unless it has them.

        They are searched only once all are there: until then, they have another name.

        Raises:
            StoreError: they cannot be copied.
        """

    @abstractmethod
    def search(self, queries: Vectors, k: int) -> Rows:
        """See :meth:`nymlink.index.dense.stores.store.Store.search`."""

    def save(self, directory: Path) -> None:  # noqa: B027
        """Write nothing: the vectors are on the server."""

    def to_dict(self) -> dict[str, Any]:
        """Describe the store for the manifest of an index, without credentials."""
        return {"url": self.address.public, **self.content.to_dict()}

    def _tell(self) -> None:
        """Warn, once, where a store on another machine is connected to because an index says so."""
        if self.address.is_recorded and not self.address.is_here and not self._told:
            self._told = True
            # Names that are looked up go there, and the index may come from a stranger.
            warnings.warn(
                f"the index looks for vectors at {self.address.public} ({URL_VARIABLE} names another place, or "
                "confirms this one)",
                stacklevel=2,
            )

    def _require(self, found: Mapping[str, Any] | None) -> None:
        """Require that the vectors found under the name are those of the index.

        Args:
            found: their ``fingerprint``, ``count`` and ``width``; ``None`` where there are none.

        Raises:
            StoreError: they are not.
        """
        name = self.content.name
        if found is None:
            raise failure(
                self.address,
                f"has no {name}, the vectors of this index",
                f"build the index again, or say where they are with {URL_VARIABLE}",
            )
        expected = {part: getattr(self.content, part) for part in ("fingerprint", "count", "width")}
        if found != expected:
            # Under the name that a build gives there can only be what was changed since.
            remove = "remove that there, and " if self.content.is_named_as_built else ""
            advice = f"{remove}build the index again"
            raise failure(self.address, f"holds the vectors of another index in {name}", advice)


def failure(
    address: StoreAddress,
    what: str,
    advice: str,
    *,
    reason: object = None,
    error: type[StoreError] = StoreError,
) -> StoreError:
    """Make the error that says what is wrong with a store, without credentials."""
    text = "" if reason is None else address.hidden(str(reason)).strip()
    reason = f" ({' '.join(text.split())})" if text else ""
    return error(f"the store {address.public} {what}{reason}: {advice}")


def unreachable(address: StoreAddress, reason: object) -> StoreError:
    """Make the error that says that no connection to a store can be made."""
    advice = f"start it, or say where it is now with {URL_VARIABLE}"
    return failure(address, "cannot be reached", advice, reason=reason, error=StoreUnavailableError)


def too_slow(address: StoreAddress) -> StoreError:
    """Make the error that says that a store did not answer in time."""
    return failure(
        address,
        f"did not answer within {timeout():g} seconds",
        f"wait longer with {TIMEOUT_VARIABLE}=SECONDS, or build the index with --dense hnsw",
        error=StoreUnavailableError,
    )


def timeout() -> float:
    """Return how long a store may take for one answer, in seconds.

    Raises:
        InputError: the environment has another value than a number of seconds.
    """
    given = os.environ.get(TIMEOUT_VARIABLE)
    if not given:
        return _TIMEOUT
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise InputError(f"{TIMEOUT_VARIABLE} is {given!r}, not a number of seconds")
    return seconds
