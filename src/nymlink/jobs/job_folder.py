"""The folder of a job: settings, a part (an output file) for each shard, and a journal of finished parts.

A worker writes a part atomically, and computes the digest of the part. The process that runs the job then writes
size and digest into the journal, as the record of the part. A part counts only if its size and digest match its
record. An incomplete, damaged or foreign part is done again. Nothing depends on the times of files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_files import member
from nymlink.core.store.atomic import LOCK, atomic_file, is_leftover, locked_folder, output_errors
from nymlink.core.store.digests import file_digest, json_digest
from nymlink.core.store.foreign_folders import read_json_file
from nymlink.core.store.manifest import is_sealed, write_manifest
from nymlink.core.store.output_checks import require_place, with_article
from nymlink.core.store.ownership import MANIFEST, manifest_of

PARTS: Final = "parts"
"""The folder of the parts. It holds nothing else, because it is read as one table."""

_JOB: Final = "job.json"
"""The file with the settings of an unfinished job."""
_JOURNAL: Final = "done.jsonl"
"""The file with a record of each finished part of an unfinished job."""
_VERSION: Final = 2
_NAME: Final = re.compile(r"part-(\d{6,18})\.[a-z]+")
_SHOWN: Final = 3
"""Largest number of foreign files that a message names."""


@dataclass(frozen=True, slots=True)
class Part:
    """Record of a finished part.

    Attributes:
        size: number of bytes of the part.
        xxh3: digest of the part.
        facts: facts about the shard, as JSON values.
    """

    size: int
    xxh3: str
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, value: Any) -> Part:
        """Make a record from its JSON values.

        Raises:
            ValueError: the values are not those of a record.
        """
        return cls(member(value, "size", int), member(value, "xxh3", str), member(value, "facts", dict))

    def is_at(self, path: Path) -> bool:
        """Whether the file at a path is this part, complete and unchanged."""
        try:
            return path.stat().st_size == self.size and file_digest(path) == self.xxh3
        except OSError:
            return False


def write_part(path: Path, write: Callable[[Path], object], facts: Mapping[str, Any]) -> Part:
    """Write a part, atomically.

    Args:
        path: the path of the part.
        write: function that writes the part to the path given to it.
        facts: facts about the shard.

    Raises:
        OutputError: it cannot be written.
    """
    with atomic_file(path) as partial:
        write(partial)
        return Part(partial.stat().st_size, file_digest(partial), facts)


class JobFolder:
    """A folder with a part for each shard of a job.

    Args:
        path: the folder.
        kind: noun for the job: ``"bulk job"``.
        ending: ending of the names of the parts.
        described: the settings of the job, as JSON values. A job with other values is another job.
        replace: advice for a message: how to replace another job in the folder.

    Attributes:
        path: the folder.
        parts: the folder of the parts, which is in the folder of the job.
        digest: digest of the settings.
    """

    def __init__(self, path: Path, kind: str, ending: str, described: Mapping[str, Any], *, replace: str) -> None:
        self.path = path
        self.parts = path / PARTS
        self._kind = kind
        self._ending = ending
        self._described = json.loads(json.dumps(described))
        self._replace = replace
        self.digest = json_digest(self._described)

    def part(self, number: int) -> Path:
        """Return the path of the part of a shard."""
        return self.parts / f"part-{number:06d}{self._ending}"

    @contextmanager
    def opened(self, *, restart: bool) -> Iterator[dict[int, Part]]:
        """Begin or continue the job of the folder. Until the block ends, no other process can.

        Args:
            restart: replace an existing job.

        Yields:
            Number of each finished shard → record of its part.

        Raises:
            InputError: the folder has a job with other settings or input.
            OutputError: the folder has something else or a link, another process is working on it, or it cannot be
                written.
        """
        self._job()
        require_place(self.path)
        with locked_folder(self.path, self._kind), output_errors(self.path):
            # Check again: another process may have begun or ended a job in between.
            self._begin(self._job(), restart=restart)
            self.parts.mkdir(exist_ok=True)
            done = {number: part for number, part in self._records() if part.is_at(self.part(number))}
            if self.manifest is None:
                # Remove the records of lost parts, and a line that is incomplete because a process was killed.
                self._write_journal(done)
            yield done

    def note(self, number: int, part: Part) -> None:
        """Write the record of a finished part into the journal.

        Raises:
            OutputError: it cannot be written.
        """
        with output_errors(self.path), open(self.path / _JOURNAL, "a", encoding="utf-8") as journal:
            journal.write(self._line(number, part))

    def keep(self, parts: Mapping[int, Part], moved: Mapping[int, int]) -> None:
        """Continue a job whose shards have changed: keep some parts, under their new numbers.

        If the process is killed before the end, the parts that are not yet moved are done again.

        Args:
            parts: new number of each shard to keep → record of its part.
            moved: former number → new number, of the parts whose number changes.

        Raises:
            OutputError: the folder cannot be written.
        """
        with output_errors(self.path):
            self._write_job()
            self._write_journal(parts)
            (self.path / MANIFEST).unlink(missing_ok=True)
            # First out of the way: a former number may be the new number of another part.
            free = max((*moved, *moved.values(), -1)) + 1
            for place, number in enumerate(moved):
                self.part(number).replace(self.part(free + place))
            for place, number in enumerate(moved.values()):
                self.part(free + place).replace(self.part(number))

    def finish(self, parts: Mapping[int, Part], body: Mapping[str, Any]) -> None:
        """Write the manifest with the record of each part, when all parts are done.

        Args:
            parts: number of each shard → record of its part.
            body: further entries of the manifest.

        Raises:
            OutputError: it cannot be written.
        """
        with output_errors(self.path):
            names = {self.part(number).name for number in parts}
            for path in self.parts.iterdir():
                # A worker that was killed on another host leaves a temporary file. Input with other shards leaves
                # parts with former numbers.
                if is_leftover(path.name) or path.name not in names:
                    path.unlink(missing_ok=True)
            files = {f"{PARTS}/{self.part(number).name}": asdict(parts[number]) for number in sorted(parts)}
            about = {"kind": self._kind, "format": _VERSION, **self._described, **body}
            write_manifest(self.path, {**about, "files": files})
            self._clear_unfinished()

    def remove(self) -> None:
        """Remove the job. The folder stays if it has anything else.

        Raises:
            OutputError: it cannot be removed.
        """
        with output_errors(self.path):
            _empty(self.parts)
            self.parts.rmdir()
            self._clear_unfinished()
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()

    def another(self, differs: str) -> InputError:
        """Return the error that the folder has another job.

        Args:
            differs: what differs.
        """
        return InputError(
            f"holds another job, which differs in its {differs}: choose another output, or {self._replace}",
            path=self.path,
        )

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        """The manifest of a finished job; ``None`` if the job is not finished, or the manifest is damaged."""
        manifest = manifest_of(self.path)
        return manifest if manifest is not None and is_sealed(manifest) else None

    def _records(self) -> Iterator[tuple[int, Part]]:
        """Yield the records of parts, from the manifest or from the journal."""
        if (manifest := self.manifest) is not None:
            for name, value in manifest["files"].items():
                if found := _NAME.fullmatch(name.removeprefix(f"{PARTS}/")):
                    yield from _record(int(found[1]), value)
            return
        try:
            lines = (self.path / _JOURNAL).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                value = json.loads(line)
                if member(value, "job", str) == self.digest:
                    yield from _record(member(value, "shard", int), value)
            except (ValueError, RecursionError):
                continue

    def _line(self, number: int, part: Part) -> str:
        return json.dumps({"job": self.digest, "shard": number, **asdict(part)}) + "\n"

    def _require_same(self, before: Mapping[str, Any]) -> None:
        changed = [name for name, value in self._described.items() if before.get(name) != value]
        if changed:
            raise self.another(", ".join(changed))

    def _begin(self, before: Mapping[str, Any] | None, *, restart: bool) -> None:
        """Turn the folder into the folder of this job.

        If the process is killed at any point, the folder still belongs to exactly one job.
        """
        if before is not None and not restart:
            self._require_same(before)
            if self.manifest is not None:
                # The process that finished the job was killed before it removed these files.
                self._clear_unfinished()
                return
        elif self.parts.is_dir():
            _empty(self.parts)
        self._write_job()
        (self.path / MANIFEST).unlink(missing_ok=True)

    def _write_job(self) -> None:
        with atomic_file(self.path / _JOB, sweep=True) as partial:
            partial.write_text(json.dumps({"kind": self._kind, **self._described}, indent=1), encoding="utf-8")

    def _write_journal(self, parts: Mapping[int, Part]) -> None:
        with atomic_file(self.path / _JOURNAL) as partial:
            lines = (self._line(number, part) for number, part in parts.items())
            partial.write_text("".join(lines), encoding="utf-8")

    def _clear_unfinished(self) -> None:
        for name in (_JOURNAL, _JOB):
            (self.path / name).unlink(missing_ok=True)

    def _job(self) -> dict[str, Any] | None:
        """Read which job is in the folder; ``None`` if the folder is missing or empty."""
        folder = self.path
        with output_errors(folder):
            if folder.exists() and not folder.is_dir():
                raise OutputError("this is a file: name a folder to write", path=folder)
            names, parts = _names(folder), _names(folder / PARTS)
            job = manifest_of(folder) if MANIFEST in names else _read_job(folder / _JOB)
        foreign = names - {MANIFEST, _JOB, _JOURNAL, PARTS} | {
            f"{PARTS}/{name}" for name in parts if not (_NAME.fullmatch(name) and name.endswith(self._ending))
        }
        begun = job is not None and job.get("kind") == self._kind
        if foreign or (names and not begun):
            others = ", ".join(islice(sorted(foreign or names), _SHOWN))
            raise OutputError(
                f"holds something other than {with_article(self._kind)} ({others}): choose another output",
                path=folder,
            )
        return job


def _names(folder: Path) -> set[str]:
    """List the names in a folder, except those of temporary files."""
    names: set[str] = set()
    if not folder.is_dir():
        return names
    with os.scandir(folder) as entries:
        for entry in entries:
            is_ours = entry.name in (MANIFEST, _JOB, _JOURNAL, PARTS) or _NAME.fullmatch(entry.name)
            is_right = entry.is_dir if entry.name == PARTS else entry.is_file
            if is_ours and not is_right(follow_symlinks=False):
                raise OutputError(
                    "this is a link, a pipe or something else that no job writes: remove it, or choose another "
                    "output",
                    path=folder / entry.name,
                )
            if entry.name != LOCK and not is_leftover(entry.name):
                names.add(entry.name)
    return names


def _empty(parts: Path) -> None:
    if parts.is_dir():
        for path in parts.iterdir():
            path.unlink(missing_ok=True)


def _record(number: int, value: Any) -> Iterator[tuple[int, Part]]:
    try:
        yield number, Part.of(value)
    except ValueError:
        return


def _read_job(path: Path) -> dict[str, Any] | None:
    try:
        job = read_json_file(path)
    except (OSError, ValueError):
        return None
    return job if isinstance(job, dict) else None
