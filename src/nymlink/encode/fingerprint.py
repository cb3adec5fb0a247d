"""What identifies an encoder: equal fingerprints make the same vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from nymlink.encode.settings import EncoderSettings
from nymlink.files import sha256


def digest_of(files: Iterable[Path]) -> str:
    """One hex digest of the bytes of several files, in their order."""
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def fingerprint(*, weights: str, tokenizer: str, settings: EncoderSettings, precision: str) -> str:
    """The fingerprint of an encoder: 64 hex digits.

    fp32, bf16 and fp16 count as one, because their vectors of a name hardly differ (cosines above 0.999): what a
    GPU encoded can be searched on a CPU. int8 is further off, and stands apart.

    Args:
        weights: digest of the weights.
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
