"""Digests of texts that are the same in whatever order their words are."""

from __future__ import annotations

import random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.words import word_digests

TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "ab", "ba", "ß", "心"]), min_size=1, max_size=4), max_size=20)


@given(texts=TEXTS)
def test_equal_where_the_words_are(texts: list[list[str]]) -> None:
    digests = word_digests(pa.array([" ".join(words) for words in texts], pa.large_string())).tolist()
    for one, digest in zip(texts, digests, strict=True):
        for other, another in zip(texts, digests, strict=True):
            assert (digest == another) == (sorted(one) == sorted(other))


def test_of_more_texts_than_are_looked_at_in_one_go() -> None:
    draw = random.Random(0)
    words = [str(number) for number in range(50)]
    texts = [" ".join(draw.sample(words, 3)) for _ in range(150_000)]
    digests = word_digests(pa.array(texts, pa.large_string()))
    known: dict[int, str] = {}
    for text, digest in zip(texts, digests.tolist(), strict=True):
        alike = " ".join(sorted(text.split()))
        assert known.setdefault(digest, alike) == alike
    assert len(known) == len(set(known.values()))
