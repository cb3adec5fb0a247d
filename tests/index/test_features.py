"""Hashed features stand for the same things as plain substrings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.features import Features, char_ngrams, words
from tests.index import naive

Count = Callable[[str], Counter[Hashable]]

# Few letters, so that features repeat; of one, two, three and four bytes, right to left, combining, a surrogate.
LETTERS = "ab1é\u0301ßا心🫀𝔞\ud800\0"
TEXTS = st.lists(st.text(alphabet=LETTERS + "   ", max_size=12), max_size=6)


def profiles_of(found: Features, texts: Sequence[str]) -> list[tuple[int, ...]]:
    """For each feature how often each text has it, sorted: the same for any naming of the features."""
    counts: dict[int, list[int]] = {}
    for text, value in zip(found.text.tolist(), found.hash.tolist(), strict=True):
        counts.setdefault(value, [0] * len(texts))[text] += 1
    return sorted(map(tuple, counts.values()))


def naive_profiles(texts: Sequence[str], count: Count) -> list[tuple[int, ...]]:
    counts = [count(text) for text in texts]
    return sorted(tuple(one[feature] for one in counts) for feature in set().union(*counts))


@given(texts=TEXTS, first=st.integers(1, 4), more=st.integers(0, 3), within_words=st.booleans())
def test_ngrams_are_those_of_a_plain_loop(texts: list[str], first: int, more: int, within_words: bool) -> None:
    sizes = range(first, first + more + 1)
    found = char_ngrams(texts, sizes, within_words=within_words)
    assert (found.text.dtype, found.hash.dtype) == (np.int32, np.uint64)
    assert np.all(np.diff(found.text) >= 0)
    assert profiles_of(found, texts) == naive_profiles(
        texts, lambda text: naive.char_ngrams(text, sizes, within_words=within_words)
    )


@given(texts=TEXTS, shortest=st.integers(1, 3))
def test_words_are_those_of_a_plain_loop(texts: list[str], shortest: int) -> None:
    found = words(texts, shortest=shortest)
    assert np.all(np.diff(found.text) >= 0)
    assert profiles_of(found, texts) == naive_profiles(texts, lambda text: naive.words(text, shortest))


@given(texts=TEXTS, other=TEXTS)
def test_a_feature_is_the_same_whatever_stands_around_it(texts: list[str], other: list[str]) -> None:
    for find in (
        lambda given: char_ngrams(given, range(1, 4), within_words=False),
        lambda given: char_ngrams(given, range(2, 5), within_words=True),
        words,
    ):
        alone, after = find(texts), find(other + texts)
        later = after.text >= len(other)
        assert sorted(zip(alone.text.tolist(), alone.hash.tolist(), strict=True)) == sorted(
            zip((after.text[later] - len(other)).tolist(), after.hash[later].tolist(), strict=True)
        )


def test_a_single_ngram_is_the_whole_text() -> None:
    grams = ["hea", "ear", "art"]
    alone = [char_ngrams([gram], range(3, 4), within_words=False).hash.tolist() for gram in grams]
    assert [[value] for value in char_ngrams(["heart"], range(3, 4), within_words=False).hash.tolist()] == alone


@pytest.mark.parametrize("text", ["", " ", "a", "🫀", "\ud800", "心"])
def test_short_texts(text: str) -> None:
    letters = len(text.strip())
    assert len(char_ngrams([text], range(1, 2), within_words=False).hash) == len(text)
    assert len(char_ngrams([text], range(2, 4), within_words=False).hash) == 0
    # " a", "a " and " a ", but never spaces alone.
    assert len(char_ngrams([text], range(1, 5), within_words=True).hash) == 4 * letters
    assert len(words([text]).hash) == letters


def test_no_texts() -> None:
    for found in (char_ngrams([], range(1, 4), within_words=True), words([])):
        assert (len(found.text), len(found.hash)) == (0, 0)


def test_families_and_lengths_are_kept_apart() -> None:
    text = "aaaa"
    whole = char_ngrams([text], range(1, 5), within_words=False)
    inner = char_ngrams([text], range(1, 5), within_words=True)
    found = [set(whole.hash.tolist()), set(inner.hash.tolist()), set(words([text]).hash.tolist())]
    assert list(map(len, found)) == [4, 1 + 3 + 3 + 3, 1]
    assert len(set().union(*found)) == sum(map(len, found))


def test_a_long_text_has_all_its_ngrams() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(10_000))
    assert len(np.unique(char_ngrams([text], range(1, 5), within_words=False).hash)) == 4 * 10_000 - 6


@given(texts=TEXTS, without=st.lists(st.text(alphabet="ab", min_size=1, max_size=2), max_size=3))
def test_words_can_be_left_out(texts: list[str], without: list[str]) -> None:
    left = [" ".join(word for word in text.split(" ") if word not in without) for text in texts]
    assert words(texts, without=without).hash.tolist() == words(left).hash.tolist()
