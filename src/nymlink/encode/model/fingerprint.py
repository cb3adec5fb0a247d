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
"""Keys of ``config.json`` without effect on vectors: the origin of a model, and the storage of its weights."""

_VERSION: Final = 2
"""Increased when nymlink makes other vectors from the same files: since 2, zeros for names without known tokens.
"""


class FileSnapshot:
    """The state of files before loading, for a later digest.

    Digests of large files take seconds, and are computed only when needed. Files that were replaced after loading
    are an error, because their digest would be wrong.
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
    """The state of a model folder's weights and configuration before loading.

    Raises:
        InputError: the folder has no weights, or its configuration is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._weights = FileSnapshot(weight_files(folder))
        self._config = relevant_config(read_json(folder / "config.json", dict))

    def digest(self) -> str:
        """Compute one hex digest of both: equal weights with another number of heads are another model.

        Raises:
            InputError: the weights have changed since.
        """
        return hashlib.sha256((self._weights.digest() + self._config).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Return size, time and inode of a file, which show a replacement; ``None`` if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def relevant_config(config: Mapping[str, Any]) -> str:
    """Select the parts of a configuration that affect vectors; as JSON."""
    return json.dumps({key: value for key, value in config.items() if key not in _IGNORED}, sort_keys=True)


def fingerprint(*, weights: str, tokenizer: str, settings: EncoderSettings, precision: str) -> str:
    """Compute the fingerprint of an encoder: 64 hex digits.

    fp32, bf16 and fp16 count as one, because their vectors of a name hardly differ (cosines above 0.999): a CPU
    can search vectors made by a GPU. int8 differs more, and counts as another encoder.

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
    """Check that a model's files are inside its folder and, if nymlink wrote them, complete and undamaged.

    Not for models of the hub: only some of their files are fetched, and checked then.

    Raises:
        InputError: a file is a link out of the folder, a pipe or a device.
        StoreError: a file is missing or damaged, or the folder is of another kind or version.
    """
    require_own_files(folder)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, kind=KIND, version=FORMAT)


def export_notes(folder: Path) -> dict[str, Any]:
    """Read the notes of an export to ONNX; empty for other folders."""
    manifest = read_json(folder / MANIFEST, dict) if (folder / MANIFEST).is_file() else {}
    return dict(manifest.get("export") or {})
