"""Order pairs so that siblings meet in a batch, where the loss learns to distinguish them."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.problems import Problems
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

HIERARCHIES: Final = (
    "ncit/ncit-disease-2018-06-08.json.gz",
    "ordo/ordo-2_6-2018-07-12.json.gz",
    "symp/symp.obo.gz",
    "nando/nando.ttl.gz",
    "bto/bto.obo.gz",
)
"""Native files with parents, which the tables lack."""

SHARE: Final = 0.5
"""Share of a batch that comes in families."""

TOGETHER: Final = 8
"""Most concepts of a family in a batch."""


def families(data: Path, vocabulary: Vocabulary) -> list[list[str]]:
    """List the families of a merged vocabulary: concepts with a common parent, and this parent."""
    members = defaultdict[str, dict[str, None]](dict)
    for name in HIERARCHIES:
        for concept in read_vocabulary(data / "native" / name, problems=Problems()):
            for parent in concept.parents:
                for member in (*vocabulary.resolve(parent), *vocabulary.resolve(concept.id)):
                    members[parent][member] = None
    return [list(family) for family in members.values() if len(family) > 1]


def in_families(pairs: pa.Table, known: list[list[str]], *, batches: int, size: int) -> pa.Table:
    """Select batches of pairs, a share of each in families; no pair comes twice.

    A training shuffles its pairs: this table is in the order that shuffling with seed 0 turns into these batches.

    Args:
        pairs: table with the columns of :data:`~nymlink.pairs.pairs.PAIRS`.
        known: the families; concepts without pairs are passed over.
        batches: number of batches.
        size: pairs in a batch.
    """
    draw = random.Random(0)
    free = list(range(len(pairs)))
    draw.shuffle(free)
    concepts = pairs["concept"].to_pylist()
    rows_of = defaultdict[str, list[int]](list)
    for row in free:
        rows_of[concepts[row]].append(row)
    chosen = dict[int, None]()
    for number in range(batches):
        start = number * size
        for family in draw.choices(known, k=size):
            if len(chosen) >= start + SHARE * size:
                break
            for concept in draw.sample(family, min(TOGETHER, len(family))):
                row = next((row for row in rows_of[concept] if row not in chosen), None)
                if row is not None:
                    chosen[row] = None
        while free and len(chosen) < start + size:
            chosen[free.pop()] = None
    rows = list(chosen)[: batches * size]
    ordered = np.empty(len(rows), np.int64)
    ordered[permute(np.arange(len(rows)), size=len(rows), key=seeded_keys(["epoch 0"], seed=0))] = rows
    return pairs.take(ordered)
