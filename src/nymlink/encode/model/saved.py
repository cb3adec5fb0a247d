"""The directory format of encoders that nymlink wrote: a model folder with a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nymlink.core.store.manifest import read_manifest
from nymlink.core.store.ownership import MANIFEST
from nymlink.encode.model.config import read_json

KIND: Final = "encoder"
FORMAT: Final = 2


def check_saved(folder: Path) -> None:
    """Check that a folder that nymlink wrote is complete and undamaged; others have no manifest to check by.

    Not for a model on the hub: only some of its files are fetched, and they are checked then.

    Raises:
        StoreError: a file is missing or damaged, or the folder is of another kind or version.
    """
    if (folder / MANIFEST).is_file():
        read_manifest(folder, kind=KIND, version=FORMAT)


def export_notes(folder: Path) -> dict[str, Any]:
    """Read what was noted when a folder was exported to ONNX; empty for other folders."""
    manifest = read_json(folder / MANIFEST, dict) if (folder / MANIFEST).is_file() else {}
    return dict(manifest.get("export") or {})
