from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise, romanise


@pytest.mark.parametrize(
    ("text", "romanised"),
    [
        ("heart attack", "heart attack"),
        ("инсулин", "insulin"),
        ("インスリン", "insurin"),
        ("아스피린", "aseupilin"),
        ("αλλεργία", "allergia"),
        ("القَلْب", "lqlb"),
        ("cœur élargi", "coeur elargi"),
        ("糖尿病 ii", "tangniaobingii"),
        ("😀", "grinning"),
    ],
)
def test_examples(text: str, romanised: str) -> None:
    assert romanise(text) == romanised


@given(st.text())
def test_words_of_ascii_letters_and_digits(text: str) -> None:
    text = normalise(text)
    romanised = romanise(text)
    assert romanised.isascii()
    if not text.isascii():
        assert all(char.isalnum() or char == " " for char in romanised)
        assert romanised == " ".join(romanised.lower().split())
