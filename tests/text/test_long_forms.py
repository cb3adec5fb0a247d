from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.abbreviations.long_forms import best_long_form
from nymlink.text.abbreviations.short_forms import letters_of

ALPHABET = "abAB αβ-1(),"


def long_form(short: str, candidate: str) -> str | None:
    long_form = best_long_form(letters_of(short), candidate)
    return None if long_form is None else candidate[long_form.start : long_form.end]


@pytest.mark.parametrize(
    ("short", "candidate", "long"),
    [
        ("MEF", "familial Mediterranean fever ", "Mediterranean fever"),
        ("VWS", "of van der Woude syndrome", "van der Woude syndrome"),
        ("GALT", "galactose-1-phosphate uridyltransferase", "galactose-1-phosphate uridyltransferase"),
        (
            "PDGFB",
            "platelet-derived growth factor (PDGF) B-chain",
            "platelet-derived growth factor (PDGF) B-chain",
        ),
        ("FRDA", "the Friedreich ataxia locus", "Friedreich ataxia"),
        ("PN", "postnatal days", None),
        ("IRE", "increased levels of duodenal DMT1", None),
        ("CM", "calcium ATPase", None),
        ("WT", "WT tumours", None),
        ("AB", "", None),
    ],
)
def test_best_long_form(short: str, candidate: str, long: str | None) -> None:
    assert long_form(short, candidate) == long


def test_letters_are_folded() -> None:
    assert letters_of("β-HCG") == "bhcg"
    assert long_form("β-GAL", "beta-galactosidase") == "beta-galactosidase"
    assert long_form("bGAL", "β-galactosidase") == "β-galactosidase"


def test_of_a_compound_the_long_form_is_whole_but_for_what_is_no_locant() -> None:
    assert long_form("AZT", "3'-azido-3'-deoxythymidine") == "3'-azido-3'-deoxythymidine"
    assert long_form("PCNA", "anti-proliferating cell nuclear antigen") == "proliferating cell nuclear antigen"


@given(st.text(ALPHABET, min_size=2, max_size=6).filter(letters_of), st.text(ALPHABET, max_size=60))
def test_a_long_form_holds_the_letters_in_order_from_its_first_on(short: str, candidate: str) -> None:
    long = long_form(short, candidate)
    if long is None:
        return
    assert candidate.rstrip(" ,;-").endswith(long)
    assert letters_of(short)[0] in letters_of(long)
    remaining = iter(letters_of(long))
    assert all(letter in remaining for letter in letters_of(short))
