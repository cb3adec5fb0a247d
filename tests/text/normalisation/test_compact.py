"""Names written together."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise
from nymlink.text.writing import compact, compact_all, compact_roman, compact_variants, has_roman, spell_greek

LETTERS = st.text(alphabet=st.sampled_from("abpivx019 αβκα-\u0301é病"), max_size=20)


@pytest.mark.parametrize(
    "names",
    [
        ["TNF-α", "TNFα", "TNF alpha", "TNF-alpha", "TNFalpha"],
        ["ET-1", "ET1", "et 1"],
        ["IκB-α", "IkappaBalpha", "I kappa B alpha"],
        ["14-3-3zeta", "14-3-3 zeta", "14-3-3ζ"],
        ["factor VIII", "factor 8", "Factor-VIII"],
        ["µ-opioid", "mu opioid", "μ opioid"],
        ["non-syndromic deafness", "nonsyndromic deafness"],
    ],
    ids=lambda names: names[0],
)
def test_ways_to_write_a_name_have_one_form(names: list[str]) -> None:
    assert len({compact(normalise(name)) for name in names}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,11-x", "11,1-x"), ("p-ERK", "PERK"), ("IL-1", "IL-11"), ("αβγ", "alphabetagamma"), ("(1)", "(l)")],
)
def test_other_names_have_others(one: str, other: str) -> None:
    assert compact(normalise(one)) != compact(normalise(other))


@given(st.lists(st.one_of(LETTERS, st.text(max_size=20)).map(normalise)))
def test_many_are_written_together_as_each_alone(texts: list[str]) -> None:
    assert compact_all(pa.array(texts, pa.large_string())).to_pylist() == [compact(text) for text in texts]


def test_roman_numerals_may_stay() -> None:
    texts = ["rpn i", "rpn 1", "i kappa b", "x linked", "nad x", "factor vi b"]
    assert has_roman(pa.array(texts, pa.large_string())).to_pylist() == [True, False, False, False, True, True]
    assert [compact_roman(text) for text in texts[:2]] == ["rpni", "rpn1"]


def test_greek_letters_are_spelt_out_but_not_greek_words() -> None:
    assert spell_greek("IκBα, β-catenin") == "IkappaBalpha, beta-catenin"
    assert spell_greek("ταχυκαρδία") == "ταχυκαρδία"


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("tgfalpha", "tgfa"),
        ("ikappabalpha", "ikba"),
        ("ifng", "ifngamma"),
        ("camkii", "camk2"),
        ("camk2", "camkii"),
        ("nkx25", "nkx2 5"),
        ("14 3 3zeta", "1433zeta"),
    ],
)
def test_symbols_have_variants(text: str, variant: str) -> None:
    assert variant in list(compact_variants(text))


@given(LETTERS)
def test_variants_are_few_and_others(text: str) -> None:
    found = list(compact_variants(text))
    assert text not in found
    assert len(found) <= 20 + len(text)


def test_longer_names_have_no_variants() -> None:
    assert list(compact_variants("interleukin1receptoralpha")) == []
