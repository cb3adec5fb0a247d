"""Exact search: equal or nothing."""

from __future__ import annotations

import numpy as np

from nymlink.index.fusion import ExactSearch
from nymlink.index.hits import NONE
from tests.index.small import entries

KNOWN = entries(["b", "a", "a b", "心"])  # rows: a, a b, b, 心


def test_finds_the_equal_entry_only() -> None:
    hits = ExactSearch(KNOWN).search(["b", "B", "", "a  b", "心", "a b c"], 3)
    assert hits.rows[:, 0].tolist() == [2, NONE, NONE, NONE, 3, NONE]
    assert hits.scores[:, 0].tolist() == [1, 0, 0, 0, 1, 0]
    assert np.all(hits.rows[:, 1:] == NONE)
    assert not hits.scores[:, 1:].any()


def test_scores() -> None:
    scores = ExactSearch(KNOWN).score(["a", "x"], np.array([[2, 0, NONE], [0, NONE, NONE]], np.int32))
    assert scores.dtype == np.float32
    assert scores.tolist() == [[0, 1, 0], [0, 0, 0]]
