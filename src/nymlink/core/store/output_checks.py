"""Check, before any work is done, that an output can be written and overwrites nothing else."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from nymlink.core.errors import OutputError
from nymlink.core.store.atomic import output_errors
from nymlink.core.store.ownership import foreign_files, manifest_of, owner_of

_SHOWN: Final = 3
"""Largest number of foreign files that a message names."""


def require_file(target: Path, *, inputs: Iterable[Path | None] = ()) -> None:
    """Check that a file can be written, and overwrites neither an input nor a file of a nymlink directory.

    Args:
        target: the file. It may be a device or a pipe.
        inputs: the input files and directories.

    Raises:
        OutputError: the file cannot be written, or would overwrite an input or a file of a nymlink directory.
    """
    with output_errors(target):
        if target.is_dir():
            raise OutputError("this is a directory: name a file to write", path=target)
        if target.exists() and not target.is_file():
            return
        _require_free(target)
        _require_apart(target, inputs, within=target.exists())
        folder = Path(os.path.realpath(target)).parent
        if not folder.is_dir():
            raise OutputError(f"no such directory: {folder}", path=target)
        _require_writable(folder)
        if target.exists() and not os.access(target, os.W_OK):
            raise OutputError("this file is write-protected: name another one to write", path=target)


def require_directory(target: Path, *, kind: str, inputs: Iterable[Path | None] = ()) -> None:
    """Check that a directory can be written, and replaces nothing but a nymlink directory of the same kind.

    Args:
        target: the directory.
        kind: its kind, for example ``"index"``.
        inputs: the input files and directories.

    Raises:
        OutputError: it cannot be written, or would replace something else or an input.
    """
    with output_errors(target):
        _require_apart(target, inputs)
        require_place(target)
        require_replaceable(target, kind=kind)


def require_place(target: Path) -> None:
    """Check that a directory can be created at ``target``, outside of other nymlink directories.

    Raises:
        OutputError: it cannot be created, or is a part of another nymlink directory.
    """
    with output_errors(target):
        _require_free(target)
        folder = Path(os.path.realpath(target)).parent
        while not folder.exists():
            if folder == folder.parent:
                raise OutputError(f"{folder} does not exist: choose another place", path=target)
            folder = folder.parent
        if not folder.is_dir():
            raise OutputError(f"{folder} is a file: choose another place", path=target)
        _require_writable(folder)


def require_changeable(directory: Path) -> None:
    """Check that the manifest of a nymlink directory can be replaced.

    Raises:
        OutputError: the directory is write-protected.
    """
    with output_errors(directory):
        if directory.is_dir():
            _require_writable(directory)


def require_replaceable(target: Path, *, kind: str) -> None:
    """Check that nothing is at ``target``, or only a nymlink directory of the same kind without other files.

    Raises:
        OutputError: something else is there. nymlink never removes files that it did not write.
    """
    with output_errors(target):
        if not target.exists() or (target.is_dir() and not any(target.iterdir())):
            return
        manifest = manifest_of(target) if target.is_dir() else None
        if manifest is None:
            raise OutputError(
                "exists and is not a directory that nymlink made (or its manifest is damaged): "
                "choose another place, or remove it yourself",
                path=target,
            )
        if manifest["kind"] != kind:
            raise OutputError(
                f"exists and holds a nymlink {manifest['kind']}, not {with_article(kind)}: choose another place",
                path=target,
            )
        foreign = list(islice(foreign_files(target, manifest), _SHOWN + 1))
    if foreign:
        more = ", …" if len(foreign) > _SHOWN else ""
        raise OutputError(
            f"holds other files than the {kind}'s, which would be lost: {', '.join(foreign[:_SHOWN])}{more}: "
            "move them, or choose another place",
            path=target,
        )


def with_article(kind: str) -> str:
    """Put the indefinite article before a noun."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _require_apart(target: Path, inputs: Iterable[Path | None], *, within: bool = False) -> None:
    """Check that a path is not an input. If ``within``, check also that it is not inside an input."""
    places = {os.path.realpath(target), *(map(str, Path(os.path.realpath(target)).parents) if within else ())}
    if any(os.path.realpath(path) in places for path in inputs if path is not None):
        raise OutputError("this is an input and would be overwritten: choose another place", path=target)


def _require_free(target: Path) -> None:
    owner = owner_of(target)
    if owner is not None:
        raise OutputError(
            f"belongs to the {owner.kind} in {owner.directory}, which would be damaged: choose another place",
            path=target,
        )


def _require_writable(folder: Path) -> None:
    """Check that a folder can be written by creating an unnamed file.

    Permissions alone do not show whether writing is possible.
    """
    with tempfile.TemporaryFile(dir=folder):
        pass
