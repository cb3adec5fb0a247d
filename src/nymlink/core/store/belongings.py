"""What in a folder is nymlink's: by its manifest, or by the record of a training."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final, NamedTuple

from nymlink.core.store.atomic import is_leftover

MANIFEST: Final = "manifest.json"
"""The file that says what a directory holds (:mod:`nymlink.core.store.manifest`)."""

RECORD: Final = "run.json"
"""The file that says what a training was made of (:mod:`nymlink.train.engine.run_folder`)."""

_OF_A_TRAINING: Final = (RECORD, "config.toml", "metrics.jsonl")


class Owner(NamedTuple):
    """A directory that nymlink wrote, and what it holds."""

    directory: Path
    kind: str


def manifest_of(directory: Path) -> dict[str, Any] | None:
    """The manifest in a directory, unchecked; ``None`` where there is none of ours (web pages have some, too).

    One that names files outside of its directory is none of ours either.

    Raises:
        OSError: it may not be read.
    """
    found = _json(directory / MANIFEST)
    is_ours = found is not None and isinstance(found.get("kind"), str) and "format" in found
    if not is_ours or found is None or not isinstance(found.get("files"), dict):
        return None
    return found if all(map(_is_inside, found["files"])) else None


def _is_inside(name: str) -> bool:
    paths = (PurePosixPath(name), PureWindowsPath(name))
    return not any(path.anchor or ".." in path.parts for path in paths)


def is_training(directory: Path) -> bool:
    """Whether a directory is that of a training.

    Raises:
        OSError: its record may not be read.
    """
    found = _json(directory / RECORD)
    return found is not None and {"recipe", "settings", "data"} <= set(found)


def owner_of(path: Path) -> Owner | None:
    """The directory of nymlink's that a file or a folder belongs to, whether it is there or not.

    Raises:
        OSError: a manifest on the way may not be read.
    """
    path = Path(os.path.realpath(path))
    for directory in path.parents:
        name = path.relative_to(directory).as_posix()
        manifest = manifest_of(directory)
        if manifest is not None and any(
            name == file or file.startswith(f"{name}/") for file in (MANIFEST, *manifest["files"])
        ):
            return Owner(directory, manifest["kind"])
        if name in _OF_A_TRAINING and is_training(directory):
            return Owner(directory, "training")
    return None


def foreign_files(directory: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """The files in a directory that its manifest does not name; not those that a killed process of ours left."""
    ours = {MANIFEST, *manifest["files"]}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if name not in ours and not is_leftover(path.name) and (path.is_symlink() or not path.is_dir()):
            yield name


def _json(path: Path) -> dict[str, Any] | None:
    """What a JSON file holds; ``None`` where there is no such file, or no object in it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
