"""Symmetric trees, against one loop a candidate."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from nymlink.rank.trees import Trees

FEATURES = 5


def drawn(count: int = 7, depth: int = 3, *, seed: int = 0) -> Trees:
    rng = np.random.default_rng(seed)
    return Trees(
        rng.integers(0, FEATURES, (count, depth)),
        rng.normal(size=(count, depth)).astype(np.float32),
        rng.normal(size=(count, 1 << depth)).astype(np.float32),
    )


def numbers(count: int = 60, *, seed: int = 1) -> np.ndarray:
    """Features, a quarter of them missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(count, FEATURES)).astype(np.float32)
    values[rng.random(values.shape) < 0.25] = np.nan
    return values


def naive(trees: Trees, row: list[float]) -> float:
    """Walk down each tree; a missing feature is not above any threshold."""
    total = 0.0
    for features, thresholds, values in zip(
        trees.features.tolist(), trees.thresholds.tolist(), trees.values.tolist(), strict=True
    ):
        leaf = sum(
            2**level
            for level, (feature, threshold) in enumerate(zip(features, thresholds, strict=True))
            if not math.isnan(row[feature]) and row[feature] > threshold
        )
        total += values[leaf]
    return total


@pytest.mark.parametrize("depth", [0, 1, 3, 8])
def test_values_are_those_of_a_loop(depth: int) -> None:
    trees, rows = drawn(depth=depth), numbers()
    expected = [naive(trees, row) for row in rows.tolist()]
    np.testing.assert_allclose(trees.evaluate(rows), expected, atol=1e-5)


def test_many_candidates_have_the_values_of_few() -> None:
    trees, rows = drawn(count=40, depth=5), numbers(700)
    few = [trees.evaluate(rows[start : start + 70]) for start in range(0, 700, 70)]
    assert np.array_equal(trees.evaluate(rows), np.concatenate(few))


def test_a_value_at_a_threshold_is_not_above_it() -> None:
    trees = Trees(np.array([[0]]), np.array([[0.5]], np.float32), np.array([[1, 2]], np.float32))
    rows = np.array([[0.5], [np.nextafter(np.float32(0.5), np.float32(1))], [np.nan], [np.inf]], np.float32)
    assert trees.evaluate(rows).tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_contributions_add_up_to_the_value(depth: int) -> None:
    trees, rows = drawn(depth=depth), numbers()
    moved = trees.contributions(rows, FEATURES)
    assert moved.shape == (len(rows), FEATURES + 1)
    np.testing.assert_allclose(moved.sum(axis=1), trees.evaluate(rows), atol=1e-5)
    # What no feature moved is the mean of all leaves.
    assert moved[:, -1] == pytest.approx(float(trees.values.mean(axis=1).sum()), abs=1e-5)


def test_only_features_that_are_asked_for_contribute() -> None:
    trees = Trees(np.array([[2], [2]]), np.zeros((2, 1), np.float32), np.array([[-1, 3], [0, 1]], np.float32))
    moved = trees.contributions(numbers(), FEATURES)
    assert not moved[:, [0, 1, 3, 4]].any()
    assert set(moved[:, 2].tolist()) == {2.5, -2.5}


def test_no_trees_and_no_candidates() -> None:
    none = drawn(count=0)
    assert none.evaluate(numbers(3)).tolist() == [0, 0, 0]
    assert drawn().evaluate(numbers(0)).shape == (0,)
    assert drawn().contributions(numbers(0), FEATURES).shape == (0, FEATURES + 1)


def test_they_are_kept_as_json() -> None:
    trees, rows = drawn(), numbers()
    kept = Trees.from_dict(json.loads(json.dumps(trees.to_dict())))
    assert np.array_equal(kept.features, trees.features)
    np.testing.assert_allclose(kept.evaluate(rows), trees.evaluate(rows), atol=1e-3)
    # What is kept is kept as it is from then on.
    again = Trees.from_dict(kept.to_dict())
    assert np.array_equal(again.evaluate(rows), kept.evaluate(rows))
    assert again.to_dict() == kept.to_dict()


GOOD = drawn(count=2, depth=1).to_dict()


@pytest.mark.parametrize(
    "damage",
    [
        {"features": [[0], [-1]]},
        {"features": [[0]]},
        {"features": [0, 1]},
        {"features": "01"},
        {"features": [["x"], ["y"]]},
        {"features": [[None], [0]]},
        {"features": [[1e300], [0]]},
        {"features": [[0], [0, 1]]},
        {"thresholds": [[0.5], [math.nan]]},
        {"thresholds": [[0.5]]},
        {"thresholds": None},
        {"values": [[0, 1], [0, math.inf]]},
        {"values": [[0, 1]]},
        {"values": [[0, 1, 2], [0, 1, 2]]},
        {"values": {}},
        {"values": [[0, "many"], [0, 1]]},
    ],
)
def test_damaged_ones_are_refused(damage: dict[str, Any]) -> None:
    Trees.from_dict(GOOD)
    with pytest.raises(ValueError, match=r"."):
        Trees.from_dict(GOOD | damage)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_what_is_missing_is_refused(name: str) -> None:
    with pytest.raises((ValueError, LookupError)):
        Trees.from_dict({other: value for other, value in GOOD.items() if other != name})


def test_too_deep_ones_are_refused() -> None:
    with pytest.raises(ValueError, match="trees of depth 9 are deeper than 8"):
        drawn(count=1, depth=9)


def test_sums_of_trees_of_other_depths_add_up() -> None:
    deep, shallow, rows = drawn(depth=4), drawn(count=3, depth=2, seed=5), numbers()
    rows[0] = np.inf
    joined = Trees.joined([deep, shallow])
    np.testing.assert_allclose(joined.evaluate(rows), deep.evaluate(rows) + shallow.evaluate(rows), atol=1e-5)
    moved = deep.contributions(rows, FEATURES) + shallow.contributions(rows, FEATURES)
    np.testing.assert_allclose(joined.contributions(rows, FEATURES), moved, atol=1e-5)
    read = Trees.from_dict(json.loads(json.dumps(joined.to_dict())))
    np.testing.assert_allclose(read.evaluate(rows), joined.evaluate(rows), atol=1e-3)
