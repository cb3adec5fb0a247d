"""Pairs ordered so that siblings meet in a batch: of like concepts the loss learns what tells them apart."""

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
"""The native files that say what is above what; the tables do not."""

SHARE: Final = 0.5
"""Of a batch, what comes in families."""

TOGETHER: Final = 8
"""Of a family, at most so many concepts in a batch."""


def families(data: Path, vocabulary: Vocabulary) -> list[list[str]]:
    """The concepts of a merged vocabulary that have a parent in common, with that parent: two or more."""
    found = defaultdict[str, dict[str, None]](dict)
    for name in HIERARCHIES:
        for concept in read_vocabulary(data / "native" / name, problems=Problems()):
            for parent in concept.parents:
                for one in (*vocabulary.resolve(parent), *vocabulary.resolve(concept.id)):
                    found[parent][one] = None
    return [list(family) for family in found.values() if len(family) > 1]


def in_families(pairs: pa.Table, known: list[list[str]], *, batches: int, size: int) -> pa.Table:
    """So many batches of pairs, a share of each in families; no pair comes twice.

    A training shuffles its pairs: this table is in the order that shuffling with seed 0 turns into these batches.

    Args:
        pairs: with the columns of :data:`~nymlink.pairs.pairs.PAIRS`.
        known: the families; what has no pairs is passed over.
        batches: how many.
        size: pairs in a batch.
    """
    draw = random.Random(0)
    free = list(range(len(pairs)))
    draw.shuffle(free)
    concepts = pairs["concept"].to_pylist()
    of_concept = defaultdict[str, list[int]](list)
    for row in free:
        of_concept[concepts[row]].append(row)
    taken = dict[int, None]()
    for number in range(batches):
        start = number * size
        for family in draw.choices(known, k=size):
            if len(taken) >= start + SHARE * size:
                break
            for concept in draw.sample(family, min(TOGETHER, len(family))):
                row = next((row for row in of_concept[concept] if row not in taken), None)
                if row is not None:
                    taken[row] = None
        while free and len(taken) < start + size:
            taken[free.pop()] = None
    rows = list(taken)[: batches * size]
    ordered = np.empty(len(rows), np.int64)
    ordered[permute(np.arange(len(rows)), size=len(rows), key=seeded_keys(["epoch 0"], seed=0))] = rows
    return pairs.take(ordered)
