"""Hashed features stand for the same things as plain substrings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.sparse.features import TEXT_BITS, CodePoints, Pairs
from tests.index import naive

Count = Callable[[str], Counter[Hashable]]

# Few letters, so that features repeat; of one, two, three and four bytes, right to left, combining, a surrogate.
LETTERS = "ab1é\u0301ßا心🫀𝔞\ud800\0"
TEXTS = st.lists(st.text(alphabet=LETTERS + "   ", max_size=12), max_size=6)
FAMILIES: list[Callable[[CodePoints], Pairs]] = [
    lambda points: points.ngrams(range(1, 4)),
    lambda points: points.word_ngrams(range(2, 5)),
    lambda points: points.words(),
]


def hashes(pairs: Pairs) -> list[int]:
    assert pairs.dtype == np.uint64
    return (pairs >> np.uint64(TEXT_BITS)).tolist()


def numbers(pairs: Pairs) -> list[int]:
    """Of the texts."""
    return (pairs & np.uint64((1 << TEXT_BITS) - 1)).tolist()


def profiles_of(pairs: Pairs, texts: Sequence[str]) -> list[tuple[int, ...]]:
    """For each feature how often each text has it, sorted: the same for any naming of the features."""
    counts: dict[int, list[int]] = {}
    for text, value in zip(numbers(pairs), hashes(pairs), strict=True):
        counts.setdefault(value, [0] * len(texts))[text] += 1
    return sorted(map(tuple, counts.values()))


def naive_profiles(texts: Sequence[str], count: Count) -> list[tuple[int, ...]]:
    counts = [count(text) for text in texts]
    return sorted(tuple(one[feature] for one in counts) for feature in set().union(*counts))


@given(texts=TEXTS, first=st.integers(1, 4), more=st.integers(0, 3), within_words=st.booleans())
def test_ngrams_are_those_of_a_plain_loop(texts: list[str], first: int, more: int, within_words: bool) -> None:
    sizes = range(first, first + more + 1)
    points = CodePoints(texts)
    found = points.word_ngrams(sizes) if within_words else points.ngrams(sizes)
    assert profiles_of(found, texts) == naive_profiles(
        texts, lambda text: naive.char_ngrams(text, sizes, within_words=within_words)
    )


@given(texts=TEXTS, shortest=st.integers(1, 3))
def test_words_are_those_of_a_plain_loop(texts: list[str], shortest: int) -> None:
    found = CodePoints(texts).words(shortest=shortest)
    assert profiles_of(found, texts) == naive_profiles(texts, lambda text: naive.words(text, shortest))


@pytest.mark.parametrize("find", FAMILIES)
@given(texts=TEXTS, other=TEXTS)
def test_a_feature_is_the_same_whatever_stands_around_it(
    find: Callable[[CodePoints], Pairs], texts: list[str], other: list[str]
) -> None:
    alone, after = find(CodePoints(texts)), find(CodePoints(other + texts))
    after = after[(after & np.uint64((1 << TEXT_BITS) - 1)) >= len(other)] - np.uint64(len(other))
    assert sorted(alone.tolist()) == sorted(after.tolist())


def test_a_single_ngram_is_the_whole_text() -> None:
    grams = ["hea", "ear", "art"]
    alone = [hashes(CodePoints([gram]).ngrams(range(3, 4))) for gram in grams]
    assert [[value] for value in hashes(CodePoints(["heart"]).ngrams(range(3, 4)))] == alone


@pytest.mark.parametrize("text", ["", " ", "a", "🫀", "\ud800", "心"])
def test_short_texts(text: str) -> None:
    letters = len(text.strip())
    points = CodePoints([text])
    assert len(points.ngrams(range(1, 2))) == len(text)
    assert len(points.ngrams(range(2, 4))) == 0
    # "a", " a", "a " and " a ", but never spaces alone.
    assert len(points.word_ngrams(range(1, 5))) == 4 * letters
    assert len(points.words()) == letters


@pytest.mark.parametrize("find", FAMILIES)
def test_no_texts(find: Callable[[CodePoints], Pairs]) -> None:
    assert len(find(CodePoints([]))) == 0


def test_as_many_texts_as_a_pair_can_tell_apart() -> None:
    count = 1 << TEXT_BITS
    found = CodePoints(["a"] * count).words()
    assert numbers(found) == list(range(count))
    assert len(set(hashes(found))) == 1


def test_families_and_lengths_are_kept_apart() -> None:
    points = CodePoints(["aaaa"])
    families = (points.ngrams(range(1, 5)), points.word_ngrams(range(1, 5)), points.words())
    found = [set(hashes(family)) for family in families]
    assert list(map(len, found)) == [4, 1 + 3 + 3 + 3, 1]
    assert len(set().union(*found)) == sum(map(len, found))


def test_a_long_text_has_all_its_ngrams() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(10_000))
    assert len(np.unique(CodePoints([text]).ngrams(range(1, 5)))) == 4 * 10_000 - 6


@given(texts=TEXTS, without=st.lists(st.text(alphabet="ab", min_size=1, max_size=2), max_size=3))
def test_words_can_be_left_out(texts: list[str], without: list[str]) -> None:
    left = [" ".join(word for word in text.split(" ") if word not in without) for text in texts]
    assert CodePoints(texts).words(without=without).tolist() == CodePoints(left).words().tolist()
