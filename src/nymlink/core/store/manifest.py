"""The directory format shared by vocabularies and indexes: data files beside a versioned ``manifest.json``.

The manifest names the kind of directory, its format version, what it was made from and with which settings, and
every file with its size and digest; last, a digest of all this. So a file that is missing, truncated or damaged,
be it by a bit, is found before anything in it is believed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import StoreError
from nymlink.core.store.atomic import atomic_directory, atomic_file, output_errors
from nymlink.core.store.belongings import MANIFEST, manifest_of
from nymlink.core.store.digests import file_digest, json_digest
from nymlink.core.store.outputs import require_replaceable, with_article

_OWN: Final = "digest"
"""The key of the manifest's own digest, which is of all else in it."""

_REMEDIES: Final = {
    "adapter": "train it again",
    "checkpoint": "remove its directory to go on from an earlier one",
    "cross-encoder": "train it again",
    "encoder": "make or fetch it again",
    "reranker": "train it again",
}


def remedy(kind: str) -> str:
    """What to do about a damaged directory."""
    return _REMEDIES.get(kind, f"build the {kind} again")


@contextlib.contextmanager
def write_directory(target: Path, *, kind: str, version: int, body: dict[str, Any]) -> Iterator[Path]:
    """Fill a directory of data files atomically; its manifest is written last, from ``body`` as it then stands.

    Args:
        target: where the directory goes; one of the same kind there is replaced if it holds nothing else, anything
            else is refused.
        kind: what the directory holds, for example ``"vocabulary"``.
        version: its format version; a reader of another version refuses it.
        body: further manifest entries; may be added to inside the block.

    Raises:
        OutputError: ``target`` is not ours to replace, or cannot be written.
    """
    require_replaceable(Path(target), kind=kind)
    with atomic_directory(target) as partial:
        yield partial
        with output_errors(target):
            seal(partial, {"kind": kind, "format": version, **body})
        # Once more: while that was made, others may have put something there.
        require_replaceable(Path(target), kind=kind)


def seal(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest for all files that are in a directory now.

    Args:
        directory: the directory.
        manifest: its kind, format version and further entries.

    Raises:
        OutputError: it cannot be written.
    """
    files = {
        path.relative_to(directory).as_posix(): {"size": path.stat().st_size, "xxh3": file_digest(path)}
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path != directory / MANIFEST
    }
    write_manifest(directory, {**manifest, "files": files})


def write_manifest(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write or replace the manifest of a directory, whose files are as it says, in one step.

    Raises:
        OutputError: it cannot be written; nothing was changed.
    """
    # As it will be read: of tuples and keys that are numbers JSON makes something else.
    said = json.loads(json.dumps({name: value for name, value in manifest.items() if name != _OWN}))
    text = json.dumps({**said, _OWN: json_digest(said)}, indent=2, ensure_ascii=False)
    with atomic_file(directory / MANIFEST) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_manifest(
    directory: Path, *, kind: str, version: int, later: Callable[[str], bool] = lambda _: False
) -> dict[str, Any]:
    """Read the manifest of a directory, and check it and the files that it names.

    Args:
        directory: the directory.
        kind: what it is to hold.
        version: the format version that is read.
        later: of which files only the size is checked here, because the caller sees to their digests
            (:func:`check_files`).

    Raises:
        StoreError: there is no such directory, it is of another kind or format version, or the manifest or a file
            that it names is missing or damaged.
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
    if not _is_sealed(manifest):
        raise StoreError(f"{MANIFEST} is damaged: {remedy(kind)}", path=directory)
    check_files(directory, manifest, [name for name in manifest["files"] if not later(name)])
    for name in filter(later, manifest["files"]):
        _check_size(directory, manifest, name)
    return manifest


def damages(directory: Path) -> tuple[dict[str, Any], list[str]]:
    """Read all files of a directory of any kind; its manifest, and what is damaged, each with what to do.

    Raises:
        StoreError: it is no directory of nymlink's, its manifest cannot be read, or an older nymlink wrote it,
            without digests.
    """
    manifest = _read(directory, "directory")
    if _OWN not in manifest:
        raise StoreError(
            f"an older nymlink wrote this {manifest['kind']}, without digests: {remedy(manifest['kind'])}",
            path=directory,
        )
    if not _is_sealed(manifest):
        return manifest, [f"{MANIFEST} is damaged: {remedy(manifest['kind'])}"]
    found = []
    for name in manifest["files"]:
        try:
            check_files(directory, manifest, [name])
        except StoreError as error:
            found.append(error.message)
    return manifest, found


def _is_sealed(manifest: Mapping[str, Any]) -> bool:
    """Whether the digest that a manifest has of itself is its own."""
    said = {name: value for name, value in manifest.items() if name != _OWN}
    return json_digest(said) == manifest.get(_OWN)


def check_files(directory: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> None:
    """See that files of a directory are what its manifest says.

    Raises:
        StoreError: one is missing or damaged.
    """
    for name in names:
        _check_size(directory, manifest, name)
        try:
            is_whole = file_digest(directory / name) == manifest["files"][name]["xxh3"]
        except OSError as error:
            raise StoreError(f"{name} cannot be read ({error.strerror})", path=directory) from error
        if not is_whole:
            raise StoreError(
                f"{name} is damaged (its digest is another one): {remedy(manifest['kind'])}", path=directory
            )


def _check_size(directory: Path, manifest: Mapping[str, Any], name: str) -> None:
    file, kind = directory / name, manifest["kind"]
    try:
        size = manifest["files"][name]["size"]
    except (LookupError, TypeError) as error:
        raise StoreError(f"{MANIFEST} is damaged ({error}): {remedy(kind)}", path=directory) from error
    if not file.is_file():
        raise StoreError(f"{name} is missing: {remedy(kind)}", path=directory)
    if file.stat().st_size != size:
        raise StoreError(
            f"{name} has {file.stat().st_size} bytes instead of {size}: {remedy(kind)}", path=directory
        )


def require_files(manifest: dict[str, Any], names: Iterable[str]) -> None:
    """See that a manifest lists the files that its directory needs: one it does not list went unchecked.

    Raises:
        ValueError: it does not.
    """
    for name in names:
        if name not in manifest["files"]:
            raise ValueError(f"{MANIFEST} does not list {name}")


def _read(directory: Path, kind: str) -> dict[str, Any]:
    """The manifest of a directory as it stands there."""
    try:
        manifest = manifest_of(directory)
        if manifest is None:
            json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        what = f"not a nymlink {kind}: it has no {MANIFEST}" if directory.is_dir() else f"no such {kind}"
        raise StoreError(what, path=directory) from error
    except NotADirectoryError as error:
        raise StoreError(f"this is a file, not {with_article(kind)}", path=directory) from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"the manifest cannot be read ({error}): {remedy(kind)}", path=directory / MANIFEST
        ) from error
    if manifest is None:
        raise StoreError(f"this is not a nymlink {kind} but a directory of something else", path=directory)
    return manifest
