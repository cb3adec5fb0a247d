"""Fingerprints of encoders: encoders with equal fingerprints give the same vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.store.manifest import read_manifest
from nymlink.core.store.ownership import MANIFEST
from nymlink.encode.model.encoder_settings import EncoderSettings, read_json, require_own_files
from nymlink.encode.model.folder import weight_files

_IGNORED: Final = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
"""Keys of ``config.json`` that change no vector: where a model comes from, and how its weights were stored."""

_VERSION: Final = 2
"""Increased where nymlink makes other vectors of the same files: since 2, zeros for names without known tokens."""


class FileSnapshot:
    """A note of files before they are loaded, so that their digest can be computed later.

    To digest large files takes seconds, and waits until somebody needs it. By then they may have been replaced:
    the digest of other files must not be taken for theirs.

    Args:
        files: to be loaded after this.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._stamps = {file: _stamp(file) for file in files}

    def digest(self) -> str:
        """Compute one hex digest of the bytes of all files, in their order.

        Raises:
            InputError: a file has changed since.
        """
        self._check()
        digests = [sha256(file) for file in self._stamps]
        self._check()
        return hashlib.sha256("".join(digests).encode()).hexdigest()

    def _check(self) -> None:
        for file, stamp in self._stamps.items():
            if _stamp(file) != stamp:
                raise InputError("has changed since the encoder was loaded from it: load it again", path=file)


class ModelSnapshot:
    """A note of a model folder's weights and configuration before it is loaded.

    Args:
        folder: to be loaded after this.

    Raises:
        InputError: the folder has no weights, or its configuration is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._weights = FileSnapshot(weight_files(folder))
        self._config = relevant_config(read_json(folder / "config.json", dict))

    def digest(self) -> str:
        """Compute one hex digest of both: with another number of heads, equal weights are another model.

        Raises:
            InputError: the weights have changed since.
        """
        return hashlib.sha256((self._weights.digest() + self._config).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Note size, time and inode of a file, which tell a replaced one; ``None`` if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def relevant_config(config: Mapping[str, Any]) -> str:
    """Select what a model's vectors depend on in its configuration; as JSON."""
    return json.dumps({key: value for key, value in config.items() if key not in _IGNORED}, sort_keys=True)


def fingerprint(*, weights: str, tokenizer: str, settings: EncoderSettings, precision: str) -> str:
    """Compute the fingerprint of an encoder: 64 hex digits.

    fp32, bf16 and fp16 count as one, because their vectors of a name hardly differ (cosines above 0.999): what a
    GPU encoded can be searched on a CPU. int8 differs more, and counts as another encoder.

    Args:
        weights: digest of the network: of its weights and configuration, or of its graph.
        tokenizer: as JSON.
        settings: pooling and length.
        precision: of the network.
    """
    parts = {
        "form": _VERSION,
        "weights": weights,
        "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest(),
        "settings": settings.to_dict(),
        "precision": "int8" if precision == "int8" else "float",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


KIND: Final = "encoder"
FORMAT: Final = 2


def check_saved(folder: Path) -> None:
    """Check that a model's files are its own, and, where nymlink wrote it, complete and undamaged.

    Not for a model on the hub: only some of its files are fetched, and they are checked then.

    Raises:
        InputError: a file is a link to one outside of the folder, or no file but a pipe or a device.
        StoreError: a file is missing or damaged, or the folder is of another kind or version.
    """
    require_own_files(folder)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, kind=KIND, version=FORMAT)


def export_notes(folder: Path) -> dict[str, Any]:
    """Read what was noted when a folder was exported to ONNX; empty for other folders."""
    manifest = read_json(folder / MANIFEST, dict) if (folder / MANIFEST).is_file() else {}
    return dict(manifest.get("export") or {})
