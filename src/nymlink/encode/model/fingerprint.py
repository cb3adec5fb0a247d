"""What identifies an encoder: equal fingerprints make the same vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.encode.model.config import read_json
from nymlink.encode.model.folder import weight_files
from nymlink.encode.model.settings import EncoderSettings

_IDLE: Final = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
"""What ``config.json`` says that changes no vector: where a model comes from, and how its weights were stored."""

_FORM: Final = 2
"""Counted up where what is here makes other vectors of the same files: since 2, zeros for what is unknown."""


class LoadedFiles:
    """Files as they were when something was loaded from them.

    To read them again for a digest takes seconds where they are large, and waits until somebody needs it. By then
    they may have been replaced: the digest of others must not be taken for theirs.

    Args:
        files: those that are to be loaded, after this.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._stamps = {file: _stamp(file) for file in files}

    def digest(self) -> str:
        """One hex digest of their bytes, in their order.

        Raises:
            InputError: they have changed since.
        """
        self._check()
        digests = [sha256(file) for file in self._stamps]
        self._check()
        return hashlib.sha256("".join(digests).encode()).hexdigest()

    def _check(self) -> None:
        for file, stamp in self._stamps.items():
            if _stamp(file) != stamp:
                raise InputError("has changed since the encoder was loaded from it: load it again", path=file)


class LoadedModel:
    """A model folder's weights and configuration as they were when it was loaded.

    Args:
        folder: that is to be loaded, after this.

    Raises:
        InputError: the folder has no weights, or its configuration is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._weights = LoadedFiles(weight_files(folder))
        self._said = heeded(read_json(folder / "config.json", dict))

    def digest(self) -> str:
        """Hex digest of both: equal weights with other heads are another model.

        Raises:
            InputError: the weights have changed since.
        """
        return hashlib.sha256((self._weights.digest() + self._said).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What tells a file from one in its place without reading it; ``None`` where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def heeded(config: Mapping[str, Any]) -> str:
    """What of a model's configuration its vectors depend on, as JSON."""
    return json.dumps({key: value for key, value in config.items() if key not in _IDLE}, sort_keys=True)


def fingerprint(*, weights: str, tokenizer: str, settings: EncoderSettings, precision: str) -> str:
    """The fingerprint of an encoder: 64 hex digits.

    fp32, bf16 and fp16 count as one, because their vectors of a name hardly differ (cosines above 0.999): what a
    GPU encoded can be searched on a CPU. int8 is further off, and stands apart.

    Args:
        weights: digest of what the network is: its weights and configuration, or its graph.
        tokenizer: its JSON form.
        settings: pooling and length.
        precision: of the network.
    """
    parts = {
        "form": _FORM,
        "weights": weights,
        "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest(),
        "settings": settings.to_dict(),
        "precision": "int8" if precision == "int8" else "float",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
