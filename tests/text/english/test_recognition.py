"""What is taken for English."""

from __future__ import annotations

import pytest

from nymlink.text.english.words import common_words, foreign_words, is_english, stop_words, without_accents
from nymlink.text.normalise import normalise


@pytest.mark.parametrize(
    "text",
    [
        "heart attack",
        # Misspelt, numerals, Greek letters: nothing says that it is not.
        "siezures",
        "type 2 diabetes mellitus",
        "β thalassemia",
        "46 xy",
        "",
        # Some words of other languages are in English names.
        "de novo mutation",
        "torsade de pointes syndrome",
        "long qt syndrome",
        "sjögren syndrome",
        "müllerian agenesis",
    ],
)
def test_english(text: str) -> None:
    assert is_english(normalise(text))


@pytest.mark.parametrize(
    "text",
    [
        "infarto de miocardio",
        "artritis",
        "Síndrome de Down",
        "insuffisance cardiaque congestive",
        "Hypertrophe Kardiomyopathie",
        "malattia polmonare cronica",
        # Words that English has, too.
        "dor no peito",
        "trombose no coração",
        "вирусный гепатит",
        "心筋梗塞",
        "νόσημα",
    ],
)
def test_other_languages(text: str) -> None:
    assert not is_english(normalise(text))


def test_accents_are_taken_off() -> None:
    assert without_accents("síndrome") == "sindrome"
    assert without_accents("plain") == "plain"


def test_foreign_words_are_no_function_words_and_have_no_accents() -> None:
    assert foreign_words().isdisjoint(stop_words())
    assert all(word.isascii() and word.isalpha() and word == normalise(word) for word in foreign_words())
    # A few words of both, for example "mano", are far commoner elsewhere.
    assert len(foreign_words() & common_words()) < len(common_words()) / 20
