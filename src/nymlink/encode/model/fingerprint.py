"""Fingerprints identify encoders: two encoders with the same fingerprint give the same vectors."""

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
"""Keys of ``config.json`` that do not affect vectors: where a model comes from, and how its weights are stored."""

_VERSION: Final = 2
"""Version of how nymlink makes vectors. It is increased when the same files give other vectors.

Since 2, names without known tokens have zeros.
"""


class FileSnapshot:
    """The state of files before they are loaded, from which a digest can be computed later.

    Digests of large files take seconds, so they are computed only when they are needed. If a file was replaced
    after loading, its digest would be wrong, so this is an error.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._stamps = {file: _stamp(file) for file in files}

    def digest(self) -> str:
        """Compute one hex digest of the bytes of all files, in their order.

        Raises:
            InputError: a file has changed since it was loaded.
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
    """The state of a model folder's weights and configuration before they are loaded.

    Raises:
        InputError: the folder has no weights, or its configuration is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._weights = FileSnapshot(weight_files(folder))
        self._config = relevant_config(read_json(folder / "config.json", dict))

    def digest(self) -> str:
        """Compute one hex digest of weights and configuration.

        The same weights with another number of heads are another model.

        Raises:
            InputError: the weights have changed since they were loaded.
        """
        return hashlib.sha256((self._weights.digest() + self._config).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Return size, time and inode of a file, which show whether it was replaced; ``None`` if there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def relevant_config(config: Mapping[str, Any]) -> str:
    """Return, as JSON, the parts of a configuration that affect vectors."""
    return json.dumps({key: value for key, value in config.items() if key not in _IGNORED}, sort_keys=True)


def fingerprint(*, weights: str, tokenizer: str, settings: EncoderSettings, precision: str) -> str:
    """Compute the fingerprint of an encoder: 64 hex digits.

    fp32, bf16 and fp16 count as the same precision, because their vectors hardly differ (cosines above 0.999). So
    a CPU can search vectors that a GPU has made. int8 differs more, and counts as another encoder.

    Args:
        weights: digest of the network, from its weights and configuration, or from its graph.
        tokenizer: the tokenizer, as JSON.
        settings: the settings, such as pooling and length.
        precision: precision of the network.
    """
    parts = {
        "form": _VERSION,
        "weights": weights,
        "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest(),
        "settings": settings.to_dict(),
        "precision": "int8" if precision == "int8" else "float",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def fingerprint_of_sum(first: str, second: str) -> str:
    """Compute the fingerprint of an encoder that adds the vectors of two: 64 hex digits."""
    return hashlib.sha256(f"{first}{second}".encode()).hexdigest()


KIND: Final = "encoder"
FORMAT: Final = 2


def check_saved(folder: Path) -> None:
    """Check that a model's files are inside its folder and, if nymlink wrote them, complete and undamaged.

    This is not for models of the hub. Only some of their files are fetched, and these are checked when they are
    fetched.

    Raises:
        InputError: a file is a link out of the folder, a pipe or a device.
        StoreError: a file is missing or damaged, or the folder is of another kind or version.
    """
    require_own_files(folder)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, kind=KIND, version=FORMAT)


def export_notes(folder: Path) -> dict[str, Any]:
    """Read what an export to ONNX has recorded in a folder. The result is empty for other folders."""
    manifest = read_json(folder / MANIFEST, dict) if (folder / MANIFEST).is_file() else {}
    return dict(manifest.get("export") or {})
