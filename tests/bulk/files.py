"""Files of rows in every format that bulk jobs read, and the output of a job."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

Texts = list[tuple[str, str]]
"""Identifiers and texts."""


def jsonl(texts: Texts) -> bytes:
    return "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts).encode()


def delimited(texts: Texts, delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows([("id", "text"), *texts])
    return out.getvalue().encode()


def pubtator(texts: Texts) -> bytes:
    return "".join(f"{id}|t|{text}\n{id}|a|\n\n" for id, text in texts).encode()


def parquet(texts: Texts, *, column: str = "text", group: int = 7, compression: str = "snappy") -> bytes:
    out = io.BytesIO()
    table = pa.table({"id": [id for id, _ in texts], column: [text for _, text in texts]})
    pq.write_table(table, out, row_group_size=group, compression=compression)
    return out.getvalue()


def workbook(texts: Texts, *, column: str = "text") -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in [("id", column), *texts]:
        sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def output(folder: Path) -> list[dict[str, Any]]:
    """Read the output of a job as any reader of Parquet does: all parts as one table."""
    rows: list[dict[str, Any]] = pq.read_table(folder / "parts").to_pylist()
    return rows


def content(folder: Path) -> dict[str, bytes]:
    """Read all files of an output but the lock, which a process that was killed at its very end leaves."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
