"""Which rules a text gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.english.rules import RULES
from nymlink.text.languages import LANGUAGES, NEUTRAL, rules_for
from nymlink.text.normalise import normalise


@pytest.mark.parametrize("language", ["en", "EN", "en-GB", "en_US"])
def test_english_has_its_rules_whatever_its_words(language: str) -> None:
    assert rules_for("infarto de miocardio", language) is RULES


@pytest.mark.parametrize("language", ["ja", "zh-Hant", "enm"])
def test_a_language_without_rules_has_neutral_ones(language: str) -> None:
    assert rules_for("heart attack", language) is NEUTRAL


def test_a_text_of_unknown_language_is_recognised() -> None:
    assert rules_for("heart attack") is RULES
    assert rules_for("infarto de miocardio") is NEUTRAL


def test_the_languages_are_a_registry() -> None:
    assert LANGUAGES.get("en") is RULES


@given(st.text(max_size=40))
def test_neutral_rules_change_nothing(text: str) -> None:
    assert not [*NEUTRAL.forms(text), *NEUTRAL.paraphrases(text), *NEUTRAL.spelling()]
    assert NEUTRAL.split_composite(text) == (text,)
    assert NEUTRAL.is_known(text)


@given(st.text(max_size=40).map(normalise))
def test_any_text_has_rules(text: str) -> None:
    assert rules_for(text) in (RULES, NEUTRAL)
