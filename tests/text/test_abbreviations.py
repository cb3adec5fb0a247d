from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations import Definition, find_definitions

WORDS = st.sampled_from(
    ["(", ")", "[", "]", "AB", "ABs", "a", "alpha", "beta", "Beta-alpha", "of", ";", ".", "β", "1", "B-1"]
)


def found(text: str, *, inverted: bool = True) -> list[tuple[str, str]]:
    return [(one.short, one.long) for one in find_definitions(text, inverted=inverted)]


@pytest.mark.parametrize(
    ("text", "definitions"),
    [
        # both orders
        ("in Wiskott-Aldrich syndrome (WAS) and", [("WAS", "Wiskott-Aldrich syndrome")]),
        ("and WAS (Wiskott-Aldrich syndrome) in", [("WAS", "Wiskott-Aldrich syndrome")]),
        # one word, several words, digits, hyphens, slashes, Greek letters
        ("phenylketonuria (PKU)", [("PKU", "phenylketonuria")]),
        ("alkaptonuria (aku)", [("aku", "alkaptonuria")]),
        ("glucose-6-phosphate dehydrogenase (G6PD)", [("G6PD", "glucose-6-phosphate dehydrogenase")]),
        ("spinocerebellar ataxia type 3 (SCA3)", [("SCA3", "spinocerebellar ataxia type 3")]),
        ("the ataxia-telangiectasia (A-T) gene", [("A-T", "ataxia-telangiectasia")]),
        ("cleft lip/palate (CL/P)", [("CL/P", "cleft lip/palate")]),
        ("α1-antitrypsin (AAT) deficiency", [("AAT", "α1-antitrypsin")]),
        ("alanine aminotransferase (ALT)", [("ALT", "alanine aminotransferase")]),
        # the first clause of the bracket counts
        ("Tay-Sachs disease (TSD; MIM 272800)", [("TSD", "Tay-Sachs disease")]),
        ('myasthenia gravis ["MG"]', [("MG", "myasthenia gravis")]),
        # as many words as explain letters, not the nearest
        ("attenuated adenomatous polyposis coli (AAPC)", [("AAPC", "attenuated adenomatous polyposis coli")]),
        ("with hereditary hemochromatosis (HH)", [("HH", "hereditary hemochromatosis")]),
        ("Assignment of the aspartylglucosaminidase gene (AGA)", [("AGA", "aspartylglucosaminidase")]),
        # a word that carries the name is not part of it
        ("the adenomatous polyposis coli gene (APC)", [("APC", "adenomatous polyposis coli")]),
        # plurals
        ("levodopa-induced dyskinesias (LIDs)", [("LIDs", "levodopa-induced dyskinesias")]),
        ("quantitative trait loci (QTLs)", [("QTLs", "quantitative trait loci")]),
        # nested
        ("attenuated (familial adenomatous polyposis (FAP))", [("FAP", "familial adenomatous polyposis")]),
        (
            "adrenoleukodystrophy (ALD) and adolescent cerebral ALD (AdolCALD)",
            [("ALD", "adrenoleukodystrophy"), ("AdolCALD", "adolescent cerebral ALD")],
        ),
        # a complete explanation beats another, wherever they stand
        (
            "adrenomyeloneuropathy (AMN). Others. Neuropathy (AMN)",
            [("AMN", "adrenomyeloneuropathy")],
        ),
        # a sentence is not left
        ("Prader-Willi was here. Syndrome (PWS)", []),
        # none of these are definitions
        ("patients (mice) were", []),
        ("severe forms (type II) were", []),
        ("analysis of serum chemistry (ALT)", []),
        ("AMN and its companion (AMN)", []),
        ("Duchenne or Becker muscular dystrophy (DMD)", []),
        ("before (T0) and after 30 minutes (T30)", []),
        ("(", []),
        ("()", []),
        ("( )", []),
        ("", []),
    ],
)
def test_examples(text: str, definitions: list[tuple[str, str]]) -> None:
    assert found(text) == definitions


def test_inverted_word_order_is_found_unless_told_otherwise() -> None:
    assert found("Myotonic dystrophy (DM) is") == [("DM", "Myotonic dystrophy")]
    assert found("Myotonic dystrophy (DM) is", inverted=False) == []
    assert found("diabetes mellitus (DM) and myotonic dystrophy") == [("DM", "diabetes mellitus")]


def test_offsets_are_code_points() -> None:
    text = "😀 Sjögren–Larsson syndrome (SLS)"
    assert find_definitions(text) == (
        Definition("SLS", "Sjögren–Larsson syndrome", short_start=28, short_end=31, long_start=2, long_end=26),
    )


def check(text: str) -> None:
    for one in find_definitions(text):
        assert text[one.short_start : one.short_end] == one.short
        assert text[one.long_start : one.long_end] == one.long
        assert one.short_end <= one.long_start or one.long_end <= one.short_start
        assert 2 <= len(one.short) <= 10 < len(one.long) + 10


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_text_full_of_brackets(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ["(" * 100_000, "(" + " " * 100_000 + ")", "(A" * 50_000, "aaaa (AAAA) " * 2_000])
def test_long_strange_texts_take_no_long_time(text: str) -> None:
    check(text)
