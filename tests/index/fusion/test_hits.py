"""The order that every search promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.hits import NONE, Hits, best, best_of


@given(
    scores=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.75]), min_size=1, max_size=8),
    missing=st.lists(st.booleans(), min_size=8, max_size=8),
    k=st.integers(1, 10),
    data=st.data(),
)
def test_best(scores: list[float], missing: list[bool], k: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(scores))))
    given_rows = [NONE if missing[place] else row for place, row in enumerate(order)]
    hits = best(np.array([given_rows], np.int32), np.array([scores], np.float32), k)
    found = [(-score, row) for row, score in zip(given_rows, scores, strict=True) if row != NONE]
    expected = sorted(found)[:k]
    padding = k - len(expected)
    assert hits.rows.tolist() == [[row for _, row in expected] + [NONE] * padding]
    assert hits.scores.tolist() == [[-score for score, _ in expected] + [0.0] * padding]


@given(
    found=st.lists(st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.75]), max_size=6), max_size=5), k=st.integers(1, 8)
)
def test_best_of_different_numbers_of_entries(found: list[list[float]], k: int) -> None:
    query_numbers = np.repeat(np.arange(len(found)), [len(scores) for scores in found])
    rows = np.array([7 * row % 11 for scores in found for row in range(len(scores))], np.int32)
    scores = np.array([score for scores in found for score in scores], np.float32)
    hits = best_of(query_numbers, rows, scores, queries=len(found), k=k)
    assert hits.rows.shape == (len(found), k)
    for query in range(len(found)):
        own = query_numbers == query
        alone = best(rows[own][None, :], scores[own][None, :], k)
        assert hits.rows[query].tolist() == alone.rows[0].tolist()
        assert hits.scores[query].tolist() == alone.scores[0].tolist()


def test_rounding_does_not_decide_between_equals() -> None:
    hits = best(np.array([[9, 4, 7]], np.int32), np.array([[0.3000001, 0.3, 0.3000002]], np.float32), 3)
    assert hits.rows.tolist() == [[4, 7, 9]]


def test_rows_and_scores_must_fit() -> None:
    with pytest.raises(ValueError, match="same"):
        Hits(np.zeros((2, 3), np.int32), np.zeros((2, 2), np.float32))
    with pytest.raises(ValueError, match="same"):
        Hits(np.zeros(3, np.int32), np.zeros(3, np.float32))
