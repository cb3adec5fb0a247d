"""Postings are those of a plain loop, whole, joined and saved."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from nymlink.core.errors import StoreError
from nymlink.index.sparse.features import TEXT_BITS
from nymlink.index.sparse.postings import Postings, chunks, find

TEXTS = st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=12)
"""Texts, each the features that occur in it."""


def inverted(texts: list[list[int]]) -> Postings:
    pairs = [(feature << TEXT_BITS) + number for number, text in enumerate(texts) for feature in text]
    return Postings.of(np.array(pairs, np.uint64), len(texts))


def counts_of(postings: Postings) -> Counter[tuple[int, int]]:
    features = np.repeat(postings.features, postings.lengths).tolist()
    frequencies = postings.counts.tolist()
    pairs = list(zip(features, postings.texts.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    return Counter(dict(zip(pairs, frequencies, strict=True)))


def expected(texts: list[list[int]]) -> Counter[tuple[int, int]]:
    return Counter((feature, number) for number, text in enumerate(texts) for feature in text)


@given(texts=TEXTS)
def test_features_are_counted(texts: list[list[int]]) -> None:
    postings = inverted(texts)
    assert counts_of(postings) == expected(texts)
    assert np.all(postings.keys[1:] > postings.keys[:-1])


@given(texts=TEXTS, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_joined_parts_are_the_whole(texts: list[list[int]], cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    joined = Postings.joined([inverted(texts[a:b]) for a, b in itertools.pairwise(bounds)])
    whole = inverted(texts)
    assert joined.size == whole.size
    for name in ("keys", "starts", "postings"):
        assert np.array_equal(getattr(joined, name), getattr(whole, name))


@pytest.mark.parametrize("sublinear", [False, True])
@given(texts=TEXTS, asked=st.sets(st.integers(0, 11)))
def test_products_and_norms(sublinear: bool, texts: list[list[int]], asked: set[int]) -> None:
    postings = inverted(texts)
    wanted = sorted(asked)
    weights = np.array([0.5 + feature for feature in wanted])
    sums, squares = np.zeros(len(texts)), np.zeros(len(texts))
    for (feature, text), count in expected(texts).items():
        value = 1 + np.log(count) if sublinear else count
        squares[text] += ((0.5 + feature) * value) ** 2
        if feature in asked:
            sums[text] += (0.5 + feature) * value
    places = postings.places(np.array(wanted, np.uint64))
    found = postings.products(places, weights, sublinear=sublinear)
    np.testing.assert_allclose(found, sums, atol=1e-12)
    np.testing.assert_allclose(postings.norms(0.5 + postings.features, sublinear=sublinear), np.sqrt(squares))


@pytest.mark.parametrize("sublinear", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("asked", [5, 180])
def test_products_are_those_of_scipy_to_the_last_bit(asked: int, dtype: type, sublinear: bool) -> None:
    draw = np.random.default_rng(0)
    postings = inverted([draw.zipf(1.3, 40).clip(max=199).tolist() for _ in range(500)])
    known = np.unique(postings.features)
    features = np.sort(draw.choice(known, min(asked, len(known)), replace=False))
    weights = draw.random(len(features)).astype(dtype)
    places = postings.places(features)
    every = np.zeros(len(postings.keys), dtype)
    for of_kind in places:
        every[of_kind[of_kind >= 0]] = weights[of_kind >= 0]
    counts = postings.counts.astype(dtype)
    frequencies = 1 + np.log(counts) if sublinear else counts
    matrix = csc_array((frequencies, postings.texts, postings.starts), shape=(500, len(postings.keys)))
    found = postings.products(places, weights, sublinear=sublinear)
    assert found.dtype == dtype
    assert np.array_equal(found, matrix @ every)


def test_what_occurs_very_often_counts_as_occurring_256_times() -> None:
    for times in (255, 256, 257, 1000):
        postings = inverted([[], [7] * times])
        found = postings.products(postings.places(np.array([7], np.uint64)), np.ones(1), sublinear=False)
        assert found.tolist() == [0, min(times, 256)]


def test_saved_and_loaded(tmp_path: Path) -> None:
    postings = inverted([[1, 2, 2], [], [2, 3]])
    postings.save(tmp_path / "0")
    assert sorted(path.name for path in (tmp_path / "0").iterdir()) == sorted(Postings.FILES)
    assert counts_of(Postings.load(tmp_path / "0", 3)) == counts_of(postings)


@pytest.mark.parametrize("posting", [3, (1 << 24) - 1, (1 << 32) - 1])
@pytest.mark.parametrize("asked", [[1], [1, 2]])
def test_a_posting_of_a_text_that_does_not_exist_is_an_error(posting: int, asked: list[int]) -> None:
    postings = inverted([[1, 2], [2], [2]])
    postings.postings[0] = posting
    with pytest.raises(StoreError, match="damaged"):
        postings.products(postings.places(np.array(asked, np.uint64)), np.ones(len(asked)), sublinear=False)


def test_arrays_that_do_not_fit_are_refused() -> None:
    good = inverted([[1, 2], [2]])
    for keys, starts, postings in (
        (good.keys.astype(np.int64), good.starts, good.postings),
        (good.keys[1:], good.starts, good.postings),
        (good.keys, good.starts, good.postings[1:]),
        (good.keys, good.starts[::-1], good.postings),
    ):
        with pytest.raises(ValueError, match="postings"):
            Postings(2, keys, starts, postings)


@given(hashes=st.sets(st.integers(0, 20)), wanted=st.lists(st.integers(0, 25)))
def test_find(hashes: set[int], wanted: list[int]) -> None:
    known = sorted(hashes)
    found = find(np.array(known, np.uint64), np.array(wanted, np.uint64))
    assert found.tolist() == [known.index(one) if one in hashes else -1 for one in wanted]


@given(lengths=st.lists(st.sampled_from([0, 1, 40, 50_000, 300_000]), max_size=40))
def test_chunks_are_all_texts_in_stretches_that_can_be_inverted(lengths: list[int]) -> None:
    found = chunks(np.array(lengths, np.int64))
    assert [number for start, end in found for number in range(start, end)] == list(range(len(lengths)))
    for start, end in found:
        assert end - start <= 1 << TEXT_BITS
        assert sum(lengths[start + 1 : end]) <= 1 << 18
