"""PostgreSQL with pgvector as a store: its connection, time limits, uploads and searches."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, ClassVar, Final, LiteralString

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

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed


@contextmanager
def deadline(descriptor: int, seconds: float) -> Iterator[Event]:
    """Shut a socket down if the block has not ended in time.

    A thread that waits for the socket then gets an error.

    A request to cancel is not enough: a stopped server, or a network that drops everything, does not answer it.

    Yields:
        An event that is set when the time is up.
    """
    expired = Event()

    def shut() -> None:
        expired.set()
        # The family of sockets given here does not matter for shutting down.
        with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
            copy.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def prepare(connection: Connection, address: StoreAddress) -> None:
    """Prepare a database for vectors."""
    psycopg = psycopg_package()
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.Error as error:
        raise failure(
            address,
            "cannot hold vectors",
            "install pgvector there, and let an administrator run CREATE EXTENSION vector in this database",
            reason=error.diag.message_primary,
        ) from error
    register(connection, address)


def register(connection: Connection, address: StoreAddress) -> None:
    """Register the type of vectors with a connection."""
    from pgvector.psycopg import register_vector

    try:
        register_vector(connection)
    except psycopg_package().ProgrammingError as error:
        raise failure(
            address, "has no pgvector in this database", f"name the right one with {URL_VARIABLE}"
        ) from error


def connect(address: StoreAddress) -> Connection:
    """Open a connection. Each statement is a transaction of its own."""
    psycopg = psycopg_package()
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(address.url)
    except psycopg.Error:
        # Do not show the message of the library, which could quote a part of a password.
        raise failure(
            address, "has an address that is no URL of PostgreSQL", "write %-signs and the like in it as %25"
        ) from None
    defaults = {"connect_timeout": CONNECT_SECONDS, "application_name": "nymlink"}
    # Use no prepared statements: a connection pooler in front of the server may not support them.
    connection: Connection = psycopg.connect(**(defaults | parameters), autocommit=True, prepare_threshold=None)
    return connection


@contextmanager
def explained(address: StoreAddress) -> Iterator[None]:
    """Turn errors of psycopg into :class:`StoreError` with plain words."""
    psycopg = psycopg_package()
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise too_slow(address) from error
    except psycopg.OperationalError as error:
        if any(word in str(error) for word in ("password", "authentication")):
            advice = f"give the password in PGPASSWORD, in ~/.pgpass, or in {URL_VARIABLE}"
            raise failure(address, "does not let nymlink in", advice, reason=error) from error
        raise unreachable(address, error) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise failure(
            address, "does not let this user do that", "let an administrator grant it", reason=error
        ) from error
    except psycopg.Error as error:
        raise failure(address, "refused", "see its log", reason=error) from error


def statement(text: LiteralString, *values: int | str, **names: str) -> Composed:
    """Compose a statement. Values are inserted by place, names of tables and indexes by key."""
    from psycopg.sql import SQL, Identifier, Literal

    return SQL(text).format(*map(Literal, values), **{key: Identifier(name) for key, name in names.items()})


def psycopg_package() -> Any:
    """Import psycopg.

    Raises:
        MissingExtraError: psycopg or pgvector is not installed.
    """
    try:
        import pgvector.psycopg  # noqa: F401
        import psycopg.conninfo
    except ImportError as error:
        raise MissingExtraError("postgres", purpose="A store in PostgreSQL") from error
    return psycopg


_COPIED: Final = 1 << 14
"""Number of vectors copied in one transaction.

After a stop, the next build continues after the last transaction.
"""

_LARGEST_EF: Final = 1000
"""Limit of pgvector for ``hnsw.ef_search``."""

_INLINE_WIDTH: Final = 1900
"""Largest width of vectors that fit into a page of 8 kB. Comparing wider vectors takes far longer."""

_GRAPH_BYTES: Final = 1400
"""Bytes that building a graph needs for each vector, in addition to the numbers of the vector.

They hold its links.
"""

_LEAST_MEMORY: Final = 64
_MOST_MEMORY: Final = 4096
"""Smallest and largest memory of the server for building a graph, in megabytes.

The smallest is PostgreSQL's own default. The largest is enough for 1.4 million vectors of width 384.
"""

_IDLE: Final = 8
"""Largest number of idle connections that are kept for further searches."""


class PostgresStore(ServerStore):
    """Vectors in a table of PostgreSQL.

    Each search has a connection of its own, if possible an idle one. The comment of the table identifies its
    vectors.
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
            # If two builds upload the same vectors, the second waits, and then finds the vectors of the first.
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
        # Exact search orders ties by ascending row. A graph has no order of rows.
        order = "vector <#> %b, row" if self.is_exact else "vector <#> %b"
        query = statement(f"SELECT row FROM {{table}} ORDER BY {order} LIMIT %s", table=self.content.name)
        with explained(self.address), self._lent(k) as connection:
            for place, vector in enumerate(queries):
                found = self._execute(connection, query, (vector, k)).fetchall()
                rows[place, : len(found)] = [row for (row,) in found]
        return rows

    @contextmanager
    def _lent(self, k: int) -> Iterator[Connection]:
        """Lend a connection for a search. Afterwards the connection is kept, unless the search fails."""
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
        """Take an idle, working connection; ``None`` if there is none."""
        if self._process != os.getpid():
            # A forked process must not use the connections of its parent.
            self._process, self._idle = os.getpid(), []
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                # Another thread took the last idle connection.
                return None
            try:
                self._set_limits(connection, k)
            except psycopg_package().OperationalError:
                # The server was restarted.
                connection.close()
            else:
                return connection
        return None

    def _new_connection(self, k: int) -> Connection:
        """Connect, and check that the vectors are those of the index."""
        self._tell()
        connection = connect(self.address)
        try:
            register(connection, self.address)
            # Switch off compiling, because compiling a query takes longer than searching.
            connection.execute("SET jit = off")
            self._require(self._found(connection))
            self._set_limits(connection, k)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_limits(self, connection: Connection, k: int) -> None:
        """Set the limits of a search for k vectors: the time, and the size of the candidate list in a graph."""
        milliseconds = max(int(1000 * timeout()), 1)
        self._execute(connection, f"SET statement_timeout = {milliseconds}; SET hnsw.ef_search = {_ef(k)}")

    def _execute(self, connection: Connection, query: Any, values: Any = None) -> Any:
        """Execute a query. The time limit holds even if the server does not answer at all."""
        # Wait a little longer than the server's own limit.
        with deadline(connection.fileno(), timeout() + 1) as expired:
            try:
                return connection.execute(query, values)
            except psycopg_package().OperationalError as error:
                if expired.is_set():
                    raise too_slow(self.address) from error
                raise

    def _found(self, connection: Connection) -> dict[str, Any] | None:
        """Read from the table's comment which vectors it has; ``None`` if there is no table."""
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
    """Choose the size of the candidate list for k hits. A table without a graph ignores the size."""
    return min(max(EF, k), _LARGEST_EF)


def _copy(connection: Connection, table: str, start: int, vectors: HalfVectors) -> None:
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
        # Parallel workers need shared memory, and containers have only 64 MB of it by default.
        connection.execute("SET max_parallel_maintenance_workers = 0")
        connection.execute(create)


def _graph_memory(content: StoredContent) -> int:
    """Estimate the megabytes for building a graph. With less memory, building takes many times as long."""
    needed = content.count * (4 * content.width + _GRAPH_BYTES) >> 20
    return min(max(needed, _LEAST_MEMORY), _MOST_MEMORY)
