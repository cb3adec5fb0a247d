"""How names with the same letters are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.writing import ALIKE, normalise_signs, writing_likeness

# Each list from the most alike to the least.
ORDERS = [
    ("(-)-carvone", ["(-)-carvone", "(-)-Carvone", "(-)-CARVONE", "(+)-carvone"]),
    ("CD4-", ["CD4-", "cd4-", "CD4+"]),
    ("CD4+ T-cell", ["CD4+ T-cell", "CD4+ T cell", "CD4- T cell"]),
    ("3-hydroxyechinenone", ["3-Hydroxyechinenone", "3'-hydroxyechinenone"]),
    ("3′-hydroxyechinenone", ["3'-hydroxyechinenone", "3-hydroxyechinenone"]),
    ("Ca(2+)", ["Ca(2+)", "Ca2+", "Ca2"]),
    ("x²", ["x²", "x2"]),
    ("Cold", ["Cold", "cold", "COLD"]),
    ("IL-1", ["IL-1", "Il-1", "IL1"]),
    ("TNF-α", ["TNF-α", "TNF-alpha", "TNFalpha"]),
    ("β4Gal-T4", ["beta4Gal-T4", "beta4-GalT4", "beta4-GalT IV"]),
    ("", [""]),
]


@pytest.mark.parametrize(("text", "names"), ORDERS, ids=[text for text, _ in ORDERS])
def test_names_more_alike_have_a_higher_likeness(text: str, names: list[str]) -> None:
    found = [writing_likeness(text, name) for name in names]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_verbatim_is_1_and_typesetting_and_the_capital_of_a_sentence_count_for_little() -> None:
    assert writing_likeness("TNF-α", "TNF-α") == 1
    for text, name in [("Heart attack", "heart attack"), ("N–terminal", "N-terminal"), ("Crohn’s", "Crohn's")]:
        assert ALIKE < writing_likeness(text, name) < 1
    assert writing_likeness("damage", "DAMAGE") < ALIKE


@given(st.text(max_size=20), st.text(max_size=20))
def test_likeness_is_a_share_and_1_for_verbatim_names_alone(text: str, name: str) -> None:
    assert 0 < writing_likeness(text, name) <= 1
    assert (writing_likeness(text, name) == 1) == (text == name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(+)-carvone", "+ carvone"),
        ("(-)-carvone", "- carvone"),
        ("CD4-", "CD4 -"),
        ("CD4+ T-cell", "CD4 + T cell"),
        ("pyridoxamine(2+)", "pyridoxamine 2 +"),
        ("3',5'-cyclic AMP", "3 ' 5 ' cyclic AMP"),
        ("N,N'-dimethyl", "N N ' dimethyl"),
        ("3″-x", "3 ' ' x"),
        ("Crohn's disease", "Crohn s disease"),
        ("l'artère", "l artère"),
        ("O'nyong-nyong", "O nyong nyong"),
        ("non-small cell", "non small cell"),
        ("disease (disorder)", "disease disorder"),
        ("", ""),
    ],
)
def test_signs_become_words(text: str, expected: str) -> None:
    assert normalise_signs(text) == expected
