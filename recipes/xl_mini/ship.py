"""The int8 form of the encoder, in the distribution that carries it."""

from __future__ import annotations

import random
import shutil
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.core.store.atomic import atomic_directory
from nymlink.core.store.foreign_folders import read_json_file
from nymlink.core.store.manifest import write_directory
from nymlink.core.store.ownership import MANIFEST
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.fingerprint import FORMAT, KIND
from nymlink.encode.model.folder import BESIDE
from nymlink.encode.model.torch_model import TorchModel
from nymlink.encode.onnx_export import export
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary
from recipes.xl_mini.pieces import mean_states
from recipes.xl_mini.student import joinable

TARGET: Final = (
    Path(__file__).parents[2] / "models" / "nymlink-xl-mini" / "src" / "nymlink_xl_mini" / "nymlink-xl-mini"
)

LARGEST: Final = 100_000_000
"""Bytes of all files together: package indexes take no larger distribution."""

_TIMED: Final = 1_000
"""Names of a language that are encoded, three times."""


def join(first: Path, second: Path, data: Path, target: Path) -> list[dict[str, Any]]:
    """Write an encoder that adds the vectors of two students, both in int8 with tables of pieces in 4 bits.

    Args:
        first: folder of the student of six layers.
        second: folder of the student of one layer.
        data: has the Disease Ontology, whose names choose the directions of vectors, and check both.
        target: folder to write.

    Returns:
        Recall@1 of each in fp32 and int8.
    """
    checked_with = read_vocabulary(data / "vocabularies" / "doid.tsv.gz")
    found = []
    with TemporaryDirectory() as scratch:
        made = [Path(scratch) / name for name in ("first", "second")]
        names = sorted({normalise(checked_with.name(row).text) for row in range(checked_with.name_count)})
        models = joinable(TorchModel.load(first), TorchModel.load(second), names, mean_states)
        for model, folder in zip(models, made, strict=True):
            model.transformer.config.table_bits = 4
            model.save(folder / "float")
            quality = export(folder / "float", folder / "int8", precision="int8", vocabulary=checked_with)
            found.append({} if quality is None else quality.to_dict())
        notes = read_json_file(made[0] / "int8" / MANIFEST)
        body = {key: notes[key] for key in ("settings", "export")}
        with write_directory(target, kind=KIND, version=FORMAT, body=body) as partial:
            shutil.copytree(made[0] / "int8", partial, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))
            shutil.copytree(made[1] / "int8", partial / BESIDE)
    return found


def ship(encoder: Path, target: Path = TARGET) -> dict[str, Any]:
    """Copy the encoder into the distribution, and say its size."""
    size = sum(path.stat().st_size for path in encoder.rglob("*") if path.is_file())
    if size > LARGEST:
        raise NymlinkError(f"{size:,} bytes are more than {LARGEST:,}: make fewer pieces", path=target)
    with atomic_directory(target) as partial:
        shutil.copytree(encoder, partial, dirs_exist_ok=True)
    return {"bytes": size}


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
