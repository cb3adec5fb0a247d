"""Milvus as a store of vectors: a server, or a file of Milvus Lite."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from nymlink.core.errors import MissingExtraError
from nymlink.core.store.arrays import HalfVectors, Vectors
from nymlink.core.terminal import track
from nymlink.index.hits import NONE, Rows
from nymlink.index.stores.server import (
    CONNECT_SECONDS,
    EF,
    LINKS,
    ServerStore,
    StoredContent,
    failure,
    timeout,
    too_slow,
    unreachable,
)
from nymlink.index.stores.vector_store import URL_VARIABLE, StoreAddress

TOKEN_VARIABLE: Final = "NYMLINK_STORE_TOKEN"
"""Environment variable with USER:PASSWORD or an API key of a Milvus server."""

_INSERTED: Final = 1 << 12
"""Number of vectors inserted at a time, because a message to the server is at most 64 MB."""

_MOST: Final = 16_384
"""Largest number of hits of a query in Milvus."""

_UNREACHABLE: Final = 2
"""Error code of Milvus's client if it finds no server."""


class MilvusStore(ServerStore):
    """Vectors in a collection of Milvus.

    The name of the field of vectors contains the fingerprint of the vectors, because Milvus Lite keeps no
    descriptions.
    """

    extra: ClassVar[str] = "milvus"

    def __init__(self, address: StoreAddress, content: StoredContent) -> None:
        super().__init__(address, content)
        self._client: Any = None
        self._process: int | None = None
        self._connecting = Lock()

    @property
    def most(self) -> int:
        return _MOST

    @property
    def _field(self) -> str:
        return f"vector_{self.content.fingerprint}"

    @classmethod
    def check(cls, address: StoreAddress) -> None:
        with _explained(address):
            _connect(address).close()

    def upload(self, vectors: HalfVectors, *, progress: bool) -> None:
        with _explained(self.address):
            client = _connect(self.address)
            try:
                self._upload(client, vectors, progress=progress)
            finally:
                client.close()

    def _upload(self, client: Any, vectors: HalfVectors, *, progress: bool) -> None:
        content = self.content
        if client.has_collection(content.name):
            self._require(self._found(client))
            return
        # After a stopped build, start again: it is not known which rows Milvus has.
        partial = f"{content.name}_partial"
        client.drop_collection(partial)
        self._create(client, partial)
        for start in track(range(0, content.count, _INSERTED), "uploading vectors", shown=progress):
            block = vectors[start : start + _INSERTED].astype(np.float32)
            client.insert(partial, [{"row": row, self._field: vector} for row, vector in enumerate(block, start)])
        client.flush(partial)
        index = client.prepare_index_params()
        kind, settings = ("FLAT", {}) if self.is_exact else ("HNSW", {"M": LINKS, "efConstruction": EF})
        index.add_index(self._field, index_type=kind, metric_type="IP", params=settings)
        for _ in track([0], f"building {content.kind}", shown=progress):
            client.create_index(partial, index)
        client.rename_collection(partial, content.name)

    def _create(self, client: Any, name: str) -> None:
        """Create an empty collection."""
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False)
        schema.add_field("row", DataType.INT64, is_primary=True)
        schema.add_field(self._field, DataType.FLOAT_VECTOR, dim=self.content.width)
        client.create_collection(name, schema=schema)

    def search(self, queries: Vectors, k: int) -> Rows:
        rows = np.full((len(queries), k), NONE, np.int32)
        with _explained(self.address):
            answers = self._connected().search(
                self.content.name,
                data=list(queries),
                anns_field=self._field,
                limit=k,
                output_fields=["row"],
                search_params={"metric_type": "IP", "params": {} if self.is_exact else {"ef": max(EF, k)}},
                # The collection does not change once it has its final name.
                consistency_level="Eventually",
                timeout=timeout(),
            )
        for place, hits in enumerate(answers):
            rows[place, : len(hits)] = [hit["row"] for hit in hits]
        return rows

    def _connected(self) -> Any:
        """Connect once in each process, and check that the vectors are those of the index."""
        with self._connecting:
            if self._process != os.getpid():
                self._tell()
                client = _connect(self.address)
                try:
                    self._require(self._found(client))
                    client.load_collection(self.content.name, timeout=timeout())
                except BaseException:
                    client.close()
                    raise
                self._client, self._process = client, os.getpid()
            return self._client

    def _found(self, client: Any) -> dict[str, Any] | None:
        """Read which vectors the collection has; ``None`` if there is no collection."""
        name = self.content.name
        if not client.has_collection(name):
            return None
        vectors = [field for field in client.describe_collection(name)["fields"] if not field.get("is_primary")]
        return {
            "fingerprint": vectors[0]["name"].removeprefix("vector_") if vectors else None,
            "count": int(client.get_collection_stats(name)["row_count"]),
            "width": int(vectors[0]["params"].get("dim", 0)) if vectors else None,
        }


def _connect(address: StoreAddress) -> Any:
    client = _pymilvus().MilvusClient
    if address.is_file:
        if find_spec("milvus_lite") is None:
            raise failure(
                address, "needs Milvus Lite", "pip install milvus-lite (not on Windows), or name a server"
            )
        if address.is_recorded and not Path(address.url).exists():
            # Milvus Lite would make a new file.
            raise failure(address, "is not there", f"say where it is now with {URL_VARIABLE}")
        return client(address.url)
    parts = urlsplit(address.url)
    login, _, host = parts.netloc.rpartition("@")
    token = unquote(login) or os.environ.get(TOKEN_VARIABLE, "")
    database = parts.path.strip("/")
    return client(f"{parts.scheme}://{host}", token=token, db_name=database, timeout=CONNECT_SECONDS)


@contextmanager
def _explained(address: StoreAddress) -> Iterator[None]:
    """Turn errors of Milvus's client into :class:`StoreError` with plain words."""
    exceptions = _pymilvus().exceptions
    import grpc

    try:
        yield
    except (exceptions.MilvusException, grpc.RpcError, grpc.FutureTimeoutError) as error:
        message = str(getattr(error, "message", error))
        code = getattr(error, "code", None)
        if code == _UNREACHABLE or "UNAVAILABLE" in message:
            raise unreachable(address, message) from error
        if address.is_file and isinstance(error, exceptions.ConnectionConfigException):
            advice = "if another process has it open, end that first: only one can"
            raise failure(address, "cannot be opened", advice, reason=message) from error
        if "DEADLINE_EXCEEDED" in message or "timeout" in message.lower():
            raise too_slow(address) from error
        if "auth" in message.lower():
            advice = f"give USER:PASSWORD or the API key in {TOKEN_VARIABLE}"
            raise failure(address, "does not let nymlink in", advice, reason=message) from error
        raise failure(address, "refused", "see its log", reason=message) from error


def _pymilvus() -> Any:
    try:
        import pymilvus
    except ImportError as error:
        raise MissingExtraError("milvus", purpose="A store in Milvus") from error
    # Milvus's client would write a traceback to standard error for every error.
    for package in ("pymilvus", "milvus_lite"):
        logging.getLogger(package).setLevel(logging.CRITICAL + 1)
    return pymilvus
