from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations.short_forms import fold, is_short, letters_of


@pytest.mark.parametrize(
    "text", ["WAS", "aku", "aa", "i.v.", "A-T", "CL/P", "T", "Hex A", "K(A)", "5alpha-red-IR", "Dbh-/-", "β-HCG"]
)
def test_can_be_short(text: str) -> None:
    assert is_short(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "t",
        "7",
        "12",
        "type II",
        "as",
        "e.g.",
        "ii",
        "pH",
        "n=7",
        "Si-",
        "V (T)",
        "(T)",
        "phosphatase",
        "a b c",
    ],
)
def test_cannot_be_short(text: str) -> None:
    assert not is_short(text)


def test_letters_are_folded() -> None:
    assert letters_of("β-HCG 2") == "bhcg2"


@given(st.text(max_size=40))
def test_folding_keeps_offsets(text: str) -> None:
    assert len(fold(text)) == len(text)
