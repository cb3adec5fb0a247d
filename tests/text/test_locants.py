from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations.long_forms import widen


@pytest.mark.parametrize(
    ("text", "name", "whole"),
    [
        ("the delta-9-tetrahydrocannabinol", "tetrahydro", "delta-9-"),
        ("the delta 9-tetrahydrocannabinol", "tetrahydro", "delta 9-"),
        ("the 17 beta-estradiol", "beta-", "17 "),
        ("some 1,10-phenanthroline", "phenan", "1,10-"),
        ("some N-nitrosodiethylamine", "nitroso", "N-"),
        ("some (R)-alpha-methylhistamine", "methyl", "(R)-alpha-"),
        ("some [(3)H]saxitoxin", "saxi", "[(3)H]"),
        ("some 1-(2-chloroethyl)-3-cyclohexyl", "cyclo", "1-(2-chloroethyl)-3-"),
        ("some 3'-azido", "azido", "3'-"),
        ("as (3-mercaptopropionic", "mercapto", "3-"),
        ("PCR/4-nitrophenol", "nitro", "4-"),
        ("anti-proliferating", "proliferating", ""),
        ("Severe-glucose", "glucose", ""),
        ("in 17 patients", "patients", ""),
        ("non-high-density", "high", ""),
        ("glucose", "glucose", ""),
    ],
)
def test_locants_are_part_of_a_name(text: str, name: str, whole: str) -> None:
    start = text.index(name)
    assert text[widen(text, start) : start] == whole


@given(st.text("1,-()[] Nαaβ'", max_size=40), st.integers(0, 40))
def test_a_start_only_moves_to_the_left(text: str, start: int) -> None:
    start = min(start, len(text))
    assert 0 <= widen(text, start) <= start
