"""Lemmas of the words of inflected languages."""

from __future__ import annotations

import sys
import warnings
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.small import vocabulary

from nymlink.core.language_codes import normalise_language
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.inflection import InflectedRules, _lemmatiser
from nymlink.text.languages import LANGUAGES, rules_for
from nymlink.text.normalise import normalise

VOCABULARY = vocabulary(
    {
        "D:1": ["воспаление лёгких"],
        "D:2": ["гипертензия"],
        "D:3": ["syöpä"],
        "D:4": ["Krampfanfall"],
        "D:6": ["hemoglobin"],
        "D:7": ["hastalık"],
        "D:8": ["boli"],
        "D:9": ["Fuß"],
        "D:10": ["Malformation"],
        "D:11": ["αλλεργία"],
    }
)


@cache
def built_linker() -> Linker:
    return Linker(Index.build(VOCABULARY, encoder=None))


@pytest.mark.parametrize(
    ("language", "mention", "name"),
    [
        ("ru", "гипертензией", "гипертензия"),
        ("ru", "Воспалений лёгких", "воспаление лёгких"),
        ("de", "Krampfanfälle", "krampfanfall"),
        ("de-AT", "Krampfanfälle", "krampfanfall"),
        ("tr", "hastalığına", "hastalık"),
        ("de", "Füsse", "fuss"),
        ("de", "malformationen", "malformation"),
        ("el", "αλλεργίες", "αλλεργία"),
    ],
)
def test_an_inflected_mention_is_the_name_of_its_lemmas(language: str, mention: str, name: str) -> None:
    link = built_linker().link(mention, language=language)
    assert link.query == name
    assert link.candidates[0].score == 1.0


@pytest.mark.parametrize(
    ("language", "mention"),
    # What is no name is left as it is; so is what only begins like one, and another language.
    [("ru", "опухолей"), ("tr", "hemoglobinopati"), ("ja", "Krampfanfälle"), ("en", "Krampfanfälle")],
)
def test_other_mentions_stay(language: str, mention: str) -> None:
    assert built_linker().link(mention, language=language).query == normalise(mention)


def test_a_text_of_unknown_language_is_not_lemmatised() -> None:
    assert built_linker().link("syövän").query == "syövän"


def test_languages_with_rules_say_their_codes() -> None:
    inflected = {code: rules for code, rules in LANGUAGES if isinstance(rules, InflectedRules)}
    assert len(inflected) == 25
    assert all(rules.code == code == normalise_language(code) for code, rules in inflected.items())


@given(st.text(max_size=30).map(normalise), st.sampled_from(["ru", "de", "tr"]))
def test_any_text_has_few_other_forms(text: str, language: str) -> None:
    forms = list(rules_for(text, language).forms(text))
    assert len(forms) < 16
    assert text not in forms
    assert all(len(form.split()) >= 1 for form in forms)


def test_without_simplemma_it_is_said_once_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplemma.strategies", None)
    _lemmatiser.cache_clear()
    try:
        with pytest.warns(UserWarning, match=r"in the language ru are not lemmatised: pip install 'nymlink\[lang"):
            assert built_linker().link("гипертензией", language="ru").query == "гипертензией"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            built_linker().link(["гипертензией", "опухолей"], language="ru")
    finally:
        _lemmatiser.cache_clear()
