"""The directory of an index: write it, open it, and change its fusion, encoder, calibration or ranker in place."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from nymlink.core.errors import InputError, NymlinkError, StoreError, UnknownNameError
from nymlink.core.json_files import member
from nymlink.core.store.atomic import locked_file
from nymlink.core.store.digests import json_digest
from nymlink.core.store.manifest import (
    Verification,
    read_manifest,
    require_files,
    write_directory,
    write_manifest,
)
from nymlink.core.store.ownership import MANIFEST
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import DENSE, EXACT_MATCH, ExtendedSearch, Fusion
from nymlink.index.plan import Plan
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.index.stores.servers import open_store
from nymlink.index.stores.vector_store import StoreAddress
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder


KIND: Final = "index"
VERSION: Final = 13
"""Kind and format version of the directory, in its manifest."""

LEARNED: Final = ("calibration", "ranker", "uses")
"""What an index may have learned, in its manifest."""

_VOCABULARY: Final = "vocabulary"
"""The folder of the vocabulary. Every search has a folder with its own name.

The files of the entries are beside the manifest.
"""


@dataclass(frozen=True, slots=True, eq=False)
class IndexContents:
    """The contents of an index, in memory or mapped from its directory.

    Attributes:
        vocabulary: the searched vocabulary.
        entries: its distinct prepared names.
        searches: name → search. Exact search is not among them, because it has no files.
        settings: the plan as JSON values, with the recall of an approximate search.
        calibration: JSON values, see :mod:`nymlink.linking.calibration`; ``None`` if it is not calibrated.
        ranker: JSON values, see :mod:`nymlink.rank.ranker`; ``None`` if it has none.
        uses: JSON values, see :mod:`nymlink.rank.uses`; ``None`` if it has none.
        directory: its directory; ``None`` if it is in memory only.
        verification: the check of the files of its searches, which runs in the background.
        digest: digest of its files, which changes of settings and calibration leave; ``None`` if it has no
            directory.
    """

    vocabulary: Vocabulary
    entries: Entries
    searches: Mapping[str, SparseSearch | DenseSearch | ExtendedSearch]
    settings: Mapping[str, Any]
    calibration: Mapping[str, Any] | None = None
    ranker: Mapping[str, Any] | None = None
    uses: Mapping[str, Any] | None = None
    directory: Path | None = None
    verification: Verification | None = None
    digest: str | None = None


def save_index(contents: IndexContents, directory: Path) -> None:
    """Write an index to a directory, atomically.

    Raises:
        InputError: names were added to the index (:meth:`nymlink.index.index.Index.with_names`).
        OutputError: it cannot be written; nothing is left behind.
    """
    searches = {name: each for name, each in contents.searches.items() if not isinstance(each, ExtendedSearch)}
    if len(searches) < len(contents.searches):
        raise InputError("an index with added names is not written: build one of its vocabulary, which has them")
    with new_index_directory(
        directory,
        contents.vocabulary,
        contents.entries,
        searches,
        settings=dict(contents.settings),
        learned={name: getattr(contents, name) for name in LEARNED},
    ) as partial:
        for name, search in searches.items():
            search.save(partial / name)


@contextmanager
def new_index_directory(
    directory: Path,
    vocabulary: Vocabulary,
    entries: Entries,
    searches: Collection[str],
    *,
    settings: dict[str, Any],
    learned: Mapping[str, Mapping[str, Any] | None],
) -> Iterator[Path]:
    """Write an index directory without its searches. The caller adds the searches within the block.

    Args:
        directory: target directory.
        vocabulary: the searched vocabulary.
        entries: its entries.
        searches: names of the searches. The caller writes each search into the folder with its name.
        settings: the settings. They are written last, so that the caller may add to them.
        learned: name of each of :data:`LEARNED` → JSON values; ``None`` if there are none.

    Yields:
        The temporary directory. It is renamed at the end of the block.

    Raises:
        OutputError: it cannot be written; nothing is left behind.
    """
    body = {
        "concepts": len(vocabulary),
        "names": vocabulary.name_count,
        "entries": len(entries),
        "searches": list(searches),
        "settings": settings,
    }
    body |= {name: dict(value) for name, value in learned.items() if value is not None}
    with write_directory(directory, kind=KIND, version=VERSION, body=body) as partial:
        vocabulary.save(partial / _VOCABULARY)
        entries.save(partial)
        yield partial


def load_index(
    directory: Path, encoder: Encoder | str | Path | None, *, store: StoreAddress | None = None
) -> IndexContents:
    """Open an index directory.

    The files of names and concepts are checked now, the files of the searches in the background.

    Args:
        directory: the index.
        encoder: the encoder of the index, or its present place; ``None`` for the recorded place.
        store: the present place of its store, with credentials; ``None`` for the recorded place.

    Raises:
        StoreError: the index is missing, damaged, or of another format version; or the encoder is not the one with
            which the index was built.
        InputError: an encoder is given, but the index has no dense search.
    """
    manifest = read_manifest(directory, kind=KIND, version=VERSION, later=_is_checked_later)
    vocabulary = Vocabulary.load(directory / _VOCABULARY)
    verification = Verification(directory, manifest, filter(_is_of_a_search, manifest["files"]))
    try:
        return _map_contents(directory, manifest, vocabulary, verification, encoder, store)
    except Exception as error:
        if isinstance(error, NymlinkError) and not isinstance(error, UnknownNameError):
            raise
        # A damaged file may cause any error. The check of the files raises an error that names the file.
        verification.wait()
        if not isinstance(error, (OSError, ValueError, UnknownNameError, pa.ArrowException)):
            raise
        raise StoreError(f"the index is damaged ({error}): build it again", path=directory) from error


def _map_contents(
    directory: Path,
    manifest: dict[str, Any],
    vocabulary: Vocabulary,
    verification: Verification,
    encoder: Encoder | str | Path | None,
    store: StoreAddress | None,
) -> IndexContents:
    """Map the entries and searches of an index directory into memory."""
    settings = member(manifest, "settings", dict)
    plan = Plan.from_dict(settings, encoder, index=directory)
    if (names := member(manifest, "searches", list)) != plan.searches:
        raise ValueError(f"its searches are {names}, its settings say {plan.searches}")
    require_files(manifest, Entries.FILES)
    entries = Entries.load(directory)
    rows = entries.names
    if len(rows) and not 0 <= rows.min() <= rows.max() < vocabulary.name_count:
        raise ValueError("its entries have names that the vocabulary does not")
    searches: dict[str, SparseSearch | DenseSearch] = {
        name: SparseSearch.load(directory / name, entries) for name in plan.sparse_settings
    }
    if plan.encoder is not None:
        address, server = store or plan.store, None
        if address is not None:
            server = open_store(
                address,
                member(settings, "store", dict),
                kind=plan.dense,
                count=len(entries),
                width=plan.encoder.width,
            )
        searches[DENSE] = DenseSearch.load(directory / DENSE, entries, plan.encoder, kind=plan.dense, store=server)
    require_files(manifest, [f"{name}/{file}" for name, search in searches.items() for file in search.files])
    learned = {}
    for name in LEARNED:
        learned[name] = manifest.get(name)
        if not isinstance(learned[name], dict | None):
            raise ValueError(f"its {name} is none")
    return IndexContents(
        vocabulary,
        entries,
        searches,
        settings,
        **learned,
        directory=directory.absolute(),
        verification=verification,
        digest=json_digest(manifest["files"]),
    )


def _is_of_a_search(file: str) -> bool:
    folder, slash, _ = file.partition("/")
    return bool(slash) and folder != _VOCABULARY


def _is_checked_later(file: str) -> bool:
    """Whether a file is checked later: in the background, or when the vocabulary is loaded."""
    return "/" in file and file != f"{_VOCABULARY}/{MANIFEST}"


def store_fusion(directory: str | Path, fusion: Fusion) -> None:
    """Change the fusion of an index directory, atomically.

    If the fusion changes, the ranker and the calibration are removed, because they learned from other scores.
    nymlink then warns.

    Raises:
        InputError: the fusion is for other searches than those of the index.
        StoreError: the index is missing, damaged, or of another format version.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        try:
            # Read the fusion as loading does, so that nothing unreadable is written.
            Fusion.from_dict(fusion.to_dict(), [EXACT_MATCH, *manifest["searches"]])
        except ValueError as error:
            raise InputError(
                f"its searches cannot be joined so ({error}): make the fusion with "
                "Fusion.of(index.search.parts, ...)",
                path=directory,
            ) from error
        changes = manifest["settings"]["fusion"] != fusion.to_dict()
        manifest["settings"]["fusion"] = fusion.to_dict()
        removed = [name for name in ("ranker", "calibration") if changes and manifest.pop(name, None) is not None]
    if removed:
        commands = {"ranker": "`nymlink train rank`", "calibration": "`nymlink calibrate`"}
        warnings.warn(
            f"{directory}: its {' and '.join(removed)} learned from other scores, and removed: run "
            f"{' and '.join(commands[name] for name in removed)} again",
            stacklevel=2,
        )


