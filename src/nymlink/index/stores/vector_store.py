"""Stores of vectors: their addresses, and the protocol of stores."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Vectors
from nymlink.index.hits import Rows

URL_VARIABLE: Final = "NYMLINK_STORE_URL"
"""Environment variable with the present URL of the store of an index, with credentials if necessary."""

POSTGRES: Final = "PostgreSQL"
MILVUS: Final = "Milvus"

_SERVERS: Final = {"postgresql": POSTGRES, "postgres": POSTGRES, "http": MILVUS, "https": MILVUS}
_FILE_ENDING: Final = ".db"
"""Ending of the name of a Milvus Lite file."""

_KEPT: Final = ("host", "port", "dbname", "user", "sslmode", "target_session_attrs")
"""Parameters of a URL that an index records. None of them is a secret or names a file."""

_HERE: Final = ("", "localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of a store.

    Attributes:
        server: ``"PostgreSQL"`` or ``"Milvus"``.
        url: the given URL, possibly with credentials. It is never shown, logged or written.
        public: the URL without credentials. For PostgreSQL, it has the name of the user, which is needed to look
            up the password.
        is_recorded: whether the address comes from an index, and not from the user.
    """

    server: str
    url: str = field(repr=False)
    public: str
    is_recorded: bool = False

    @classmethod
    def of(cls, url: str, *, is_recorded: bool = False) -> StoreAddress:
        """Read the URL of a server, or the path of a file of Milvus Lite.

        Raises:
            InputError: the text is neither of these. The message does not quote the text, because it may contain a
                password.
        """
        if "://" not in url:
            if Path(url).suffix != _FILE_ENDING:
                raise InputError(_UNKNOWN)
            path = str(Path(url).absolute())
            return cls(MILVUS, path, path, is_recorded)
        try:
            parts = urlsplit(url)
            server = _SERVERS[parts.scheme]
            public = _without_credentials(parts, keep_user=server == POSTGRES)
        except (KeyError, ValueError):
            raise InputError(_UNKNOWN) from None
        return cls(server, public if is_recorded else url, public, is_recorded)

    @classmethod
    def recorded(cls, public: str) -> StoreAddress:
        """Read the recorded address of an index.

        If the environment has the present address, read that address instead.

        Raises:
            InputError: the value in the environment is not the address of a store.
            ValueError: the recorded address is damaged.
        """
        if given := os.environ.get(URL_VARIABLE):
            try:
                return cls.of(given)
            except InputError as error:
                raise InputError(f"{URL_VARIABLE}: {error.message}") from None
        try:
            return cls.of(public, is_recorded=True)
        except InputError:
            raise ValueError("the address of its store is none") from None

    @property
    def is_file(self) -> bool:
        """Whether it is a file of Milvus Lite."""
        return "://" not in self.url

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine."""
        if self.is_file:
            return True
        parts = urlsplit(self.public)
        hosts = [parts.hostname or "", *(value for key, value in parse_qsl(parts.query) if key == "host")]
        return all(host in _HERE or host.startswith("/") for host in hosts)

    def hidden(self, message: str) -> str:
        """Hide credentials in a message of a library."""
        parts = urlsplit(self.url)
        written = [pair.partition("=") for pair in parts.query.split("&")]
        secrets = [parts.password or "", *(value for key, _, value in written if key not in _KEPT)]
        if self.server == MILVUS:
            # What stands before the "@" may be an API key.
            secrets.append(parts.netloc.rpartition("@")[0])
        secrets += map(unquote, secrets.copy())
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            message = message.replace(secret, "…")
        return message


_UNKNOWN: Final = (
    "the address of a store is none that nymlink knows: give a PostgreSQL server as "
    "postgresql://USER@HOST/DATABASE, a Milvus server as http://HOST:19530, or a file of Milvus Lite as NAME.db"
)


def _without_credentials(parts: SplitResult, *, keep_user: bool) -> str:
    """Remove the password from a URL, and everything else that may be a password."""
    _ = parts.port if "," not in parts.netloc else None
    login, at, host = parts.netloc.rpartition("@")
    user = login.partition(":")[0]
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key in _KEPT], safe="/")
    netloc = f"{user}{at}{host}" if keep_user else host
    # Keep the slashes, so that a URL without a host ("postgresql:///terms?host=/tmp") stays a valid URL.
    return f"{parts.scheme}://{netloc}{parts.path}{'?' if query else ''}{query}"


class Store(Protocol):
    """A search for the nearest vectors of an index, with a copy of the vectors.

    A store only finds candidates. Their scores are cosines of vectors in the mapped file of the index, so they are
    the same with every store. Several threads may search at the same time.

    Attributes:
        FILES: names of the files that :meth:`save` writes.
        is_exact: whether the store always finds the nearest vectors.
        most: largest k. For a larger k, nymlink searches the mapped file instead.
    """

    FILES: ClassVar[tuple[str, ...]]

    @property
    def is_exact(self) -> bool: ...

    @property
    def most(self) -> int: ...

    def search(self, queries: Vectors, k: int) -> Rows:
        """Find the entries of largest inner product with each query, in no defined order.

        Args:
            queries: float32 (Q, D).
            k: number of entries of a query, from 1 to :attr:`most`.

        Returns:
            int32 (Q, at least k): rows; :data:`~nymlink.index.hits.NONE` if there are fewer.

        Raises:
            StoreError: the store cannot be searched.
        """
        ...

    def save(self, directory: Path) -> None:
        """Write the store's files into the directory of the search.

        Raises:
            OSError: they cannot be written.
        """
        ...
