"""Self-alignment on names of all languages: the pairs, and the mean with the weights before.

Half of each batch are neighbours: concepts whose English names have near vectors, each with a pair of any
language, so that the hardest negatives of a name are of other languages, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.store.atomic import atomic_file
from nymlink.encode.model.average import average
from nymlink.pairs.pairs import PAIRS
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.train.names.pair_trainings import train_sap
from nymlink.train.settings.encoder_trainings import SapSettings
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import mixture
from recipes.xl_mini.student import LONGEST

BATCH: Final = 256

SHARE: Final = 0.5
"""Weight of the aligned model in the mean of the distilled and the aligned one."""

NEIGHBOURS: Final = 0.5
"""Share of a batch that comes in groups of neighbours."""

GROUP: Final = 8
"""Pairs of neighbours, the first included."""

PARTS: Final = {"translations": 0.45, "english": 0.35, "synonyms": 0.2}
"""Shares of the pairs: translations, English synonyms, synonyms in one other language."""

SETTINGS: Final = {
    "learning_rate": 3e-5,
    "schedule": "linear",
    "warm_up": 0.05,
    "shared_names": "ignore",
    "batch_pairs": BATCH,
    "max_length": LONGEST,
    "checkpoint_minutes": 3.0,
}

_POOL: Final = 150_000
"""Concepts among which neighbours are searched."""


def make(folder: Path, base: Path, mean: Path, *, steps: int, seed: int) -> None:
    """Write the pairs, the aligned encoder and its mean with the encoder before, each unless it is there."""
    pairs = folder / "alignment.parquet"
    if not pairs.exists():
        table = alignment_pairs(folder, steps=steps, seed=seed)
        with atomic_file(pairs) as partial:
            pq.write_table(table, partial)
    aligned = folder / "aligned"
    settings = SapSettings(
        pairs=str(pairs), base=str(base), output=str(aligned), seed=seed, max_steps=steps, **SETTINGS
    )
    train_sap(settings, progress=True)
    if not mean.exists():
        average([aligned, base], weights=[SHARE, 1 - SHARE]).save(mean)


def alignment_pairs(folder: Path, *, steps: int, seed: int) -> pa.Table:
    """Draw the pairs of all steps, in an order that the shuffling of the training turns into these batches."""
    draw = np.random.default_rng(seed)
    translations = pq.read_table(folder / "translations.parquet")
    sources = {
        "translations": translations.select(["concept", "english", "name"]).rename_columns(PAIRS.names),
        "english": mixture.mixture(Vocabulary.load(folder / "merged"), seed=seed),
        "synonyms": pq.read_table(folder / "synonyms.parquet"),
    }
    near = round(NEIGHBOURS * BATCH / GROUP) * GROUP
    rest = BATCH - near
    others = pa.concat_tables(
        [
            sources[part].take(
                draw.choice(len(sources[part]), _at_most(len(sources[part]), share * steps * rest), False)
            )
            for part, share in PARTS.items()
        ]
    )
    steps = min(steps, len(others) // rest)
    pool = _one_of_each(translations["concept"].to_pylist(), draw)
    groups = neighbours(_english_vectors(folder, translations.take(pool)), steps * near // GROUP, draw)
    grouped = sources["translations"].take(pool[groups.ravel()])
    lines = pa.concat_tables([others.take(draw.permutation(len(others))[: steps * rest]), grouped])
    places = np.arange(steps * BATCH)
    batches = np.hstack([places[: steps * rest].reshape(steps, rest), places[steps * rest :].reshape(steps, near)])
    shuffled = np.empty_like(places)
    shuffled[permute(places, size=len(places), key=seeded_keys(["epoch 0"], seed=seed))] = batches.ravel()
    return lines.take(shuffled).cast(PAIRS)


def neighbours(vectors: npt.NDArray[np.float32], groups: int, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """Choose random rows and the nearest to each: int64 (groups, :data:`GROUP`).

    Args:
        vectors: (N, D): unit vectors.
        groups: how many rows are chosen.
        draw: chooses them.
    """
    first = draw.integers(len(vectors), size=groups)
    found = np.empty((groups, GROUP), np.int64)
    block = max(1, 50_000_000 // len(vectors))
    for start in range(0, groups, block):
        rows = first[start : start + block]
        scores = vectors[rows] @ vectors.T
        scores[np.arange(len(rows)), rows] = np.inf
        found[start : start + block] = np.argpartition(-scores, GROUP - 1, axis=1)[:, :GROUP]
    return found


def _at_most(count: int, wanted: float) -> int:
    return min(count, math.ceil(wanted))


def _one_of_each(concepts: Sequence[str], draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """Choose a random row of each concept: names of one concept are no negatives of each other."""
    order = draw.permutation(len(concepts))
    _, first = np.unique(np.array(concepts)[order], return_index=True)
    return order[draw.permutation(first)[:_POOL]]


def _english_vectors(folder: Path, pairs: pa.Table) -> npt.NDArray[np.float32]:
    """Load the teacher's vectors of the English names of pairs."""
    row_of: dict[str, int] = {}
    for name in pq.read_table(folder / "translations.parquet")["english"].to_pylist():
        row_of.setdefault(name, len(row_of))
    rows: Sequence[int] = [row_of[name] for name in pairs["english"].to_pylist()]
    return np.load(folder / "teacher.npy", mmap_mode="r")[rows].astype(np.float32)