def store_encoder(directory: str | Path, place: str) -> None:
    """Record the new place of the encoder of an index directory, atomically.

    Args:
        directory: the index.
        place: a folder, or the name of a model. The caller has checked that the encoder of the index is there.

    Raises:
        StoreError: the index is missing, damaged, or of another format version.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        manifest["settings"]["encoder"]["name"] = place


def store_calibration(directory: str | Path, calibration: Mapping[str, Any], *, fusion: Fusion) -> None:
    """Set the calibration of an index directory, atomically.

    Args:
        directory: the index.
        calibration: JSON values, :meth:`nymlink.linking.calibration.Calibration.to_dict`.
        fusion: the fusion with which the calibration was fitted.

    Raises:
        StoreError: the index is missing, damaged, or of another format version; or its fusion has changed.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        _require_fusion(manifest, fusion, Path(directory), again="`nymlink calibrate`")
        manifest["calibration"] = dict(calibration)


def store_ranker(directory: str | Path, ranker: Mapping[str, Any], *, fusion: Fusion) -> None:
    """Set the ranker of an index directory, atomically.

    The calibration is removed, because it was fitted to another order of candidates. nymlink then warns.

    Args:
        directory: the index.
        ranker: JSON values, :meth:`nymlink.rank.ranker.Ranker.to_dict`.
        fusion: the fusion with which the ranker was trained.

    Raises:
        StoreError: the index is missing, damaged, or of another format version; or its fusion has changed.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        _require_fusion(manifest, fusion, Path(directory), again="`nymlink train rank`")
        manifest["ranker"] = dict(ranker)
        calibrated = manifest.pop("calibration", None) is not None
    if calibrated:
        warnings.warn(
            f"{directory}: its calibration was of another order, and removed: run `nymlink calibrate` again",
            stacklevel=2,
        )


_CHANGING: Final = 30.0
"""Seconds to wait for another process that changes the settings of an index."""


def _require_fusion(manifest: Mapping[str, Any], fusion: Fusion, directory: Path, *, again: str) -> None:
    """Raise ``StoreError`` unless the index still has this fusion."""
    if manifest["settings"]["fusion"] != fusion.to_dict():
        raise StoreError(f"its fusion has changed since: run {again} again", path=directory)


@contextmanager
def _changed_manifest(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the manifest of an index. At the end of the block, write it with the caller's changes.

    A second process waits, so that it changes the manifest that the first process has written.
    """
    with locked_file(directory, "command", wait=_CHANGING):
        manifest = read_manifest(directory, kind=KIND, version=VERSION)
        yield manifest
        write_manifest(directory, manifest)
