"""The directory format shared by vocabularies and indexes: data files beside a versioned ``manifest.json``.

The manifest names the kind of directory, its format version, what it was made from and with which settings, and
every file with its size, so that a missing or truncated file is found when the directory is opened.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nymlink.errors import OutputError, StoreError
from nymlink.files import atomic_directory

MANIFEST = "manifest.json"


@contextlib.contextmanager
def write_directory(target: Path, *, kind: str, version: int, body: dict[str, Any]) -> Iterator[Path]:
    """Fill a directory of data files atomically; its manifest is written last, from ``body`` as it then stands.

    Args:
        target: where the directory goes; one of nymlink's there is replaced, anything else is refused.
        kind: what the directory holds, for example ``"vocabulary"``.
        version: its format version; a reader of another version refuses it.
        body: further manifest entries; may be added to inside the block.

    Raises:
        OutputError: ``target`` is not ours to replace, or cannot be written.
    """
    target = Path(target)
    if target.exists() and not (target / MANIFEST).is_file() and not _is_empty_directory(target):
        raise OutputError("exists and was not made by nymlink: choose another place", path=target)
    with atomic_directory(target) as partial:
        yield partial
        files = {
            path.relative_to(partial).as_posix(): path.stat().st_size
            for path in sorted(partial.rglob("*"))
            if path.is_file()
        }
        manifest = {"kind": kind, "format": version, **body, "files": files}
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        (partial / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(directory: Path, *, kind: str, version: int) -> dict[str, Any]:
    """Read and check the manifest of a directory.

    Raises:
        StoreError: there is no such directory, it is of another kind or format version, or a file that the
            manifest names is missing or has another size.
    """
    path = Path(directory) / MANIFEST
    if not Path(directory).is_dir():
        raise StoreError(f"no such {kind}", path=directory)
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"not a nymlink {kind}: it has no {MANIFEST}", path=directory) from error
    except (OSError, ValueError) as error:
        raise StoreError(f"the manifest cannot be read ({error}): build the {kind} again", path=path) from error
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else None
        raise StoreError(f"this is not a nymlink {kind} but {found or 'something else'}", path=directory)
    if manifest.get("format") != version:
        raise StoreError(
            f"{kind} format {manifest.get('format')}, but this nymlink reads format {version}: build it again",
            path=directory,
        )
    for name, size in manifest.get("files", {}).items():
        file = Path(directory) / name
        if not file.is_file():
            raise StoreError(f"{name} is missing: build the {kind} again", path=directory)
        if file.stat().st_size != size:
            raise StoreError(
                f"{name} has {file.stat().st_size} bytes instead of {size}: build the {kind} again",
                path=directory,
            )
    return manifest


def _is_empty_directory(path: Path) -> bool:
    return path.is_dir() and next(path.iterdir(), None) is None
