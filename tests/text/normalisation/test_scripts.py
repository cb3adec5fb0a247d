from __future__ import annotations

import pytest

from nymlink.text.normalise import scripts_of


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("heart attack 2", {"Latin"}),
        ("1,2 + é", {"Latin"}),
        ("β-блокатор", {"Greek", "Cyrillic"}),
        ("２型 糖尿病", {"Han"}),
        ("がん ウィルス コーヒー", {"Hiragana", "Katakana"}),
        ("당뇨병", {"Hangul"}),
        ("โรคเบาหวาน", {"Thai"}),
        ("שָׁלוֹם القَلْب", {"Hebrew", "Arabic"}),
        ("+++ 12 😀", set()),
        ("", set()),
    ],
)
def test_examples(text: str, scripts: set[str]) -> None:
    assert scripts_of(text) == scripts
