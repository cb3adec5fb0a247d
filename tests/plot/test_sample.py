from __future__ import annotations

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.pairs.pairs import Pairs
from nymlink.plot.sample import sample_batches, sample_names
from tests.index.small import vocabulary

# Twenty concepts with eight names each, five with three, and five that have nothing to pair.
MANY = {f"M:{c}": [f"Many {c}", *(f"many {c} name {n}" for n in range(7))] for c in range(20)}
FEW = {f"F:{c}": [f"Few {c}", f"few {c} name", f"few {c} other"] for c in range(5)}
ONE = {f"O:{c}": [f"One {c}", f"ONE {c}"] for c in range(5)}
VOCABULARY = vocabulary({**ONE, **FEW, **MANY})


def test_names_of_concepts_that_have_enough() -> None:
    sample = sample_names(VOCABULARY, concepts=6, names=5, seed=1)
    assert len(set(sample.concepts)) == 6
    assert all(name.startswith("Many ") for name in sample.concepts)
    assert sample.labels.tolist() == [concept for concept in range(6) for _ in range(5)]
    assert len(set(sample.texts)) == 30
    for row, text in enumerate(sample.texts):
        preferred = sample.concepts[sample.labels[row]].lower()
        assert text == preferred if row % 5 == 0 else text.startswith(f"{preferred} name ")


def test_concepts_with_most_names_are_taken_where_few_have_enough() -> None:
    sample = sample_names(VOCABULARY, concepts=22, names=5)
    assert sum(name.startswith("Many ") for name in sample.concepts) == 20
    assert sorted(np.bincount(sample.labels)) == [3] * 2 + [5] * 20


def test_the_seed_decides() -> None:
    first, again, other = (sample_names(VOCABULARY, concepts=6, names=5, seed=seed) for seed in (1, 1, 2))
    assert first.texts == again.texts
    assert first.texts != other.texts
    assert first.concepts != other.concepts


def test_batches_are_those_of_training() -> None:
    batches = sample_batches(VOCABULARY, pairs=16, batches=3, seed=4)
    pairs = Pairs.of(VOCABULARY, seed=4)
    assert len(batches) == 3
    for number, (texts, labels) in enumerate(batches):
        concepts, left, right = pairs.rows(16 * number, 16 * number + 16)
        assert texts == pairs.texts(left) + pairs.texts(right)
        assert labels.tolist() == 2 * concepts.tolist()


def test_too_small_vocabularies_are_refused() -> None:
    with pytest.raises(
        InputError, match="only 25 concepts of the vocabulary have two or more distinct names, not 26"
    ):
        sample_names(VOCABULARY, concepts=26, names=5)
    with pytest.raises(InputError, match=r"the vocabulary has 575 pairs, not 4 batches of 256"):
        sample_batches(VOCABULARY, pairs=256, batches=4)
