"""Tell which files nymlink wrote: files that a manifest lists, and files of a training."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final, NamedTuple

from nymlink.core.store.atomic import is_leftover
from nymlink.core.store.foreign_folders import read_json_file

MANIFEST: Final = "manifest.json"
"""Name of the file that describes a directory and lists its files (:mod:`nymlink.core.store.manifest`)."""

RECORD: Final = "run.json"
"""Name of the file with the settings and data of a training (:mod:`nymlink.train.engine.run_folder`)."""

_TRAINING_FILES: Final = (RECORD, "recipe.toml", "metrics.jsonl")


class Owner(NamedTuple):
    """A directory that nymlink wrote, and its kind, for example ``"index"`` or ``"training"``."""

    directory: Path
    kind: str


def manifest_of(directory: Path) -> dict[str, Any] | None:
    """Read the manifest in a directory, without checking it.

    The result is ``None`` if there is no manifest, or if it belongs to another program. Web pages, for example,
    have a ``manifest.json`` too.

    A manifest that names files outside of its directory is not a manifest of nymlink.

    Raises:
        OSError: the manifest may not be read.
    """
    manifest = _read_object(directory / MANIFEST)
    if manifest is None or not isinstance(manifest.get("kind"), str) or "format" not in manifest:
        return None
    files = manifest.get("files")
    return manifest if isinstance(files, dict) and all(map(_is_inside, files)) else None


def _is_inside(name: str) -> bool:
    paths = (PurePosixPath(name), PureWindowsPath(name))
    return not any(path.anchor or ".." in path.parts for path in paths)


def is_training(directory: Path) -> bool:
    """Whether a directory holds a training.

    Raises:
        OSError: its record may not be read.
    """
    run = _read_object(directory / RECORD)
    return run is not None and {"recipe", "settings", "data"} <= set(run)


def owner_of(path: Path) -> Owner | None:
    """Find the nymlink directory to which a file or folder belongs. The file or folder need not exist.

    Raises:
        OSError: a manifest in a parent folder may not be read.
    """
    path = Path(os.path.realpath(path))
    for directory in path.parents:
        name = path.relative_to(directory).as_posix()
        manifest = manifest_of(directory)
        if manifest is not None and any(
            name == file or file.startswith(f"{name}/") for file in (MANIFEST, *manifest["files"])
        ):
            return Owner(directory, manifest["kind"])
        if name in _TRAINING_FILES and is_training(directory):
            return Owner(directory, "training")
    return None


def foreign_files(directory: Path, manifest: dict[str, Any]) -> Iterator[str]:
    """Yield the files in a directory that its manifest does not list.

    Temporary files of killed processes are left out.
    """
    own = {MANIFEST, *manifest["files"]}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if name not in own and not is_leftover(path.name) and (path.is_symlink() or not path.is_dir()):
            yield name


def _read_object(path: Path) -> dict[str, Any] | None:
    """Read a JSON object from a file; ``None`` if the file is missing or has no object."""
    try:
        value = read_json_file(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
