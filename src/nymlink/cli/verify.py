"""`nymlink verify`: find damage in vocabularies, indexes, projects and other outputs of nymlink."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import click

from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import NymlinkError, StoreError
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.manifest import find_damage
from nymlink.core.store.ownership import MANIFEST, foreign_files, is_training
from nymlink.core.terminal import tell
from nymlink.encode.vector_cache import check_block, is_encoder_cache
from nymlink.index.index import Index
from nymlink.index.index_folder import KIND as INDEX
from nymlink.project.project import ENDING, is_project
from nymlink.project.project import find_damage as find_project_damage
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.vocabulary.vocabulary_folder import KIND as VOCABULARY

_WHOLE, _DAMAGED, _UNUSABLE = range(3)
_OPENERS: Final[Mapping[str, Callable[[Path], object]]] = {VOCABULARY: Vocabulary.load, INDEX: Index.load}
"""Functions that check, beyond the digests, whether files fit each other."""

_SHOWN: Final = 3
"""Most foreign files in the output."""


@dataclass(frozen=True, slots=True)
class _Verified:
    """The result of checking a folder or project.

    Attributes:
        path: the folder or file.
        kind: its kind.
        files: number of compared files.
        size: their bytes.
        damaged: a message for each damage.
        foreign: files of other programs.
        usable: whether it could be verified at all.
    """

    path: Path
    kind: str
    files: int = 0
    size: int = 0
    damaged: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    usable: bool = True

    @property
    def status(self) -> int:
        return (_DAMAGED if self.damaged else _WHOLE) if self.usable else _UNUSABLE


@click.command(cls=GroupedCommand)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="JSON file to write: an object per folder or project.",
)
def verify(paths: tuple[Path, ...], *, output: Path | None) -> None:
    """Find damage in vocabularies, indexes, projects and more: compare all files with their digests.

    PATH is a vocabulary, an index, an encoder, a re-ranker, a training, a bulk job, a report of a merge, a cache
    of vectors, a project file, or a folder of these. For a project, its seal is compared, SQLite checks its pages
    and keys, and its decisions are compared with its log. Damage is listed with advice. The exit status is 0 if
    all is whole, 1 if something is damaged, and 2 if something cannot be verified.

    \b
    nymlink verify mondo-index
    nymlink verify ~/.cache/nymlink -o verified.json
    """
    found = []
    for path in paths:
        parts = list(_parts(path))
        if not parts:
            reason = "nothing that nymlink wrote is in it" if path.is_dir() else "no such folder or project"
            found.append(_Verified(path, "unknown", damaged=(reason,), usable=False))
        found += map(_verified, parts)
    for one in found:
        for message in one.damaged:
            tell(message, level="error", path=str(one.path))
        _echo(one)
    if output is not None:
        objects = [{**asdict(one), "path": str(one.path), "whole": one.status == _WHOLE} for one in found]
        with atomic_file(output) as partial:
            partial.write_text(json.dumps(objects, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    click.get_current_context().exit(max(one.status for one in found))


def _parts(folder: Path) -> Iterator[Path]:
    """Yield the folders and projects to verify in a folder, itself or those within it."""
    try:
        if is_project(folder):
            yield folder
        is_part = (folder / MANIFEST).is_file() or is_encoder_cache(folder)
        if is_part:
            yield folder
        if folder.is_dir() and (not is_part or is_training(folder)):
            for inner in sorted(folder.iterdir()):
                # An encoder's own folders are in its manifest.
                if inner.is_symlink() or (is_part and inner.name != "checkpoints"):
                    continue
                if inner.is_dir() or inner.suffix == ENDING:
                    yield from _parts(inner)
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", path=folder) from error


def _verified(path: Path) -> _Verified:
    if path.is_file():
        return _Verified(path, "project", 1, path.stat().st_size, tuple(find_project_damage(path)))
    return _encoder_cache(path) if is_encoder_cache(path) else _directory(path)


def _directory(folder: Path) -> _Verified:
    try:
        manifest, damaged = find_damage(folder)
    except StoreError as error:
        # An unreadable manifest was probably ours; a foreign one of the same name is not damage.
        is_ours = error.path == str(folder / MANIFEST)
        return _Verified(folder, "unknown", damaged=(error.message,), usable=is_ours)
    opener = _OPENERS.get(manifest["kind"])
    if opener is not None and not damaged:
        try:
            opener(folder)
        except NymlinkError as error:
            damaged = [error.message]
    files = manifest["files"]
    size = sum(file["size"] for file in files.values()) if not damaged else 0
    foreign = () if is_training(folder) else islice(foreign_files(folder, manifest), _SHOWN + 1)
    return _Verified(folder, manifest["kind"], len(files), size, tuple(damaged), tuple(foreign))


def _encoder_cache(folder: Path) -> _Verified:
    blocks, damaged = sorted(folder.glob("*.npy")), []
    for block in blocks:
        try:
            check_block(block)
        except StoreError as error:
            damaged.append(f"{block.name}: {error.message}")
    size = sum(block.stat().st_size for block in blocks)
    return _Verified(folder, "cache of vectors", len(blocks), size, tuple(damaged))


def _echo(one: _Verified) -> None:
    if not one.files and one.damaged:
        return
    state = f"{len(one.damaged):,} damaged" if one.damaged else f"whole, {one.size / 1e6:,.1f} MB"
    click.echo(f"{one.path}: {one.kind}, {one.files:,} file{'s' * (one.files != 1)}, {state}")
    if one.foreign:
        more = ", …" if len(one.foreign) > _SHOWN else ""
        click.echo(f"{one.path}: not nymlink's, not verified: {', '.join(one.foreign[:_SHOWN])}{more}")
