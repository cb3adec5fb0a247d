"""The known servers: check a server, upload vectors to it, and open the vectors of an index there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import HalfVectors
from nymlink.index.stores.milvus import MilvusStore
from nymlink.index.stores.postgres import PostgresStore
from nymlink.index.stores.server import SERVER_KINDS, ServerStore, StoredContent
from nymlink.index.stores.vector_store import MILVUS, POSTGRES, StoreAddress

_STORES: Final[Mapping[str, type[ServerStore]]] = MappingProxyType({POSTGRES: PostgresStore, MILVUS: MilvusStore})


def check_store(address: StoreAddress, kind: str) -> None:
    """Check that a store is available and offers a kind of search. An index does this before it encodes names.

    Args:
        address: its address.
        kind: ``"exact"`` or ``"hnsw"``.

    Raises:
        InputError: stores do not offer this kind of search.
        MissingExtraError: the package of its client is not installed.
        StoreError: the store is not there, or cannot hold vectors.
    """
    if kind not in SERVER_KINDS:
        raise InputError(f"stores do not search by {kind}: choose {' or '.join(SERVER_KINDS)}")
    _STORES[address.server].check(address)


def upload(address: StoreAddress, vectors: HalfVectors, kind: str, *, progress: bool) -> ServerStore:
    """Copy vectors to a store, unless the store has them already.

    Args:
        address: its address.
        vectors: float16 (E, D): unit vectors.
        kind: ``"exact"`` or ``"hnsw"``.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        StoreError: they cannot be copied.
    """
    store = _STORES[address.server](address, StoredContent.of(vectors, kind))
    store.upload(vectors, progress=progress)
    return store


def open_store(
    address: StoreAddress, recorded: Mapping[str, Any], *, kind: str, count: int, width: int
) -> ServerStore:
    """Open the store of an index. The connection is made at the first search.

    Args:
        address: its present address.
        recorded: the result of :meth:`ServerStore.to_dict`.
        kind: ``"exact"`` or ``"hnsw"``.
        count: number of vectors.
        width: width of a vector.

    Raises:
        ValueError: the record is damaged.
    """
    if kind not in SERVER_KINDS:
        raise ValueError(f"no store searches by {kind}")
    return _STORES[address.server](address, StoredContent.from_dict(recorded, kind=kind, count=count, width=width))
