"""Detect damage to project files: by a seal over the whole file, and by checks of each row.

SQLite checks the structure of a file, but not its content: it accepts a term with a flipped bit. The seal is a
digest of all bytes. It is stored in the file itself, in a property that is replaced in place and counts as zeros
for the digest. The seal also stores SQLite's change counter: if the counter has changed, another program has
changed the file since, and the seal proves nothing.

A file may come from anybody, and a column of SQLite may hold values of any type. Therefore each row is checked
when a project is opened. Damaged rows are moved to the table ``set_aside``, with a reason, and are never read
again. Other terms, rows and decisions stay usable, and the content of damaged rows is not lost. Damaged links are
made anew instead.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.store.digests import digest
from nymlink.project.rows import CHANGES, ORIGINS, RELATIONS, VERDICTS
from nymlink.tables.cells import LONGEST_MENTION

_MARK: Final = b"nymlink-seal:"
_DIGITS: Final = 32 + 8
_SEAL: Final = re.compile(_MARK + rb"([0-9a-f]{%d})" % _DIGITS)
_ZEROS: Final = b"0" * _DIGITS
_CHANGES: Final = slice(24, 28)
"""Position of the change counter of a database, in bytes."""


def make_room(connection: sqlite3.Connection) -> None:
    """Add the place of the seal, in a transaction of its own, to a project without one.

    Raises:
        sqlite3.Error: it cannot be written.
    """
    connection.execute("INSERT OR IGNORE INTO property VALUES ('seal', ?)", ((_MARK + _ZEROS).decode(),))


def seal_project(path: Path) -> None:
    """Seal a file that nobody is writing to.

    Raises:
        OSError: it cannot be written.
    """
    content = path.read_bytes()
    places = [match.start(1) for match in _SEAL.finditer(content)]
    if len(places) != 1:
        return
    [at] = places
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(_digits(content, at))
        file.flush()
        os.fsync(file.fileno())


def is_broken(path: Path) -> bool:
    """Whether the content of a sealed file differs from its seal.

    Raises:
        OSError: it cannot be read.
    """
    if _has_log(path):
        return False
    content = path.read_bytes()
    places = list(_SEAL.finditer(content))
    # If there is a log now, another process has begun to write.
    if len(places) != 1 or places[0][1] == _ZEROS or _has_log(path):
        return False
    found, expected = places[0][1], _digits(content, places[0].start(1))
    return found != expected and found[32:] == expected[32:]


def _digits(content: bytes, at: int) -> bytes:
    whole = digest(content[:at] + _ZEROS + content[at + _DIGITS :]).hex()
    return (whole + content[_CHANGES].hex()).encode()


def _has_log(path: Path) -> bool:
    """Whether a file beside it has changes that are not yet in the database."""
    return any(
        (log := path.with_name(f"{path.name}{ending}")).is_file() and log.stat().st_size
        for ending in ("-wal", "-journal")
    )


_LAST_MOMENT: Final = 253_402_300_800_000
"""The year 10000, in milliseconds since 1970."""

_LARGEST: Final = 2**53
"""Largest integer that JavaScript in the pages reads exactly."""

_DEEPEST: Final = 20
"""Largest depth of nested objects and lists in JSON values."""


def _no_text(column: str) -> str:
    return f"typeof({column}) != 'text'"


def _no_number(column: str, largest: int = _LARGEST) -> str:
    return f"(typeof({column}) != 'integer' OR {column} NOT BETWEEN 0 AND {largest})"


def _no_json(column: str, kind: str, *, but: str = "0") -> str:
    """Write a condition: the column is not JSON of this kind, or it is, but ``but`` holds."""
    is_json = f"typeof({column}) = 'text' AND json_valid({column})"
    return f"CASE WHEN {is_json} THEN (json_type({column}) != '{kind}' OR {but}) ELSE 1 END"


def _no_texts(column: str) -> str:
    return _no_json(column, "array", but=f"EXISTS (SELECT 1 FROM json_each({column}) WHERE type != 'text')")


def _too_deep(column: str) -> str:
    steps = "length(path) - length(replace(replace(path, '[', ''), '.', ''))"
    return f"EXISTS (SELECT 1 FROM json_tree({column}) WHERE {steps} > {_DEEPEST})"


def _missing(column: str, table: str) -> str:
    return f"{column} NOT IN (SELECT id FROM {table})"


def _if_any(column: str, wrong: str) -> str:
    return f"({column} IS NOT NULL AND {wrong})"


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values)


_TARGETS: Final = f"""EXISTS (
    SELECT 1 FROM json_each(targets) AS target WHERE
    CASE WHEN target.type != 'object' THEN 1 ELSE
        json_type(target.value, '$.concept_id') IS NOT 'text'
        OR coalesce(json_type(target.value, '$.name'), 'text') != 'text'
        OR coalesce(json_extract(target.value, '$.relation'), 'exact') NOT IN ({_listed(RELATIONS)})
        OR coalesce(json_type(target.value, '$.details'), 'object') != 'object'
        OR coalesce(json_type(target.value, '$.part'), 'text') != 'text'
        OR coalesce(json_type(target.value, '$.denied'), 'true') NOT IN ('true', 'false')
        OR EXISTS (
            SELECT 1 FROM json_each(target.value) AS part
            WHERE part.key NOT IN ('concept_id', 'name', 'relation', 'part', 'denied', 'details')
        )
    END
)"""

_READING: Final = """(
    json_type(reading, '$.format') IS NOT 'text' OR json_type(reading, '$.delimiter') IS NOT 'text'
    OR json_type(reading, '$.encoding') IS NOT 'text' OR json_type(reading, '$.columns') IS NOT 'object'
    OR json_type(reading, '$.columns.mention') IS NOT 'integer'
    OR EXISTS (SELECT 1 FROM json_each(reading, '$.columns') WHERE type NOT IN ('integer', 'null'))
    OR json_extract(reading, '$.columns.mention') NOT BETWEEN 0 AND json_array_length(header) - 1
)"""

_NO_TYPES: Final = """EXISTS (
    SELECT 1 FROM json_each(types) AS own WHERE CASE WHEN own.type != 'array' THEN 1 ELSE
        json_type(own.value, '$[0]') IS NOT 'text'
        OR coalesce(json_type(own.value, '$[1]'), '') NOT IN ('text', 'null')
        OR json_array_length(own.value) != 2
    END
)"""

_WIDTH: Final = """json_array_length(cells) != (
    SELECT CASE WHEN typeof(header) = 'text' AND json_valid(header) THEN json_array_length(header) END
    FROM file WHERE id = row.file
)"""

_NO_LINK: Final = " OR ".join(
    [
        "typeof(state) != 'text' OR state NOT IN ('waiting', 'linked', 'failed')",
        # The reader of a link checks its content; there may be millions of candidates.
        "CASE WHEN link IS NULL THEN state = 'linked' "
        "WHEN typeof(link) != 'text' OR substr(link, 1, 1) != '{' THEN 1 ELSE NOT json_valid(link) END",
        _if_any("confidence", "(typeof(confidence) != 'real' OR confidence NOT BETWEEN 0 AND 1)"),
        _if_any("margin", "typeof(margin) != 'real'"),
        _if_any("nil", "(typeof(nil) != 'integer' OR nil NOT IN (0, 1))"),
    ]
)

_WRONG: Final[dict[str, dict[str, str]]] = {
    "property": {
        "value": (
            f"(name != 'seal' AND CASE WHEN {_no_text('value')} OR NOT json_valid(value) THEN 1 "
            "ELSE json_type(value) != "
            "CASE name WHEN 'title' THEN 'text' WHEN 'created' THEN 'integer' WHEN 'index' THEN 'object' "
            f"ELSE json_type(value) END OR {_too_deep('value')} END)"
        )
    },
    "file": {
        **{column: _no_text(column) for column in ("name", "digest", "preamble", "imported_by")},
        "header": _no_texts("header"),
        "reading": _no_json("reading", "object", but=f"{_READING} OR {_too_deep('reading')}"),
        "last_entry": _no_number("last_entry"),
        "imported_at": _no_number("imported_at", _LAST_MOMENT),
    },
    "term": {
        "text": f"({_no_text('text')} OR length(text) > {LONGEST_MENTION})",
        **{column: _no_text(column) for column in ("folded", "language", "type")},
        **{column: _no_number(column) for column in ("frequency", "rows")},
        "form_of": _if_any("form_of", _missing("form_of", "term")),
    },
    "row": {
        "file": _missing("file", "file"),
        "number": _no_number("number"),
        "term": _if_any("term", _missing("term", "term")),
        "code": _no_text("code"),
        "frequency": _no_number("frequency"),
        "cells": f"({_no_texts('cells')} OR {_WIDTH})",
        "types": _no_json("types", "object", but=_NO_TYPES),
    },
    "decision": {
        "term": _missing("term", "term"),
        **{column: _no_text(column) for column in ("reviewer", "essence", "comment")},
        "at": _no_number("at", _LAST_MOMENT),
        "origin": f"({_no_text('origin')} OR origin NOT IN ({_listed(ORIGINS)}))",
        "verdict": (
            f"CASE WHEN verdict IS NULL THEN origin != 'undo' ELSE {_no_text('verdict')} "
            f"OR verdict NOT IN ({_listed(VERDICTS)}) END"
        ),
        "targets": _no_json("targets", "array", but=f"{_TARGETS} OR {_too_deep('targets')}"),
        "batch": _if_any("batch", _no_number("batch")),
        "undoes": _if_any("undoes", _missing("undoes", "decision")),
        "details": _no_json("details", "object", but=_too_deep("details")),
    },
    "current": {
        "decision": _missing("decision", "decision"),
        "term": _missing("term", "term"),
        "reviewer": _no_text("reviewer"),
    },
    "assignment": {"term": _missing("term", "term"), "reviewer": _no_text("reviewer")},
    "adjudicator": {"reviewer": _no_text("reviewer")},
    "release_change": {
        "term": _missing("term", "term"),
        "kind": f"({_no_text('kind')} OR kind NOT IN ({_listed(CHANGES)}))",
        **{column: _no_text(column) for column in ("concept_id", "concept_name")},
        "now": f"CASE WHEN {_no_text('now')} THEN 1 ELSE NOT json_valid(now) END",
    },
}
"""Conditions for damage, for each table and column. A table comes after the tables that its rows refer to."""

_TABLE: Final = 'CREATE TABLE IF NOT EXISTS set_aside ("table" TEXT, reason TEXT, content TEXT)'

_CURRENT: Final = """
    INSERT INTO current SELECT term, reviewer, max(id) FROM decision
    WHERE origin != 'undo' AND id NOT IN (SELECT undoes FROM decision WHERE undoes IS NOT NULL)
    GROUP BY term, reviewer
