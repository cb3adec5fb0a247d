"""The folder of a job: its manifest, and a Parquet part for each shard.

A part takes its place in one step, with its counts in its footer: a part that is there is whole, whoever wrote it,
and the same to the byte as any other worker would write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.bulk.report import Counts
from nymlink.bulk.row import Row, Shard
from nymlink.bulk.tasks import Answer
from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.store.atomic import LOCK, atomic_file, is_leftover, locked_folder, output_errors
from nymlink.core.store.digests import file_digest, json_digest
from nymlink.core.store.manifest import write_manifest
from nymlink.core.store.output_checks import require_place
from nymlink.core.store.ownership import MANIFEST, manifest_of

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


KIND: Final = "bulk job"
_VERSION: Final = 1
_JOB: Final = "job.json"
"""The file that says what a job is while it is not finished."""
PARTS: Final = "parts"
"""The folder of the parts: nothing else is in it, so that it is read as one table."""
_SHOWN: Final = 3
"""Foreign files that a message names."""


class JobFolder:
    """A folder with a part for each shard of a job.

    Args:
        path: the folder.
        described: what the job depends on, as JSON values: another value makes another job.
        shards: the shards of its input.

    Attributes:
        path: the folder.
        parts: the folder of the parts in it.
        digest: of all that the job depends on.
    """

    def __init__(self, path: Path, described: Mapping[str, Any], shards: Sequence[Shard]) -> None:
        self.path = path
        self.parts = path / PARTS
        self._described = json.loads(json.dumps(described))
        self._shards = shards
        self.digest = json_digest(self._described)

    @contextmanager
    def opened(self, *, restart: bool) -> Iterator[dict[int, Counts]]:
        """Begin the job in the folder, or go on with the one that is there, alone until the block ends.

        Args:
            restart: replace a job that is there.

        Yields:
            The counts of the shards that are done.

        Raises:
            InputError: a job with other settings or input is there.
            OutputError: something else is there, another job is at work, or the folder cannot be written.
        """
        _job_in(self.path)
        require_place(self.path)
        with locked_folder(self.path, KIND), output_errors(self.path):
            # Again: another process may have begun or ended one meanwhile.
            self._begin(_job_in(self.path), restart=restart)
            self.parts.mkdir(exist_ok=True)
            yield self._done()

    def finish(self, counts: Counts) -> None:
        """Write the manifest, with a digest of each part, when all parts are there.

        Raises:
            OutputError: it cannot be written.
        """
        with output_errors(self.path):
            for path in self.parts.iterdir():
                if is_leftover(path.name):
                    # Of workers that were killed on other hosts.
                    path.unlink(missing_ok=True)
            paths = [self.parts / part_name(shard.number) for shard in self._shards]
            files = {
                f"{PARTS}/{path.name}": {"size": path.stat().st_size, "xxh3": file_digest(path)} for path in paths
            }
            body = {"kind": KIND, "format": _VERSION, **self._described, "counts": counts.to_dict()}
            write_manifest(self.path, {**body, "files": files})
            (self.path / _JOB).unlink(missing_ok=True)

    @property
    def is_finished(self) -> bool:
        """Whether the manifest is there."""
        return manifest_of(self.path) is not None

    def _done(self) -> dict[int, Counts]:
        found = ((shard.number, read_counts(self.parts, self.digest, shard.number)) for shard in self._shards)
        return {number: counts for number, counts in found if counts is not None}

    def _require_same(self, before: Mapping[str, Any]) -> None:
        changed = [name for name, value in self._described.items() if before.get(name) != value]
        if changed:
            raise InputError(
                f"holds another job, which differs in its {', '.join(changed)}: choose another output, or "
                "--restart to replace it",
                path=self.path,
            )

    def _begin(self, before: Mapping[str, Any] | None, *, restart: bool) -> None:
        """Make the folder that of this job, so that it is that of one job wherever this process is killed."""
        if before is not None and not restart:
            self._require_same(before)
            if self.is_finished:
                # Of a process that was killed at its very end.
                (self.path / _JOB).unlink(missing_ok=True)
                return
        elif self.parts.is_dir():
            for path in self.parts.iterdir():
                path.unlink(missing_ok=True)
        with atomic_file(self.path / _JOB, sweep=True) as partial:
            partial.write_text(json.dumps({"kind": KIND, **self._described}, indent=1), encoding="utf-8")
        (self.path / MANIFEST).unlink(missing_ok=True)


def _job_in(folder: Path) -> dict[str, Any] | None:
    """Read what job is in a folder; ``None`` where the folder is missing or empty.

    Raises:
        OutputError: something else is in it.
    """
    with output_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise OutputError("this is a file: name a folder to write", path=folder)
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        parts = {path.name for path in (folder / PARTS).iterdir()} if (folder / PARTS).is_dir() else set()
        job = manifest_of(folder) if MANIFEST in names else _read_job(folder / _JOB)
    names = {name for name in names if name != LOCK and not is_leftover(name)}
    foreign = names - {MANIFEST, _JOB, PARTS} | {
        f"{PARTS}/{name}" for name in parts if not is_part(name) and not is_leftover(name)
    }
    begun = job is not None and job.get("kind") == KIND
    if foreign or (names and not begun):
        others = ", ".join(islice(sorted(foreign or names), _SHOWN))
        raise OutputError(f"holds something other than a {KIND} ({others}): choose another output", path=folder)
    return job


def _read_job(path: Path) -> dict[str, Any] | None:
    try:
        job = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return job if isinstance(job, dict) else None
