"""The directory format of vocabularies, indexes and models: data files beside a versioned ``manifest.json``.

The manifest names the kind of directory, its format version, its sources and its settings. It lists every file
with its size and digest, and has a digest of itself. So a missing, truncated or damaged file is detected before
its content is used.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from stat import S_ISREG
from threading import Event, Lock, Thread
from typing import Any, Final

from nymlink.core.errors import StoreError
from nymlink.core.store.atomic import atomic_directory, atomic_file, output_errors
from nymlink.core.store.digests import file_digest, json_digest
from nymlink.core.store.foreign_folders import leads_outside, read_json_file
from nymlink.core.store.output_checks import require_replaceable, with_article
from nymlink.core.store.ownership import MANIFEST, manifest_of

_OWN: Final = "digest"
"""Key of the digest of the manifest itself, which covers all other entries."""

_SHOWN: Final = 200
"""Largest number of characters of a name that a message shows."""

_REMEDIES: Final = {
    "adapter": "train it again",
    "checkpoint": "remove its directory to continue from an earlier one",
    "cross-encoder": "train it again",
    "encoder": "train or download it again",
    "reranker": "train it again",
}


def remedy(kind: str) -> str:
    """Return the advice for a damaged directory of a kind."""
    return _REMEDIES.get(kind, f"build the {kind} again")


@contextlib.contextmanager
def write_directory(target: Path, *, kind: str, version: int, body: dict[str, Any]) -> Iterator[Path]:
    """Write a directory of data files atomically.

    The block is given a temporary directory, and writes the files. The manifest is added at the end of the block.

    Args:
        target: the directory. An existing directory of the same kind is replaced if it has no other files.
        kind: the kind of directory, for example ``"vocabulary"``.
        version: its format version. A nymlink that reads another version refuses the directory.
        body: further entries of the manifest. The block may add entries.

    Raises:
        OutputError: ``target`` holds something nymlink did not write, or cannot be written.
    """
    require_replaceable(Path(target), kind=kind)
    with atomic_directory(target) as partial:
        yield partial
        with output_errors(target):
            seal(partial, {"kind": kind, "format": version, **body})
        # Check again, because another process may have written there meanwhile.
        require_replaceable(Path(target), kind=kind)


def seal(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a directory, with the sizes and digests of all files that are there now.

    Args:
        directory: the directory.
        manifest: its kind, format version and further entries.

    Raises:
        OutputError: the manifest cannot be written.
    """
    files = {
        path.relative_to(directory).as_posix(): {"size": path.stat().st_size, "xxh3": file_digest(path)}
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path != directory / MANIFEST
    }
    write_manifest(directory, {**manifest, "files": files})


