"""Add a table to a project: its unchanged rows, and their distinct terms."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Unpack

from xxhash import xxh3_128_hexdigest

from nymlink.core.problems import Problems
from nymlink.project.forms import group_forms
from nymlink.project.import_decisions import apply_decisions
from nymlink.project.links import store_proposals
from nymlink.project.project import Project, now, store_property
from nymlink.project.stated_decisions import sssom_decisions, sssom_proposals, usagi_decisions
from nymlink.project.table_columns import Roles, find_roles
from nymlink.tables.cells import NO_TEXT, cell_language, cell_type, mention_fault
from nymlink.tables.sheet import Reading, Sheet, read_sheet
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import EVERYTHING, Restriction
from nymlink.vocabulary.vocabulary import Vocabulary

_COUNT: Final = re.compile(r"[0-9]{1,12}")


def add_table(
    project: Project,
    raw: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    by: str = "",
    composites: Composites = "given",
    restriction: Restriction = EVERYTHING,
    vocabulary: Vocabulary | None = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Add a table. Earlier decisions on its terms, or on other forms of them, count for them, too.

    Args:
        project: project opened for writing.
        raw: the bytes of the file.
        name: its name.
        columns: which column holds what (``mention``, ``code``, ``frequency``, ``language``, ``type``), by header
            or number, where it is not to be guessed.
        by: who adds it.
        composites: ``"always"`` to split the terms of the project that wait, and later ones, into parts.
        restriction: what the terms of the project that wait, and later ones, are linked to; empty to leave it as
            it is.
        vocabulary: the concepts that the project is linked to, by which ids in reviews and mappings are known.
        reading: see :func:`~nymlink.tables.sheet.read_sheet`.

    Returns:
        Number of the ``file``; numbers of its ``rows``, distinct ``terms``, ``new_terms`` and terms ``decided``
        before; and ``problems``. For a review of Usagi or SSSOM also its ``decisions``, which are applied: see
        :func:`nymlink.project.import_decisions.apply_decisions`. Mappings of SSSOM that nobody reviewed become the
        first candidates of their terms.

    Raises:
        InputError: it is no table, or has no such column; or the restriction names what does not occur.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    problems = Problems()
    if restriction and vocabulary is not None:
        restriction.names(vocabulary)
    read = read_sheet(raw, name, problems, **reading)
    roles, _ = find_roles(read, columns or {})
    with project.writing() as connection:
        last = connection.execute("SELECT coalesce(max(id), 0) FROM term").fetchone()[0]
        if composites == "always":
            store_property(connection, "composites", composites)
        if restriction:
            given = {name: list(values) for name, values in asdict(restriction).items() if values}
            store_property(connection, "restriction", given)
        file = _insert_file(connection, read, roles, xxh3_128_hexdigest(raw), by)
        _insert_rows(connection, file, read, roles, problems)
        group_forms(connection)
        terms, new, decided = connection.execute(
            "SELECT count(DISTINCT row.term), count(DISTINCT iif(row.term > ?, row.term, NULL)), "
            "count(DISTINCT settled.term) FROM row LEFT JOIN settled ON settled.term = row.term WHERE file = ?",
            (last, file),
        ).fetchone()
        stated = {}
        if read.format in ("usagi", "sssom"):
            stated["decisions"] = apply_decisions(
                connection,
                usagi_decisions(read) if read.format == "usagi" else sssom_decisions(read),
                vocabulary=vocabulary,
                reviewer=by,
                problems=problems,
                name=read.name,
                file=file,
            )
        if read.format == "sssom" and vocabulary is not None:
            store_proposals(connection, sssom_proposals(read), vocabulary)
    return {
        "file": file,
        "rows": len(read.rows),
        "terms": terms,
        "new_terms": new,
        "decided": decided,
        **stated,
        "problems": problems.to_dict(),
    }


def _insert_file(connection: sqlite3.Connection, sheet: Sheet, roles: Roles, digest: str, by: str) -> int:
    reading = {
        "format": sheet.format,
        "encoding": sheet.encoding,
        "delimiter": sheet.delimiter,
        "columns": roles.to_dict(),
    }
    cursor = connection.execute(
        "INSERT INTO file (name, digest, reading, header, preamble, last_entry, imported_at, imported_by) "
        "VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM decision), ?, ?)",
        (sheet.name, digest, json.dumps(reading), json.dumps(sheet.header), sheet.preamble, now(), by),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _insert_rows(
    connection: sqlite3.Connection, file: int, sheet: Sheet, roles: Roles, problems: Problems
) -> None:
    path = Path(sheet.name)
    known: dict[tuple[str, str, str], int] = {
        (text, language, type_): id_
        for id_, text, language, type_ in connection.execute("SELECT id, text, language, type FROM term")
    }
    counted: set[tuple[int, str]] = set()
    rows = []
    for number, cells in sheet.rows:
        term = None
        text = _clean(cells[roles.mention])
        if number in sheet.ragged:
            text = ""
        elif (number, roles.mention) in sheet.nested:
            problems.reject(path, number, NO_TEXT, outcome="kept, not linked")
            text = ""
        elif (fault := mention_fault(text)) is not None:
            problems.reject(path, number, fault, outcome="kept, not linked")
            text = ""
        code = "" if roles.code is None else _clean(cells[roles.code])
        frequency = 1 if roles.frequency is None else _count(cells[roles.frequency])
        if text:
            stated = "" if roles.language is None else cells[roles.language]
            language = cell_language(stated, path, number, problems) or ""
            type_ = "" if roles.type is None else _clean(cells[roles.type])
            key = (text, language, type_)
            term = known.get(key)
            if term is None:
                cursor = connection.execute(
                    "INSERT INTO term (text, folded, language, type) VALUES (?, ?, ?, ?)",
                    (text, text.casefold(), language, type_),
                )
                assert cursor.lastrowid is not None
                term = known[key] = cursor.lastrowid
            if sheet.format in ("usagi", "sssom"):
                # A code has a row for each of its targets, and is there once.
                frequency = 0 if (term, code) in counted else frequency
                counted.add((term, code))
        cells = [cell.encode("utf-8", "replace").decode() for cell in cells]
        types = {
            place: typed for place, each in sheet.types.get(number, {}).items() if (typed := cell_type(*each))
        }
        written = (json.dumps(each, ensure_ascii=False) for each in (cells, types))
        rows.append((file, number, term, code, frequency, *written))
    connection.executemany(
        "INSERT INTO row (file, number, term, code, frequency, cells, types) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
    )
    connection.execute(
        "UPDATE term SET (rows, frequency) = "
        "(SELECT count(*), coalesce(sum(frequency), 0) FROM row WHERE row.term = term.id) "
        "WHERE id IN (SELECT term FROM row WHERE file = ?)",
        (file,),
    )


def _clean(cell: str) -> str:
    """Write a term with single blanks, without halves of characters."""
    return " ".join(cell.encode("utf-8", "replace").decode().split())


def _count(cell: str) -> int:
    stated = cell.strip()
    return int(stated) if stated.isascii() and _COUNT.fullmatch(stated) else 0
