"""The directory format of encoders that nymlink wrote: a model folder with a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nymlink.core.store.belongings import MANIFEST
from nymlink.core.store.manifest import read_manifest
from nymlink.encode.model.config import read_json

KIND: Final = "encoder"
FORMAT: Final = 2


def check_saved(folder: Path) -> None:
    """See that a folder that nymlink wrote is whole; one from elsewhere cannot be checked.

    Of a model on the hub only some files are fetched, and these are checked then.

    Raises:
        StoreError: a file is missing or damaged, or the folder is of another kind or version.
    """
    if (folder / MANIFEST).is_file():
        read_manifest(folder, kind=KIND, version=FORMAT)


def export_notes(folder: Path) -> dict[str, Any]:
    """What was noted when a folder was exported to ONNX; empty for other folders."""
    manifest = read_json(folder / MANIFEST, dict) if (folder / MANIFEST).is_file() else {}
    return dict(manifest.get("export") or {})
