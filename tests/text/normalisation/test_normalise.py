from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Adenomatous polyposis coli (APC)-tumour", "adenomatous polyposis coli apc tumour"),
        ("  Parkinson's \t disease.\n", "parkinson s disease"),
        ("Sjögren–Larsson syndrome", "sjögren larsson syndrome"),
        ("ＨＩＶ", "hiv"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("β‐thalassaemia", "β thalassaemia"),
        ("H₂O ≥ 3", "h2o ≥ 3"),
        ("「糖尿病」、２型", "糖尿病 2型"),
        ("โรคเบาหวาน", "โรคเบาหวาน"),
        ("мигрень «с аурой»", "мигрень с аурой"),
        ("مرض السكري، النوع ٢", "مرض السكري النوع ٢"),
        ("neuro\u00adpathy", "neuropathy"),
        ("İNSÜLİN DİRENCİ", "insülin direnci"),
        ("i\u0307nsülin", "insülin"),
        ("\u202bמחלה\u202c\u200f", "מחלה"),
        ("القـلـب", "القلب"),
        ("ﾊﾟｰｷﾝｿﾝ病", "パーキンソン病"),
        ("\ufeffasthma", "asthma"),
        ("Zetia®", "zetia"),
        ("Lipitor™ 10 mg", "lipitor 10 mg"),
        ("®", "®"),
        ("+++", "+++"),
        ("A+ B+", "a b"),
        ("😀!", "😀"),
        ("…", "..."),
        ("\u200b", "\u200b"),
        ("", ""),
        (" \n\t", ""),
    ],
)
def test_examples(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text())
@example("a-\u0301")
@example("a\u200b\u0301")
@example("ΐ")
@example("\u00b4x")
@example("İ")
@example("™")
@example("(™)")
def test_twice_is_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_only_a_blank_text_becomes_empty(text: str) -> None:
    assert (normalise(text) == "") == (text.strip() == "")


@given(st.text())
def test_no_punctuation_beside_other_characters_and_single_spaces(text: str) -> None:
    result = normalise(text)
    assert result == " ".join(result.split())
    kinds = {unicodedata.category(char)[0] == "P" or char in string.punctuation for char in result if char != " "}
    assert len(kinds) <= 1


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_lower_case_with_punctuation_turned_to_spaces(text: str) -> None:
    spaced = "".join(" " if char in string.punctuation else char for char in text.lower())
    assert normalise(text) == (" ".join(spaced.split()) or " ".join(text.lower().split()))


@given(st.text(st.characters(categories=["Mn", "Mc", "Lo", "Nd"]), min_size=1))
def test_letters_marks_and_digits_stay(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    folded = unicodedata.normalize("NFKC", folded)
    if not any(unicodedata.category(char)[0] == "P" for char in folded):
        assert normalise(text) == " ".join(folded.split())
