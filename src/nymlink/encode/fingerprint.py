"""What identifies an encoder: equal fingerprints make the same vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.encode.config import read_json
from nymlink.encode.folder import weight_files
from nymlink.encode.settings import EncoderSettings
from nymlink.files import sha256

_IDLE: Final = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
"""What ``config.json`` says that changes no vector: where a model comes from, and how its weights were stored."""


def digest_of(files: Iterable[Path]) -> str:
    """One hex digest of the bytes of several files, in their order."""
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def model_digest(folder: Path) -> str:
    """Hex digest of a model folder's weights and configuration: equal weights with other heads are another model.

    Raises:
        InputError: the folder has no weights, or its configuration is damaged.
    """
    said = heeded(read_json(folder / "config.json", dict))
    return hashlib.sha256((digest_of(weight_files(folder)) + said).encode()).hexdigest()


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
        "weights": weights,
        "tokenizer": hashlib.sha256(tokenizer.encode()).hexdigest(),
        "settings": settings.to_dict(),
        "precision": "int8" if precision == "int8" else "float",
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