"""


def find_wrong(connection: sqlite3.Connection) -> list[str]:
    """Describe the damaged rows of a project; the damaged links of terms come last."""
    found = [
        f"{count:,} of the rows of {table}: {reason}"
        for table in _WRONG
        for reason, count in connection.execute(
            f"SELECT {_reason(table)} AS reason, count(*) FROM {table} WHERE reason IS NOT NULL GROUP BY reason"
        )
    ]
    (links,) = connection.execute(f"SELECT count(*) FROM term WHERE {_NO_LINK}").fetchone()
    return [*found, *([f"{links:,} of the links of terms"] if links else [])]


def set_aside(connection: sqlite3.Connection) -> None:
    """Move damaged rows, and rows that refer to them, into a table of their own; delete damaged links.

    Args:
        connection: connection to a project, outside a transaction.
    """
    # Rows with a missing reference are among the damaged ones.
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in _statements(connection):
                connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _statements(connection: sqlite3.Connection) -> Iterator[str]:
    yield _TABLE
    for table in _WRONG:
        columns = [column for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")]
        content = " || ', ' || ".join(f"'{column}=' || quote({column})" for column in columns)
        yield (
            f"INSERT INTO set_aside SELECT '{table}', {_reason(table)} AS reason, {content} FROM {table} "
            "WHERE reason IS NOT NULL"
        )
        yield f"DELETE FROM {table} WHERE {_reason(table)} IS NOT NULL"
    yield "UPDATE term SET form_of = NULL WHERE form_of NOT IN (SELECT id FROM term)"
    # Another decision of a reviewer may be the last one now.
    yield "DELETE FROM current"
    yield _CURRENT
    yield (
        "UPDATE term SET state = 'waiting', link = NULL, confidence = NULL, margin = NULL, nil = NULL "
        f"WHERE {_NO_LINK}"
    )


def _reason(table: str) -> str:
    """Write an expression for the first damaged column of a row; NULL if none is damaged."""
    cases = " ".join(f"WHEN {wrong} THEN '{column}'" for column, wrong in _WRONG[table].items())
    return f"CASE {cases} END"
