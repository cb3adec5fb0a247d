"""Symbols of chemicals: elements, ions, formulae, codes and abbreviations."""

from __future__ import annotations

import pytest

from nymlink.text.chemical_symbols import names_of_symbol, symbol_key


@pytest.mark.parametrize(
    ("texts", "key"),
    [
        (["Ca2+", "Ca(2+)", "Ca²⁺", "Ca++", "Ca^2+"], "Ca2+"),
        (["CaCl2", "CaCl(2)", "CaCl₂"], "CaCl2"),
        (["HOE 140", "Hoe-140", "hoe140"], "HOE140"),
        (["Cl-", "Cl−", "Cl⁻", "Cl(-)"], "Cl-"),
        (["Na"], "Na"),
        (["cAMP"], "cAMP"),
        (["(NH4)2SO4"], "(NH4)2SO4"),
    ],
)
def test_ways_of_writing_a_symbol_have_one_key(texts: list[str], key: str) -> None:
    assert [symbol_key(text) for text in texts] == [key] * len(texts)


@pytest.mark.parametrize("text", ["", "lead", "Aspirin", "two words", "123", "+", "ACETYLCHOLINE", "a" * 99])
def test_words_numbers_and_signs_are_no_symbols(text: str) -> None:
    assert symbol_key(text) is None
    assert names_of_symbol(text) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Na", "sodium"),
        ("K", "potassium"),
        ("Ca(2+)", "calcium"),
        ("H2O", "water"),
        ("NO", "nitric oxide"),
        ("CO2", "carbon dioxide"),
        ("MgCl(2)", "magnesium chloride"),
        ("FeCl3", "ferric chloride"),
        ("AZT", "zidovudine"),
        ("Hoe-140", "icatibant"),
        ("cAMP", "cyclic amp"),
    ],
)
def test_a_symbol_has_the_names_of_its_substance(text: str, name: str) -> None:
    assert name in names_of_symbol(text)


def test_capitals_and_signs_distinguish_symbols() -> None:
    assert "cobalt" in names_of_symbol("Co")
    assert "cobalt" not in names_of_symbol("CO")
    assert "calcium" not in names_of_symbol("CA2")
    assert names_of_symbol("T") == ()
