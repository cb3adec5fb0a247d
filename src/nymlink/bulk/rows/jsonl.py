"""JSON lines: an object a line, one of whose members is what is asked of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nymlink.bulk.rows.cells import row_of
from nymlink.bulk.rows.row import Row, Shard, Source
from nymlink.bulk.rows.row_format import Headers, RowFormat
from nymlink.bulk.rows.text_shards import (
    Record,
    cut_records,
    opened_text,
    rejected_rows,
    shard_lines,
    shard_problems,
)
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems

_LOOKED_AT: Final = 50
"""First lines by which it is told which members objects have."""


def _recognises(_: Path, head: str) -> bool:
    return head.lstrip().startswith("{")


def _headers(path: Path) -> Headers:
    lines = islice(read_lines(path, Problems()), _LOOKED_AT)
    objects = (_object(line) for _, line in lines)
    names = dict.fromkeys(name for values in objects if values is not None for name in values)
    if not names:
        raise InputError(f"none of the first {_LOOKED_AT} lines is a JSON object", path=path)
    return Headers(tuple(names), fixed=False)


def _cut(source: Source, rows: int) -> Iterator[Shard]:
    with opened_text(source) as file:
        yield from cut_records(source, _records(file), rows)


def _records(lines: Any) -> Iterator[Record]:
    yield from enumerate(lines, 1)


def _read(shard: Shard) -> Iterator[Row]:
    columns = shard.source.columns
    assert columns is not None, "JSON lines have columns"
    problems = shard_problems(shard)
    for number, line in shard_lines(shard, problems):
        values = _object(line) if line.strip() else None
        if values is not None:
            yield row_of(number, values, columns)
        elif line.strip():
            yield Row(number, error="not a JSON object")
    yield from rejected_rows(shard, problems)


def _object(line: str) -> Mapping[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


FORMAT: Final = RowFormat("jsonl", _recognises, _headers, _cut, _read)
