"""Changing how a stored index joins its searches, or its calibration, in one step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nymlink.core.errors import InputError, StoreError
from nymlink.core.store.manifest import read_manifest, write_manifest
from nymlink.index.fusion.fusion import EXACT, Fusion
from nymlink.index.index import KIND, VERSION


def store_fusion(directory: str | Path, fusion: Fusion) -> None:
    """Change how the searches of an index directory are joined, in one step.

    Where that changes, so do all scores: a calibration is removed, with a warning.

    Raises:
        InputError: the fusion is not of the searches that the index has.
        StoreError: the index is missing, damaged, or of another format version.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        try:
            # As the index will be read: what that would refuse is not to be written.
            Fusion.from_dict(fusion.to_dict(), [EXACT, *manifest["searches"]])
        except ValueError as error:
            raise InputError(
                f"its searches cannot be joined so ({error}): make the fusion with "
                "Fusion.of(index.search.parts, ...)",
                path=directory,
            ) from error
        changes = manifest["settings"]["fusion"] != fusion.to_dict()
        manifest["settings"]["fusion"] = fusion.to_dict()
        removed = changes and manifest.pop("calibration", None) is not None
    if removed:
        warnings.warn(
            f"{directory}: its calibration was of other scores and is removed: run `nymlink calibrate` again",
            stacklevel=2,
        )


def store_calibration(directory: str | Path, calibration: Mapping[str, Any], *, fusion: Fusion) -> None:
    """Calibrate an index directory, or calibrate it anew, in one step.

    Args:
        directory: the index.
        calibration: JSON values, :meth:`nymlink.linking.calibration.Calibration.to_dict`.
        fusion: how the searches were joined that it was fitted to.

    Raises:
        StoreError: the index is missing, damaged, or of another format version; or its searches are now joined in
            another way.
        OutputError: it cannot be written; nothing was changed.
    """
    with _changed_manifest(Path(directory)) as manifest:
        if manifest["settings"]["fusion"] != fusion.to_dict():
            raise StoreError(
                "its searches have been joined in another way meanwhile: run `nymlink calibrate` again",
                path=directory,
            )
        manifest["calibration"] = dict(calibration)


@contextmanager
def _changed_manifest(directory: Path) -> Iterator[dict[str, Any]]:
    manifest = read_manifest(directory, kind=KIND, version=VERSION)
    yield manifest
    write_manifest(directory, manifest)
