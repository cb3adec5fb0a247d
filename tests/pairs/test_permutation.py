"""Permutations that are computed: each number once, no order left, the same for the same key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nymlink.pairs.permutation import permute, seeded_keys

KEYS = st.integers(0, 2**64 - 1)


def whole(size: int, key: int) -> np.ndarray:
    return permute(np.arange(size), size=size, key=key)


@given(st.integers(0, 3000), KEYS)
def test_each_number_is_there_once(size: int, key: int) -> None:
    assert np.array_equal(np.sort(whole(size, key)), np.arange(size))


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 1_000_003])
def test_each_number_is_there_once_among_many(size: int) -> None:
    assert (np.bincount(whole(size, 7), minlength=size) == 1).all()


@given(st.integers(1, 2**52), st.lists(st.floats(0, 1, exclude_max=True), max_size=20), KEYS)
def test_numbers_of_any_size_stay_in_range_and_apart(size: int, shares: list[float], key: int) -> None:
    places = np.unique(np.array([min(int(share * size), size - 1) for share in shares], np.int64))
    found = permute(places, size=size, key=key)
    assert ((found >= 0) & (found < size)).all()
    assert len(np.unique(found)) == len(places)


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(0, 199), KEYS), min_size=1))
def test_many_permutations_at_once_are_those_one_by_one(asked: list[tuple[int, int, int]]) -> None:
    asked = [(size, place % size, key) for size, place, key in asked]
    sizes, places, keys = zip(*asked, strict=True)
    together = permute(np.array(places), size=sizes, key=np.array(keys, np.uint64))
    alone = [int(permute(np.array([place]), size=size, key=key)[0]) for size, place, key in asked]
    assert together.tolist() == alone


def test_no_order_is_left() -> None:
    size = 200_000
    place = np.arange(size)
    first, second = whole(size, 1), whole(size, 2)
    for one, other in ((place, first), (first[1:], first[:-1]), (first, second), (first[2:], first[:-2])):
        # Of independent numbers, this is standard normal.
        assert abs(np.corrcoef(one, other)[0, 1]) * np.sqrt(size) < 4
    boxes, _, _ = np.histogram2d(place, first, bins=20)
    assert stats.chisquare(boxes.ravel()).pvalue > 0.001


@pytest.mark.parametrize("size", [51, 66, 1000])
def test_what_is_drawn_is_drawn_evenly(size: int) -> None:
    draws, drawn = 4000, 50
    keys = seeded_keys([str(number) for number in range(draws)], seed=0)
    found = permute(np.tile(np.arange(drawn), draws), size=size, key=np.repeat(keys, drawn))
    share = drawn / size
    often = (np.bincount(found, minlength=size) - draws * share) ** 2 / (draws * share * (1 - share))
    assert stats.chi2.sf(often.sum() * (size - 1) / size, size - 1) > 0.001


def test_a_key_is_of_its_text_and_seed_alone() -> None:
    assert seeded_keys(["a", "b"], seed=1)[1] == seeded_keys(["b"], seed=1)[0]
    assert seeded_keys(["a"], seed=1) != seeded_keys(["a"], seed=2)
    # Written down, so that another version or machine holds out the same concepts.
    assert seeded_keys(["MONDO:0005068"], seed=0).tolist() == [6637356851696078287]
    assert permute(np.arange(10), size=10, key=0).tolist() == [0, 6, 2, 9, 8, 3, 4, 1, 5, 7]
    assert len(seeded_keys([], seed=0)) == 0
