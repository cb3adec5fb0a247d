"""`nymlink verify`: say whether what nymlink wrote is still as it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from nymlink.core.errors import NymlinkError, StoreError
from nymlink.core.store.belongings import MANIFEST, foreign_files, is_training
from nymlink.core.store.manifest import damages
from nymlink.encode.cache.embedding_cache import check_block, is_shelf
from nymlink.index.index import KIND as INDEX
from nymlink.index.index import Index
from nymlink.vocabulary.store import KIND as VOCABULARY
from nymlink.vocabulary.vocabulary import Vocabulary

_WHOLE, _DAMAGED, _UNUSABLE = range(3)
_OPENERS: Final[Mapping[str, Callable[[Path], object]]] = {VOCABULARY: Vocabulary.load, INDEX: Index.load}
"""What tells, beyond the digests, whether files fit each other."""

_SHOWN: Final = 3
"""Foreign files that are named."""


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
def verify(folders: tuple[Path, ...]) -> None:
    """Say whether what nymlink wrote is whole: every file is read, and its digest compared.

    FOLDER is a vocabulary, an index, an encoder, a re-ranker, a training, what a merging reports, a cache of
    vectors, or a folder of such. What is damaged is named, with what to do about it. The exit status is 0 where
    all is whole, 1 where something is damaged, and 2 where something cannot be verified.

    \b
    nymlink verify mondo-index
    nymlink verify ~/.cache/nymlink
    """
    status = _WHOLE
    for folder in folders:
        parts = list(_parts(folder))
        if not parts:
            what = "nothing that nymlink wrote is in it" if folder.is_dir() else "no such folder"
            click.echo(f"Error: {folder}: {what}", err=True)
            status = _UNUSABLE
        for part in parts:
            status = max(status, _shelf(part) if is_shelf(part) else _directory(part))
    click.get_current_context().exit(status)


def _parts(folder: Path) -> Iterator[Path]:
    """The folders that can be verified, each by itself, in a folder; the folder itself is one or has some."""
    try:
        is_part = (folder / MANIFEST).is_file() or is_shelf(folder)
        if is_part:
            yield folder
        if folder.is_dir() and (not is_part or is_training(folder)):
            for inner in sorted(folder.iterdir()):
                # An encoder's own folders are in its manifest.
                if inner.is_dir() and not inner.is_symlink() and (not is_part or inner.name == "checkpoints"):
                    yield from _parts(inner)
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=folder) from error


def _directory(folder: Path) -> int:
    try:
        manifest, damaged = damages(folder)
    except StoreError as error:
        click.echo(f"Error: {error}", err=True)
        # Of a manifest that is none it cannot be known whose it was; of one that cannot be read it is likely.
        return _DAMAGED if error.path == str(folder / MANIFEST) else _UNUSABLE
    opener = _OPENERS.get(manifest["kind"])
    if opener is not None and not damaged:
        try:
            opener(folder)
        except NymlinkError as error:
            damaged = [error.message]
    size = sum(file["size"] for file in manifest["files"].values()) if not damaged else 0
    _say(folder, manifest["kind"], len(manifest["files"]), size, damaged)
    _say_foreign(folder, manifest)
    return _DAMAGED if damaged else _WHOLE


def _shelf(folder: Path) -> int:
    blocks, damaged = sorted(folder.glob("*.npy")), []
    for block in blocks:
        try:
            check_block(block)
        except StoreError as error:
            damaged.append(f"{block.name}: {error.message}")
    _say(folder, "cache of vectors", len(blocks), sum(block.stat().st_size for block in blocks), damaged)
    return _DAMAGED if damaged else _WHOLE


def _say(folder: Path, kind: str, files: int, size: int, damaged: list[str]) -> None:
    for one in damaged:
        click.echo(f"Error: {folder}: {one}", err=True)
    state = f"{len(damaged):,} damaged" if damaged else f"whole, {size / 1e6:,.1f} MB"
    click.echo(f"{folder}: {kind}, {files:,} files, {state}")


def _say_foreign(folder: Path, manifest: dict[str, Any]) -> None:
    if is_training(folder):
        return
    foreign = list(islice(foreign_files(folder, manifest), _SHOWN + 1))
    if foreign:
        more = ", …" if len(foreign) > _SHOWN else ""
        click.echo(f"{folder}: not nymlink's, not verified: {', '.join(foreign[:_SHOWN])}{more}")
