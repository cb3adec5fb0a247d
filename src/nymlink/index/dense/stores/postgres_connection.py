"""Connections to PostgreSQL with pgvector: opening them, statements, errors in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString

from nymlink.core.errors import MissingExtraError
from nymlink.index.dense.stores.address import URL_VARIABLE, StoreAddress
from nymlink.index.dense.stores.server import CONNECT_SECONDS, failure, too_slow, unreachable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed


def prepare(connection: Connection, address: StoreAddress) -> None:
    """Make a database able to hold vectors."""
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
    """Teach a connection the type of vectors."""
    from pgvector.psycopg import register_vector

    try:
        register_vector(connection)
    except psycopg_package().ProgrammingError as error:
        raise failure(
            address, "has no pgvector in this database", f"name the right one with {URL_VARIABLE}"
        ) from error


def connect(address: StoreAddress) -> Connection:
    """Open a connection; each statement is a transaction."""
    psycopg = psycopg_package()
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(address.url)
    except psycopg.Error:
        # Its message would quote what may be a part of a password.
        raise failure(
            address, "has an address that is no URL of PostgreSQL", "write %-signs and the like in it as %25"
        ) from None
    defaults = {"connect_timeout": CONNECT_SECONDS, "application_name": "nymlink"}
    # Statements are not prepared: poolers between here and the server may not know of them.
    connection: Connection = psycopg.connect(**(defaults | parameters), autocommit=True, prepare_threshold=None)
    return connection


@contextmanager
def explained(address: StoreAddress) -> Iterator[None]:
    """Raise errors of the library as errors in plain words."""
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
    """Compose a statement of values, by place, and names of tables and indexes, by key."""
    from psycopg.sql import SQL, Identifier, Literal

    return SQL(text).format(*map(Literal, values), **{key: Identifier(name) for key, name in names.items()})


def psycopg_package() -> Any:
    """Import psycopg.

    Raises:
        MissingExtraError: it, or pgvector, is not installed.
    """
    try:
        import pgvector.psycopg  # noqa: F401
        import psycopg.conninfo
    except ImportError as error:
        raise MissingExtraError("postgres", purpose="A store in PostgreSQL") from error
    return psycopg
