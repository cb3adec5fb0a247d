"""The output folder of a job: what the job is, the parts that are done, and the manifest once all are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nymlink.bulk.parts import is_part, part_name, read_counts
from nymlink.bulk.report import Counts
from nymlink.bulk.rows.row import Shard
from nymlink.core.errors import InputError, OutputError
from nymlink.core.store.atomic import atomic_file, is_leftover, output_errors
from nymlink.core.store.digests import file_digest, json_digest
from nymlink.core.store.folder_lock import LOCK, locked_folder
from nymlink.core.store.manifest import write_manifest
from nymlink.core.store.output_checks import require_place
from nymlink.core.store.ownership import MANIFEST, manifest_of

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
