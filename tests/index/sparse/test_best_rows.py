"""The entries of highest score are kept, however they are split into ranges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.sparse.postings import BestRows


def collected(scores: list[float], cuts: list[int], *, k: int, fetched: int) -> set[int]:
    best = BestRows(k, fetched)
    bounds = [0, *sorted(min(cut, len(scores)) for cut in cuts), len(scores)]
    for first, last in itertools.pairwise(bounds):
        best.add(first, np.array(scores[first:last], np.float32))
    assert best.rows.dtype == np.int32
    assert len(set(best.rows.tolist())) == len(best.rows)
    return set(best.rows.tolist())


@given(
    scores=st.lists(st.integers(0, 20).map(lambda score: score / 20), max_size=300),
    cuts=st.lists(st.integers(0, 300), max_size=4),
    k=st.integers(1, 6),
    margin=st.integers(0, 6),
)
def test_nothing_better_is_left_out(scores: list[float], cuts: list[int], k: int, margin: int) -> None:
    rows = collected(scores, cuts, k=k, fetched=k + margin)
    best = sorted((score for score in scores if score > 0), reverse=True)
    assert all(scores[row] > 0 for row in rows)
    if len(best) <= k + margin:
        assert len(rows) == len(best)
    else:
        # All that equal the k-th are there, and of what is better than the last kept nothing is missing.
        assert {row for row, score in enumerate(scores) if score >= best[k - 1]} <= rows
        assert {row for row, score in enumerate(scores) if score > best[k + margin - 1]} <= rows


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000, 6400])
def test_ranges_of_every_size(size: int) -> None:
    scores = np.random.default_rng(size).random(3 * size).astype(np.float32).tolist()
    rows = collected(scores, [size, 2 * size], k=3, fetched=10)
    assert rows == set(np.argsort(scores)[-10:].tolist())


def test_no_more_is_kept_than_asked_for() -> None:
    scores = np.random.default_rng(0).random(10_000).tolist()
    assert len(collected(scores, [5000], k=5, fetched=100)) == 100
