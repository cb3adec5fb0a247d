"""Vectors in PostgreSQL, searched with pgvector."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from nymlink.core.store.arrays import HalfVectors, Vectors
from nymlink.core.terminal.progress import track
from nymlink.index.dense.stores.address import StoreAddress
from nymlink.index.dense.stores.content import StoredContent
from nymlink.index.dense.stores.deadline import deadline
from nymlink.index.dense.stores.postgres_connection import (
    connect,
    explained,
    prepare,
    psycopg_package,
    register,
    statement,
)
from nymlink.index.dense.stores.server import (
    EF,
    LINKS,
    ServerStore,
    timeout,
    too_slow,
)
from nymlink.index.fusion.hits import NONE, Rows

if TYPE_CHECKING:
    from psycopg import Connection

_COPIED: Final = 1 << 14
"""Vectors copied in one transaction: a build that was stopped goes on after the last."""

_LARGEST_EF: Final = 1000
"""Limit of pgvector for ``hnsw.ef_search``."""

_INLINE_WIDTH: Final = 1900
"""Vectors of at most this width fit into a page of 8 kB: stored elsewhere, comparing all takes far longer."""

_GRAPH_BYTES: Final = 1400
"""Memory of a vector in a graph that is being built, beside its numbers: its links and what they are kept in."""

_LEAST_MEMORY: Final = 64
_MOST_MEMORY: Final = 4096
"""Megabytes for the server to build a graph: its own default, and enough for 1.4 million vectors of width 384."""

_IDLE: Final = 8
"""Connections kept for the next searches."""


class PostgresStore(ServerStore):
    """Vectors in a table of PostgreSQL.

    Each search has a connection of its own, out of those that are idle. The comment of the table says whose
    vectors it has.
    """

    extra: ClassVar[str] = "postgres"

    def __init__(self, address: StoreAddress, content: StoredContent) -> None:
        super().__init__(address, content)
        self._idle: list[Connection] = []
        self._process: int | None = None

    @property
    def most(self) -> int:
        return np.iinfo(np.int32).max if self.is_exact else _LARGEST_EF

    @classmethod
    def check(cls, address: StoreAddress) -> None:
        with explained(address), connect(address) as connection:
            prepare(connection, address)

    def upload(self, vectors: HalfVectors, *, progress: bool) -> None:
        content = self.content
        partial = f"{content.name}_partial"
        with explained(self.address), connect(self.address) as connection:
            prepare(connection, self.address)
            # Of two builds of the same vectors, the second finds what the first has uploaded.
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [content.name])
            if self._found(connection) is not None:
                self._require(self._found(connection))
                return
            table = statement(
                "CREATE TABLE IF NOT EXISTS {table} (row integer, vector vector({}))", content.width, table=partial
            )
            connection.execute(table)
            if content.width <= _INLINE_WIDTH:
                connection.execute(statement("ALTER TABLE {table} ALTER vector SET STORAGE PLAIN", table=partial))
            ((done,),) = connection.execute(statement("SELECT count(*) FROM {table}", table=partial)).fetchall()
            starts = range(done, content.count, _COPIED)
            for start in track(starts, "uploading vectors", shown=progress):
                _copy(connection, partial, start, vectors[start : start + _COPIED])
            if not self.is_exact:
                for _ in track([0], "building hnsw", shown=progress):
                    _build_graph(connection, partial, content)
            described = {"fingerprint": content.fingerprint, "count": content.count, "width": content.width}
            with connection.transaction():
                comment = statement("COMMENT ON TABLE {table} IS {}", json.dumps(described), table=partial)
                connection.execute(comment)
                connection.execute(statement("ALTER TABLE {old} RENAME TO {new}", old=partial, new=content.name))
            connection.execute(statement("ANALYZE {table}", table=content.name))

    def search(self, queries: Vectors, k: int) -> Rows:
        rows = np.full((len(queries), k), NONE, np.int32)
        # Equal products by ascending row, as exact search has them; the graph knows no order of rows.
        order = "vector <#> %b, row" if self.is_exact else "vector <#> %b"
        query = statement(f"SELECT row FROM {{table}} ORDER BY {order} LIMIT %s", table=self.content.name)
        with explained(self.address), self._lent(k) as connection:
            for place, vector in enumerate(queries):
                found = self._execute(connection, query, (vector, k)).fetchall()
                rows[place, : len(found)] = [row for (row,) in found]
        return rows

    @contextmanager
    def _lent(self, k: int) -> Iterator[Connection]:
        """Lend a connection for searching, which is kept for later unless that fails."""
        connection = self._idle_connection(k) or self._new_connection(k)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if len(self._idle) < _IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _idle_connection(self, k: int) -> Connection | None:
        """Take a connection that was kept and still works; ``None`` where there is none."""
        if self._process != os.getpid():
            # A process that was forked must not speak on the connections of its parent.
            self._process, self._idle = os.getpid(), []
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                # Another thread was faster.
                return None
            try:
                self._set_limits(connection, k)
            except psycopg_package().OperationalError:
                # The server was started again since.
                connection.close()
            else:
                return connection
        return None

    def _new_connection(self, k: int) -> Connection:
        """Connect, and check whose vectors there are."""
        self._tell()
        connection = connect(self.address)
        try:
            register(connection, self.address)
            # Compiling a query takes longer than searching.
            connection.execute("SET jit = off")
            self._require(self._found(connection))
            self._set_limits(connection, k)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_limits(self, connection: Connection, k: int) -> None:
        """Set what limits a search for k vectors: its time, and how far it looks in a graph."""
        milliseconds = max(int(1000 * timeout()), 1)
        self._execute(connection, f"SET statement_timeout = {milliseconds}; SET hnsw.ef_search = {_ef(k)}")

    def _execute(self, connection: Connection, query: Any, values: Any = None) -> Any:
        """Execute a query, within a time limit that holds even if the server does not answer at all."""
        # A little longer than the server itself takes to give up.
        with deadline(connection.fileno(), timeout() + 1) as expired:
            try:
                return connection.execute(query, values)
            except psycopg_package().OperationalError as error:
                if expired.is_set():
                    raise too_slow(self.address) from error
                raise

    def _found(self, connection: Connection) -> dict[str, Any] | None:
        """Read what the table says of itself; ``None`` where there is none."""
        query = "SELECT oid, obj_description(oid, 'pg_class') FROM pg_class WHERE oid = to_regclass(%s)"
        found = connection.execute(query, [self.content.name]).fetchone()
        if found is None:
            return None
        try:
            described = json.loads(found[1] or "{}")
        except ValueError:
            described = {}
        return described if isinstance(described, dict) else {}


def _ef(k: int) -> int:
    """Choose the size of the candidate list; a table without a graph ignores it."""
    return min(max(EF, k), _LARGEST_EF)


def _copy(connection: Connection, table: str, start: int, vectors: HalfVectors) -> None:
    """Append vectors to a table, all or none."""
    with (
        connection.cursor() as cursor,
        cursor.copy(statement("COPY {table} FROM STDIN (FORMAT BINARY)", table=table)) as copy,
    ):
        copy.set_types(["int4", "vector"])
        for row, vector in enumerate(vectors.astype(np.float32), start):
            copy.write_row((row, vector))


def _build_graph(connection: Connection, table: str, content: StoredContent) -> None:
    """Build the HNSW index of a table."""
    connection.execute(f"SET maintenance_work_mem = '{_graph_memory(content)}MB'")
    create = statement(
        "CREATE INDEX IF NOT EXISTS {index} ON {table} USING hnsw (vector vector_ip_ops) "
        "WITH (m = {}, ef_construction = {})",
        LINKS,
        EF,
        index=f"{content.name}_graph",
        table=table,
    )
    try:
        connection.execute(create)
    except psycopg_package().errors.DiskFull:
        # Parallel workers share this memory, of which containers have 64 MB unless they are told otherwise.
        connection.execute("SET max_parallel_maintenance_workers = 0")
        connection.execute(create)


def _graph_memory(content: StoredContent) -> int:
    """Estimate the megabytes in which a graph is built: where it does not fit, that takes many times as long."""
    needed = content.count * (4 * content.width + _GRAPH_BYTES) >> 20
    return min(max(needed, _LEAST_MEMORY), _MOST_MEMORY)
