"""`nymlink verify`: find damage in vocabularies, indexes, encoders and other folders of nymlink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click

from nymlink.core.errors import NymlinkError, StoreError
from nymlink.core.store.manifest import find_damage
from nymlink.core.store.ownership import MANIFEST, foreign_files, is_training
from nymlink.encode.cache.blocks import check_block
from nymlink.encode.cache.encoder_cache import is_encoder_cache
from nymlink.index.index import Index
from nymlink.index.store import KIND as INDEX
from nymlink.vocabulary.store import KIND as VOCABULARY
from nymlink.vocabulary.vocabulary import Vocabulary

_WHOLE, _DAMAGED, _UNUSABLE = range(3)
_OPENERS: Final[Mapping[str, Callable[[Path], object]]] = {VOCABULARY: Vocabulary.load, INDEX: Index.load}
"""Functions that tell, beyond the digests, whether files fit each other."""

_SHOWN: Final = 3
"""Foreign files that are named."""


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
def verify(folders: tuple[Path, ...]) -> None:
    """Find damage in vocabularies, indexes and other folders of nymlink: compare every file with its digest.

    FOLDER is a vocabulary, an index, an encoder, a re-ranker, a training, a report of a merge, a cache of vectors,
    or a folder of such. Damaged files are named, with what to do about them. The exit status is 0 where all is
    whole, 1 where something is damaged, and 2 where something cannot be verified.

    \b
    nymlink verify mondo-index
    nymlink verify ~/.cache/nymlink
    """
    status = _WHOLE
    for folder in folders:
        parts = list(_parts(folder))
        if not parts:
            reason = "nothing that nymlink wrote is in it" if folder.is_dir() else "no such folder"
            click.echo(f"Error: {folder}: {reason}", err=True)
            status = _UNUSABLE
        for part in parts:
            status = max(status, _encoder_cache(part) if is_encoder_cache(part) else _directory(part))
    click.get_current_context().exit(status)


def _parts(folder: Path) -> Iterator[Path]:
    """Yield the folders to verify in a folder, itself or those within it."""
    try:
        is_part = (folder / MANIFEST).is_file() or is_encoder_cache(folder)
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
        manifest, damaged = find_damage(folder)
    except StoreError as error:
        click.echo(f"Error: {error}", err=True)
        # An unreadable manifest was probably ours; a foreign one of the same name is not damage.
        return _DAMAGED if error.path == str(folder / MANIFEST) else _UNUSABLE
    opener = _OPENERS.get(manifest["kind"])
    if opener is not None and not damaged:
        try:
            opener(folder)
        except NymlinkError as error:
            damaged = [error.message]
    size = sum(file["size"] for file in manifest["files"].values()) if not damaged else 0
    _echo(folder, manifest["kind"], len(manifest["files"]), size, damaged)
    _echo_foreign(folder, manifest)
    return _DAMAGED if damaged else _WHOLE


def _encoder_cache(folder: Path) -> int:
    blocks, damaged = sorted(folder.glob("*.npy")), []
    for block in blocks:
        try:
            check_block(block)
        except StoreError as error:
            damaged.append(f"{block.name}: {error.message}")
    _echo(folder, "cache of vectors", len(blocks), sum(block.stat().st_size for block in blocks), damaged)
    return _DAMAGED if damaged else _WHOLE


def _echo(folder: Path, kind: str, files: int, size: int, damaged: list[str]) -> None:
    for message in damaged:
        click.echo(f"Error: {folder}: {message}", err=True)
    state = f"{len(damaged):,} damaged" if damaged else f"whole, {size / 1e6:,.1f} MB"
    click.echo(f"{folder}: {kind}, {files:,} files, {state}")


def _echo_foreign(folder: Path, manifest: dict[str, Any]) -> None:
    if is_training(folder):
        return
    foreign = list(islice(foreign_files(folder, manifest), _SHOWN + 1))
    if foreign:
        more = ", …" if len(foreign) > _SHOWN else ""
        click.echo(f"{folder}: not nymlink's, not verified: {', '.join(foreign[:_SHOWN])}{more}")
