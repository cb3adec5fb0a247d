"""Stores on servers: a description of their vectors, the base class of servers, and errors."""

from __future__ import annotations

import os
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import xxhash

from nymlink.core.errors import InputError, StoreError, StoreUnavailableError
from nymlink.core.json_files import member
from nymlink.core.store.arrays import HalfVectors, Vectors
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS
from nymlink.index.hits import Rows
from nymlink.index.stores.vector_store import URL_VARIABLE, StoreAddress

_NAME: Final = re.compile(r"nymlink_[0-9a-z_]{1,48}")
"""Pattern of the name of a table or collection.

PostgreSQL allows 63 characters, including those that are added during an upload.
"""

_HASHED: Final = 1 << 14
"""Number of vectors hashed at a time."""


def _name(fingerprint: str, kind: str) -> str:
    return f"nymlink_{fingerprint[:16]}_{kind}"


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Description of the vectors of an index in a store.

    Attributes:
        name: name of the table or collection.
        fingerprint: digest of the vectors and their order. It is stored with the vectors.
        kind: ``"exact"`` or ``"hnsw"``.
        count: number of vectors.
        width: width of a vector.
    """

    name: str
    fingerprint: str
    kind: str
    count: int
    width: int

    @classmethod
    def of(cls, vectors: HalfVectors, kind: str) -> StoredContent:
        """Describe vectors, float16 (E, D).

        The name is made from the fingerprint. So a new release of a vocabulary does not disturb searches of the
        old release, and equal vectors are uploaded only once.
        """
        count, width = vectors.shape
        digest = xxhash.xxh3_128(f"{count} {width} ".encode())
        for start in range(0, count, _HASHED):
            digest.update(vectors[start : start + _HASHED].astype("<f2").tobytes())
        fingerprint = digest.hexdigest()
        return cls(_name(fingerprint, kind), fingerprint, kind, count, width)

    @property
    def is_named_as_built(self) -> bool:
        """Whether a new build of the index would give the vectors the same name."""
        return self.name == _name(self.fingerprint, self.kind)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], *, kind: str, count: int, width: int) -> StoredContent:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        name, fingerprint = member(value, "name", str), member(value, "fingerprint", str)
        if not _NAME.fullmatch(name) or not re.fullmatch("[0-9a-f]{32}", fingerprint):
            raise ValueError("the name or fingerprint of its vectors in the store is none")
        return cls(name, fingerprint, kind, count, width)


HNSW: Final = "hnsw"
SERVER_KINDS: Final = (EXACT_NEIGHBOURS, HNSW)
"""Kinds of dense search that servers offer."""

LINKS: Final = 32
"""HNSW: number of links of each entry (M), as with faiss."""

EF: Final = 128
"""HNSW: size of the candidate list in building and in searching, as with faiss."""

TIMEOUT_VARIABLE: Final = "NYMLINK_STORE_TIMEOUT"
_TIMEOUT: Final = 30.0

CONNECT_SECONDS: Final = 10
"""Seconds for a server to accept a connection."""


class ServerStore(ABC):
    """A copy of the vectors of an index on a server. The connection is made at the first search."""

    FILES: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str]

    def __init__(self, address: StoreAddress, content: StoredContent) -> None:
        self.address = address
        self.content = content
        self._told = False

    @property
    def is_exact(self) -> bool:
        """Whether the server compares all vectors with a query."""
        return self.content.kind == EXACT_NEIGHBOURS

    @property
    @abstractmethod
    def most(self) -> int:
        """Largest number of hits of a query."""

    @classmethod
    @abstractmethod
    def check(cls, address: StoreAddress) -> None:
        """Check that a server is available and can hold vectors. An index does this before it encodes names.

        Raises:
            MissingExtraError: the package of its client is not installed.
            StoreError: the server is not there, or cannot hold vectors.
        """

    @abstractmethod
    def upload(self, vectors: HalfVectors, *, progress: bool) -> None:
        """Copy vectors to the server, unless the server has them already.

        During the upload, the vectors have another name, so that only complete copies are searched.

        Raises:
            StoreError: they cannot be copied.
        """

    @abstractmethod
    def search(self, queries: Vectors, k: int) -> Rows:
        """See :meth:`nymlink.index.stores.vector_store.Store.search`."""

    def save(self, directory: Path) -> None:  # noqa: B027
        """Write nothing: the vectors are on the server."""

    def to_dict(self) -> dict[str, Any]:
        """Describe the store for the manifest of an index, without credentials."""
        return {"url": self.address.public, **self.content.to_dict()}

    def _tell(self) -> None:
        """Warn, once, if the index itself names a store on another machine."""
        if self.address.is_recorded and not self.address.is_here and not self._told:
            self._told = True
            # The store sees the vectors of linked names, and the index may come from a stranger.
            warnings.warn(
                f"the index looks for vectors at {self.address.public} ({URL_VARIABLE} names another place, or "
                "confirms this one)",
                stacklevel=2,
            )

    def _require(self, found: Mapping[str, Any] | None) -> None:
        """Require that the vectors found under the name are those of the index.

        Args:
            found: their ``fingerprint``, ``count`` and ``width``; ``None`` if there are none.

        Raises:
            StoreError: there are none, or they are others.
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
            # If the name was made from the fingerprint, other vectors under this name mean that somebody changed
            # them.
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
    """Make an error about a store, without credentials."""
    text = "" if reason is None else address.hidden(str(reason)).strip()
    reason = f" ({' '.join(text.split())})" if text else ""
    return error(f"the store {address.public} {what}{reason}: {advice}")


def unreachable(address: StoreAddress, reason: object) -> StoreError:
    """Make the error for a store that cannot be reached."""
    advice = f"start it, or say where it is now with {URL_VARIABLE}"
    return failure(address, "cannot be reached", advice, reason=reason, error=StoreUnavailableError)


def too_slow(address: StoreAddress) -> StoreError:
    """Make the error for a store that did not answer in time."""
    return failure(
        address,
        f"did not answer within {timeout():g} seconds",
        f"wait longer with {TIMEOUT_VARIABLE}=SECONDS, or build the index with --dense hnsw",
        error=StoreUnavailableError,
    )


def timeout() -> float:
    """Return how long nymlink waits for an answer of a store, in seconds.

    Raises:
        InputError: the value in the environment is not a number of seconds.
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
