"""The directory format shared by vocabularies and indexes: data files beside a versioned ``manifest.json``.

The manifest names the kind of directory, its format version, what it was made from and with which settings, and
every file with its size, so that a missing or truncated file is found when the directory is opened.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from nymlink.atomic import atomic_directory, output_errors
from nymlink.errors import OutputError, StoreError

MANIFEST = "manifest.json"


@contextlib.contextmanager
def write_directory(target: Path, *, kind: str, version: int, body: dict[str, Any]) -> Iterator[Path]:
    """Fill a directory of data files atomically; its manifest is written last, from ``body`` as it then stands.

    Args:
        target: where the directory goes; one of the same kind there is replaced, anything else is refused.
        kind: what the directory holds, for example ``"vocabulary"``.
        version: its format version; a reader of another version refuses it.
        body: further manifest entries; may be added to inside the block.

    Raises:
        OutputError: ``target`` is not ours to replace, or cannot be written.
    """
    with output_errors(target):
        _check_replaceable(Path(target), kind)
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
    directory = Path(directory)
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        what = f"not a nymlink {kind}: it has no {MANIFEST}" if directory.is_dir() else f"no such {kind}"
        raise StoreError(what, path=directory) from error
    except NotADirectoryError as error:
        raise StoreError(f"this is a file, not {_a(kind)}", path=directory) from error
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the manifest cannot be read ({error}): build the {kind} again", path=directory / MANIFEST
        ) from error
    if not _is_manifest(manifest) or manifest["kind"] != kind:
        found = f"nymlink {manifest['kind']}" if _is_manifest(manifest) else "directory of something else"
        raise StoreError(f"this is not a nymlink {kind} but a {found}", path=directory)
    if manifest["format"] != version:
        raise StoreError(
            f"{kind} format {manifest['format']!r}, but this nymlink reads format {version}: build it again",
            path=directory,
        )
    for name, size in manifest["files"].items():
        file = directory / name
        if not file.is_file():
            raise StoreError(f"{name} is missing: build the {kind} again", path=directory)
        if file.stat().st_size != size:
            raise StoreError(
                f"{name} has {file.stat().st_size} bytes instead of {size}: build the {kind} again",
                path=directory,
            )
    return cast(dict[str, Any], manifest)


def require_files(manifest: dict[str, Any], names: Iterable[str]) -> None:
    """See that a manifest lists the files that its directory needs: one it does not list went unchecked.

    Raises:
        ValueError: it does not.
    """
    for name in names:
        if name not in manifest["files"]:
            raise ValueError(f"{MANIFEST} does not list {name}")


def _is_manifest(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("kind"), str)
        and "format" in value
        and isinstance(value.get("files"), dict)
    )


def _check_replaceable(target: Path, kind: str) -> None:
    """Refuse what is not ours (others have a ``manifest.json`` too, web pages for one) or of another kind."""
    if not target.exists():
        return
    manifest: Any = None
    if target.is_dir():
        try:
            manifest = json.loads((target / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError:
            if next(target.iterdir(), None) is None:
                return
        except ValueError:
            pass
    if not _is_manifest(manifest):
        raise OutputError(
            "exists and is not a directory that nymlink made (or its manifest is damaged): "
            "choose another place, or remove it yourself",
            path=target,
        )
    if manifest["kind"] != kind:
        raise OutputError(
            f"exists and holds a nymlink {manifest['kind']}, not {_a(kind)}: choose another place", path=target
        )


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
