"""Sampled features stand for all."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.sparse.postings import sample_features


def naive_sample(frequencies: list[int], weights: list[float], budget: int) -> list[float]:
    """The same, the factor being found by halving."""
    budget = max(budget, *frequencies)
    if sum(frequencies) <= budget:
        return [1.0] * len(frequencies)
    worth = [weight / math.sqrt(count) for weight, count in zip(weights, frequencies, strict=True)]
    low, high = 0.0, 1 / min(worth)
    for _ in range(200):
        middle = (low + high) / 2
        cost = sum(min(1, middle * one) * count for one, count in zip(worth, frequencies, strict=True))
        low, high = (middle, high) if cost < budget else (low, middle)
    counts, passed = [0.0] * len(worth), 0.0
    for place in sorted(range(len(worth)), key=lambda place: -worth[place]):
        chance = min(1, low * worth[place])
        if math.floor(passed + chance + 0.5) > math.floor(passed + 0.5):
            counts[place] = 1 / chance
        passed += chance
    return counts


def test_agrees_with_a_plain_loop() -> None:
    draw = random.Random(0)
    for _ in range(200):
        count = draw.randint(1, 40)
        frequencies = [int(10 ** draw.uniform(0, 5)) for _ in range(count)]
        weights = [draw.uniform(0.01, 1) for _ in range(count)]
        budget = int(sum(frequencies) * draw.uniform(0.05, 1.2)) + 1
        found = sample_features(np.array(frequencies), np.array(weights), budget).tolist()
        expected = naive_sample(frequencies, weights, budget)
        np.testing.assert_allclose(sum(found), sum(expected), rtol=0.5)
        np.testing.assert_allclose(found, expected, rtol=1e-4)


@given(
    features=st.lists(st.tuples(st.integers(1, 10**6), st.floats(0.001, 1)), min_size=1, max_size=60),
    budget=st.integers(1, 10**7),
)
def test_something_is_chosen_and_little_more_than_the_budget_looked_at(
    features: list[tuple[int, float]], budget: int
) -> None:
    frequencies, weights = np.array([count for count, _ in features]), np.array([weight for _, weight in features])
    counts = sample_features(frequencies, weights, budget)
    assert counts.dtype == np.float32
    assert counts.any()
    assert np.all((counts == 0) | (counts >= 1))
    assert frequencies[counts > 0].sum() <= max(budget, frequencies.max()) + 2 * frequencies.max()


def test_a_sum_over_the_sample_is_right_on_average() -> None:
    draw = np.random.default_rng(0)
    ratios = []
    for _ in range(400):
        frequencies = (10 ** draw.uniform(2, 6, 80)).astype(np.int64)
        weights = draw.uniform(0.1, 1, 80)
        counts = sample_features(frequencies, weights, int(frequencies.sum()) // 4)
        # Which features a text has does not hang together with how likely they are to be chosen.
        has = draw.random(80) < 0.5
        ratios.append(float(weights[has] @ counts[has] / weights[has].sum()))
    assert np.mean(ratios) == pytest.approx(1, abs=0.02)


def test_what_is_worth_more_or_costs_less_is_certain() -> None:
    frequencies, weights = np.full(100, 1000), np.full(100, 0.1)
    frequencies[0], weights[1] = 1, 10
    counts = sample_features(frequencies, weights, 10_000)
    assert counts[:2].tolist() == [1, 1]
    assert np.count_nonzero(counts) == pytest.approx(11, abs=1)


def test_where_the_budget_suffices_nothing_is_left_out() -> None:
    assert sample_features(np.array([5, 6]), np.array([0.1, 0.2]), 11).tolist() == [1, 1]
    assert sample_features(np.zeros(0, np.int64), np.zeros(0), 11).tolist() == []
