"""The int8 form of the encoder, in the distribution that carries it."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.encode.encoder import Encoder
from nymlink.encode.onnx_export import export
from nymlink.vocabulary.read import read_vocabulary

TARGET: Final = (
    Path(__file__).parents[2] / "models" / "nymlink-xl-mini" / "src" / "nymlink_xl_mini" / "nymlink-xl-mini"
)

LARGEST: Final = 60_000_000
"""Bytes of all files together."""

_TIMED: Final = 1_000
"""Names of a language that are encoded, three times."""


def ship(encoder: Path, data: Path, target: Path = TARGET) -> dict[str, Any]:
    """Write the int8 form of an encoder, checked with the synonyms of the Disease Ontology, and say what it is."""
    checked_with = read_vocabulary(data / "vocabularies" / "doid.tsv.gz")
    quality = export(encoder, target, precision="int8", vocabulary=checked_with)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    if size > LARGEST:
        raise NymlinkError(f"{size:,} bytes are more than {LARGEST:,}: make fewer pieces", path=target)
    return {"bytes": size, **({} if quality is None else quality.to_dict())}


def speed(encoders: Mapping[str, Encoder], names: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Time encoders on names of each language: names a second, the median of three runs."""
    rows = []
    for language, own in sorted(names.items()):
        asked = random.Random(0).sample(own, min(_TIMED, len(own)))
        row = {"language": language}
        for name, encoder in encoders.items():
            row[name] = f"{len(asked) / statistics.median(_seconds(encoder, asked) for _ in range(3)):,.0f}"
        rows.append(row)
    return rows


def _seconds(encoder: Encoder, names: Sequence[str]) -> float:
    start = time.perf_counter()
    encoder.encode(names)
    return time.perf_counter() - start
