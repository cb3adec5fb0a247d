"""Check, before any work is done, that an output can be written and replaces nothing it must not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from nymlink.core.errors import OutputError
from nymlink.core.store.atomic import output_errors
from nymlink.core.store.belongings import foreign_files, manifest_of, owner_of

_SHOWN: Final = 3
"""Foreign files that a message names."""


def require_file(target: Path, *, inputs: Iterable[Path | None] = ()) -> None:
    """See that a file can be written, and replaces nothing that is read or belongs to a directory of nymlink's.

    Args:
        target: the file; a device or a pipe will do, too.
        inputs: what is read for it.

    Raises:
        OutputError: it cannot, or would.
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
    """See that a directory can be written, and replaces nothing but what nymlink wrote, of the same kind.

    Args:
        target: the directory.
        kind: what it is to hold.
        inputs: what is read for it.

    Raises:
        OutputError: it cannot, or would.
    """
    with output_errors(target):
        _require_apart(target, inputs)
        require_place(target)
        require_replaceable(target, kind=kind)


def require_place(target: Path) -> None:
    """See that a directory can be made in a place, and there belongs to no other one of nymlink's.

    Raises:
        OutputError: it cannot, or would.
    """
    with output_errors(target):
        _require_free(target)
        folder = Path(os.path.realpath(target)).parent
        while not folder.exists():
            if folder == folder.parent:
                raise OutputError(f"there is no {folder}: choose another place", path=target)
            folder = folder.parent
        if not folder.is_dir():
            raise OutputError(f"{folder} is a file: choose another place", path=target)
        _require_writable(folder)


def require_changeable(directory: Path) -> None:
    """See that what a directory of nymlink's says of itself can be replaced.

    Raises:
        OutputError: it cannot.
    """
    with output_errors(directory):
        if directory.is_dir():
            _require_writable(directory)


def require_replaceable(target: Path, *, kind: str) -> None:
    """See that nothing is in a place but a directory that nymlink wrote, of the same kind, and its own files.

    Raises:
        OutputError: there is something else: what is not nymlink's is never removed.
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
            f"holds files that are not the {kind}'s, and would be lost: {', '.join(foreign[:_SHOWN])}{more}: "
            "move them, or choose another place",
            path=target,
        )


def with_article(kind: str) -> str:
    """Write a kind of directory with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _require_apart(target: Path, inputs: Iterable[Path | None], *, within: bool = False) -> None:
    """See that a place is no input, nor, on request, in one."""
    places = {os.path.realpath(target), *(map(str, Path(os.path.realpath(target)).parents) if within else ())}
    if any(os.path.realpath(path) in places for path in inputs if path is not None):
        raise OutputError("this is read, and would be overwritten: choose another place", path=target)


def _require_free(target: Path) -> None:
    owner = owner_of(target)
    if owner is not None:
        raise OutputError(
            f"belongs to the {owner.kind} in {owner.directory}, which it would damage: choose another place",
            path=target,
        )


def _require_writable(folder: Path) -> None:
    """Write a file without a name: permissions alone do not say whether that can be done."""
    with tempfile.TemporaryFile(dir=folder):
        pass
