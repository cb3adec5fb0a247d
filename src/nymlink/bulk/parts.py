"""Parts of the output: a Parquet file for each shard, which says of itself what it is made of.

A part takes its place in one step, with its counts in its footer: a part that is there is whole, whoever wrote it,
and the same to the byte as any other worker would write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.bulk.report import Counts
from nymlink.bulk.rows.row import Row, Shard
from nymlink.bulk.tasks.task import Answer
from nymlink.core.json_objects import member, to_dataclass
from nymlink.core.store.atomic import atomic_file

_KEY: Final = b"nymlink"
"""The key of the footer under which a part says what it is."""

_NAME: Final = re.compile(r"part-\d{6,}\.parquet")


def part_name(number: int) -> str:
    """Name the part of a shard."""
    return f"part-{number:06d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file has the name of a part."""
    return _NAME.fullmatch(name) is not None


def part_schema(answers: pa.Schema) -> pa.Schema:
    """Return the columns of a part: where a row is from, its answer, and why it has none."""
    return pa.schema([("source", pa.string()), ("row", pa.int64()), *answers, ("error", pa.string())])


def write_part(
    folder: Path, job: str, shard: Shard, rows: Sequence[Row], answers: Sequence[Answer], columns: pa.Schema
) -> Counts:
    """Write the part of a shard.

    Args:
        folder: the output of the job.
        job: digest of the job.
        shard: the shard.
        rows: its rows.
        answers: an answer for each row.
        columns: the columns of the answers, the id first.

    Raises:
        OutputError: it cannot be written.
    """
    nothing = (None,) * (len(columns) - 1)
    written: list[tuple[Any, ...]] = []
    for row, answer in zip(rows, answers, strict=True):
        # A row without an answer has its id, which is the first column, and why.
        values = answer.rows if answer.error is None else [(row.id, *nothing)]
        written += ((shard.source.name, row.number, *each, answer.error) for each in values)
    counts = Counts(
        rows=len(rows),
        rejected=sum(answer.error is not None for answer in answers),
        mentions=sum(answer.mentions for answer in answers),
        nil=sum(answer.nil for answer in answers),
        written=len(written),
    )
    said = json.dumps({"job": job, "shard": shard.number, "counts": counts.to_dict()})
    schema = part_schema(columns).with_metadata({_KEY: said.encode()})
    columnwise = zip(*written, strict=True) if written else ([] for _ in schema)
    arrays = [_array(values, field.type) for values, field in zip(columnwise, schema, strict=True)]
    with atomic_file(folder / part_name(shard.number)) as partial:
        pq.write_table(pa.table(arrays, schema=schema), partial, compression="zstd")
    return counts


def read_counts(folder: Path, job: str, number: int) -> Counts | None:
    """Read the counts of the part of a shard; ``None`` where the job has not written it yet."""
    try:
        said = json.loads((pq.read_schema(folder / part_name(number)).metadata or {})[_KEY])
        if member(said, "job", str) != job or member(said, "shard", int) != number:
            return None
        return to_dataclass(Counts, member(said, "counts", dict))
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None


def _array(values: Sequence[Any], type: pa.DataType) -> pa.Array:
    return pa.array([_whole(value) for value in values], type)


def _whole(value: Any) -> Any:
    """Replace what is no Unicode text in a string."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
