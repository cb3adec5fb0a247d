from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.normalise import fold, normalise


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("cardíaco", "cardiaco"),
        ("ısırık", "isirik"),
        ("łódź ø æ", "lodz o ae"),
        ("tiếng việt", "tieng viet"),
        ("ёлка", "елка"),
        ("йод", "йод"),
        ("διαβήτησ", "διαβητησ"),
        ("القَلْب", "القلب"),
        ("أمراض", "امراض"),
        ("می\u200cخواهم ٣", "ميخواهم 3"),
        ("שָׁלוֹם", "שלום"),
        ("ウィルス性肝炎", "ういるす性肝炎"),
        ("ガン", "がん"),
        ("氣喘 癥狀", "气喘症状"),
        ("2 型 糖尿病", "2型糖尿病"),
        ("โรค เบาหวาน ๒", "โรคเบาหวาน2"),
        ("당뇨병 환자", "당뇨병 환자"),
        ("मधुमेह", "मधुमेह"),
        ("heart attack", "heart attack"),
    ],
)
def test_examples(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_twice_is_once(text: str) -> None:
    assert fold(fold(normalise(text))) == fold(normalise(text))


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays(text: str) -> None:
    assert fold(text) == text


@given(st.text(st.characters(categories=["Lo"]), min_size=1))
def test_letters_do_not_disappear(text: str) -> None:
    assert fold(normalise(text)) != ""
