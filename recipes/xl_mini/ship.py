"""The int8 form of the encoder, in the distribution that carries it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.encode.export.onnx_export import export
from nymlink.vocabulary.read import read_vocabulary

TARGET: Final = (
    Path(__file__).parents[2] / "models" / "nymlink-xl-mini" / "src" / "nymlink_xl_mini" / "nymlink-xl-mini"
)

LARGEST: Final = 45_000_000
"""Bytes of all files together."""


def ship(encoder: Path, data: Path, target: Path = TARGET) -> dict[str, Any]:
    """Write the int8 form of an encoder, checked with the synonyms of the Disease Ontology, and say what it is."""
    checked_with = read_vocabulary(data / "vocabularies" / "doid.tsv.gz")
    quality = export(encoder, target, precision="int8", vocabulary=checked_with)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    if size > LARGEST:
        raise NymlinkError(f"{size:,} bytes are more than {LARGEST:,}: make fewer pieces", path=target)
    return {"bytes": size, **({} if quality is None else quality.to_dict())}
