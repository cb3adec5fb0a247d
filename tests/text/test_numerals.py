"""Numerals and letters, written in one way."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise
from nymlink.text.numerals import missing
from nymlink.text.numerals import numerals as numerals_of

numerals = partial(numerals_of, language="en")

TENS = ("", "x", "xx", "xxx")
UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
AMBIGUOUS = {"i": "1", "v": "5", "x": "10"}

words = st.sampled_from(["type", "i", "v", "x", "1", "5", "10", "ii", "iva", "b", "second", "cd4"])
texts = st.lists(words, min_size=1, max_size=5).map(" ".join)


@given(st.integers(1, 39), st.sampled_from(["", *"abcdefgh"]))
def test_roman_numerals_are_arabic(number: int, letter: str) -> None:
    roman = TENS[number // 10] + UNITS[number % 10]
    expected = {str(number), letter} - {""}
    if roman + letter == "via":
        expected = set()
    elif not letter and roman in AMBIGUOUS:
        expected |= {roman}
    elif roman in ("xx", "xxx") and not letter:
        expected = {roman}
    assert numerals(f"type {roman}{letter}") == Counter(expected)
    assert set(numerals(f"type {number}{letter}")) == {str(number), letter} - {""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("second 2nd II two", {"2": 4}),
        ("CD4", {"4": 1}),
        ("4p16.3", {"4": 1, "p": 1, "16": 1, "3": 1}),
        ("007", {"7": 1}),
        ("β-thalassemia", {"b": 1}),
        ("alpha1 and α2", {"1": 1, "2": 1, "a": 2}),
        ("vitamin A", {"a": 1}),
        # An article, what is left of a genitive, and what French elides.
        ("a fracture", {}),
        ("Crohn's disease", {}),
        ("douleur de l'orteil", {}),
        # Words that are no numerals.
        ("via mix civil", {}),
        ("male with XXY", {"xxy": 1}),
    ],
)
def test_numerals_of_a_text(text: str, expected: dict[str, int]) -> None:
    assert numerals(normalise(text)) == Counter(expected)


@given(texts, texts)
def test_what_is_missing_is_what_the_other_has_in_no_reading(one: str, other: str) -> None:
    asked, named = numerals(one), numerals(other)
    assert missing(asked, named) <= asked - named
    assert not missing(asked, numerals(f"{other} {one}"))
    assert not missing(numerals(arabic(one)), asked)
    assert not missing(asked, numerals(arabic(one)))


def test_words_for_numbers_are_of_their_language() -> None:
    assert not numerals_of("last ten gevolge van reuma", language="nl")
    assert not numerals_of("second")


def arabic(text: str) -> str:
    return " ".join(AMBIGUOUS.get(word, word) for word in text.split())


def test_a_letter_that_is_missing_is_one() -> None:
    assert missing(numerals("type i"), numerals("type 2")) == {"i": 1}
    assert missing(numerals("type 1 group i"), numerals("type 1 group 2")) == {"i": 1}
    assert missing(numerals("type 1"), numerals("type 2")) == {"1": 1}
