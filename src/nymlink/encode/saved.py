"""The directory format of encoders that nymlink wrote: a model folder with a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nymlink.manifest import MANIFEST, read_manifest

KIND: Final = "encoder"
FORMAT: Final = 1


def read_saved(folder: Path) -> dict[str, Any]:
    """The manifest of an encoder that nymlink wrote; empty for a model folder from elsewhere.

    Raises:
        StoreError: a file that it names is missing or has another size, or it is of another kind or version.
    """
    return read_manifest(folder, kind=KIND, version=FORMAT) if (folder / MANIFEST).is_file() else {}
