from __future__ import annotations

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.encode.onnx_export import SynonymSample
from tests.index.small import many_names, vocabulary


def sample() -> SynonymSample:
    names = iter(many_names(700))
    concepts = {f"T:{number}": [next(names) for _ in range(1 + number % 3)] for number in range(300)}
    return SynonymSample.of(vocabulary(concepts))


def test_names_with_a_synonym_are_the_queries() -> None:
    found = sample()
    assert len(found.names) == 600
    assert len(found.queries) == 500
    for row in found.queries.tolist():
        assert (found.concepts == found.concepts[row]).sum() > 1


def test_recall_is_that_of_a_loop() -> None:
    found = sample()
    vectors = np.random.default_rng(0).normal(size=(len(found.names), 4)).astype(np.float32)
    vectors += 2 * np.random.default_rng(1).normal(size=(found.concepts.max() + 1, 4))[found.concepts]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    right = 0
    for query in found.queries.tolist():
        others = [row for row in range(len(vectors)) if row != query]
        nearest = max(others, key=lambda row: vectors[row] @ vectors[query])
        right += found.concepts[nearest] == found.concepts[query]
    assert found.recall(vectors) == pytest.approx(right / len(found.queries))
    assert 0 < right < len(found.queries)


def test_equal_names_are_no_synonyms_and_obsolete_concepts_have_none() -> None:
    same = {f"T:{number}": ["Fever", "fever", f"ache {number}"] for number in range(300)}
    with pytest.raises(InputError, match="2 names with a synonym"):
        SynonymSample.of(vocabulary(same))
    names = iter(many_names(600))
    gone = {f"T:{number}": [next(names), next(names)] for number in range(300)}
    with pytest.raises(InputError, match="0 names with a synonym"):
        SynonymSample.of(vocabulary(gone, replaced={each: [] for each in gone}))


def test_the_same_vocabulary_gives_the_same_sample() -> None:
    assert sample().names == sample().names