def write_manifest(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write or replace the manifest of a directory, atomically. The given manifest already lists the files.

    Raises:
        OutputError: the manifest cannot be written; nothing was changed.
    """
    # Compute the digest of the values that JSON gives back: lists instead of tuples, strings instead of number
    # keys.
    body = json.loads(json.dumps(_body(manifest)))
    text = json.dumps({**body, _OWN: json_digest(body)}, indent=2, ensure_ascii=False)
    with atomic_file(directory / MANIFEST) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_manifest(
    directory: Path, *, kind: str, version: int, later: Callable[[str], bool] = lambda _: False
) -> dict[str, Any]:
    """Read and check the manifest of a directory and its files.

    Args:
        directory: the directory.
        kind: the expected kind of directory.
        version: the expected format version.
        later: function that tells, for the name of a file, whether the caller checks its digest later
            (:func:`check_files`). For such files, only the size is checked now.

    Raises:
        StoreError: the directory does not exist or is of another kind or format version, or the manifest or a
            listed file is missing, damaged, or a link to a file outside of the directory.
    """
    directory = Path(directory)
    manifest = _read(directory, kind)
    if manifest["kind"] != kind:
        raise StoreError(f"this is not a nymlink {kind} but a nymlink {manifest['kind']}", path=directory)
    if manifest["format"] != version:
        raise StoreError(
            f"{kind} format {manifest['format']!r}, but this nymlink reads format {version}: "
            f"{_REMEDIES.get(kind, 'build it again')}",
            path=directory,
        )
    if not is_sealed(manifest):
        raise StoreError(f"{MANIFEST} is damaged: {remedy(kind)}", path=directory)
    check_files(directory, manifest, [name for name in manifest["files"] if not later(name)])
    for name in filter(later, manifest["files"]):
        _check_size(directory, manifest, name)
    return manifest


def find_damage(directory: Path) -> tuple[dict[str, Any], list[str]]:
    """Check all files of a directory of any kind.

    Returns:
        The manifest, and for each damaged file a message with advice.

    Raises:
        StoreError: nymlink did not write the directory, its manifest cannot be read, or an older version of
            nymlink wrote it without digests.
    """
    manifest = _read(directory, "directory")
    if _OWN not in manifest:
        raise StoreError(
            f"an older version of nymlink wrote this {manifest['kind']}, without digests: "
            f"{remedy(manifest['kind'])}",
            path=directory,
        )
    if not is_sealed(manifest):
        return manifest, [f"{MANIFEST} is damaged: {remedy(manifest['kind'])}"]
    messages = []
    for name in manifest["files"]:
        try:
            check_files(directory, manifest, [name])
        except StoreError as error:
            messages.append(error.message)
    return manifest, messages


def _body(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name != _OWN}


def is_sealed(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest's own digest is correct."""
    return json_digest(_body(manifest)) == manifest.get(_OWN)


def check_files(directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
    """Check files of a directory against the sizes and digests in its manifest.

    Raises:
        StoreError: a file is missing or damaged.
    """
    for name in names:
        _check_size(directory, manifest, name)
        try:
            is_whole = file_digest(directory / name) == manifest["files"][name]["xxh3"]
        except OSError as error:
            raise StoreError(f"{name} cannot be read ({error.strerror})", path=directory) from error
        if not is_whole:
            raise StoreError(
                f"{name} is damaged (its digest has changed): {remedy(manifest['kind'])}", path=directory
            )


def _check_size(directory: Path, manifest: Mapping[str, Any], name: str) -> None:
    file, kind = directory / name, manifest["kind"]
    try:
        size = manifest["files"][name]["size"]
    except (LookupError, TypeError) as error:
        raise StoreError(f"{MANIFEST} is damaged ({error}): {remedy(kind)}", path=directory) from error
    try:
        found = file.stat()
    # ValueError: the name has a character that file names cannot have.
    except (OSError, ValueError):
        found = None
    if found is None or not S_ISREG(found.st_mode):
        raise StoreError(f"{name[:_SHOWN]} is missing: {remedy(kind)}", path=directory)
    _require_inside(directory, name)
    if found.st_size != size:
        raise StoreError(f"{name} has {found.st_size} bytes instead of {size}: {remedy(kind)}", path=directory)


def _require_inside(directory: Path, name: str) -> None:
    if leads_outside(directory, directory / name):
        raise StoreError(
            f"{name} is a link to a file outside of the directory, and that was refused: copy the file into it",
            path=directory,
        )


def require_files(manifest: dict[str, Any], names: Iterable[str]) -> None:
    """Check that a manifest lists the files that its directory needs.

    Files that are not listed would not be checked.

    Raises:
        ValueError: a file is not listed.
    """
    for name in names:
        if name not in manifest["files"]:
            raise ValueError(f"{MANIFEST} does not list {name}")


def _read(directory: Path, kind: str) -> dict[str, Any]:
    """Read the manifest of a directory without checking its digest and its files."""
    try:
        manifest = manifest_of(directory)
        if manifest is None:
            read_json_file(directory / MANIFEST)
    except FileNotFoundError as error:
        what = f"not a nymlink {kind}: it has no {MANIFEST}" if directory.is_dir() else f"no such {kind}"
        raise StoreError(what, path=directory) from error
    except NotADirectoryError as error:
        raise StoreError(f"this is a file, not {with_article(kind)}", path=directory) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the manifest cannot be read ({error}): {remedy(kind)}", path=directory / MANIFEST
        ) from error
    if manifest is None:
        raise StoreError(f"this is not a nymlink {kind} but a directory of something else", path=directory)
    _require_inside(directory, MANIFEST)
    return manifest


_THREADS: Final = 2
"""Number of threads. More threads gain little, because the bandwidth of memory or disk is the limit."""


class Verification:
    """A check of file digests in threads. It starts when this object is created.

    Args:
        directory: the directory of the files.
        manifest: the manifest of the directory, with the digests.
        names: the files to check, as the manifest names them.

    Attributes:
        passed: whether :meth:`wait` has found all files undamaged, so that nobody needs to wait again.
    """

    def __init__(self, directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
        self.passed = False
        self._directory = directory
        self._manifest = manifest
        # Check the largest files first, so that no thread works alone on a large file at the end.
        self._names = sorted(names, key=lambda name: -manifest["files"][name]["size"])
        self._damage: StoreError | None = None
        self._lock = Lock()
        self._process = os.getpid()
        self._unchecked: SimpleQueue[str] = SimpleQueue()
        for name in self._names:
            self._unchecked.put(name)
        self._remaining = len(self._names)
        self._done = Event()
        if not self._names:
            self._done.set()
        for _ in range(min(_THREADS, len(self._names))):
            # Use daemon threads: a command that ends early, by an error or Ctrl-C, does not wait for them.
            Thread(target=self._work, name="verification", daemon=True).start()

    def wait(self) -> None:
        """Wait until all files are checked.

        Raises:
            StoreError: a file is damaged.
        """
        if not self._done.is_set():
            if os.getpid() == self._process:
                self._done.wait()
            else:
                # A forked process does not have the threads, so it checks the files itself.
                check_files(self._directory, self._manifest, self._names)
                self._done.set()
        if self._damage is not None:
            raise StoreError(self._damage.message, path=self._damage.path)
        self.passed = True

    def _work(self) -> None:
        while True:
            try:
                name = self._unchecked.get_nowait()
            except Empty:
                return
            try:
                check_files(self._directory, self._manifest, [name])
            except StoreError as error:
                self._damage = self._damage or error
            finally:
                with self._lock:
                    self._remaining -= 1
                    if not self._remaining:
                        self._done.set()
