"""Mentions in a language that neither names nor encoder know say so."""

from __future__ import annotations

import pytest

from nymlink.corpus.documents import Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


def linker(*languages: str) -> Linker:
    return Linker(Index.build(vocabulary(*languages), encoder=None))


def vocabulary(*languages: str) -> Vocabulary:
    builder = TableBuilder()
    builder.concept("D:1")
    names = {"en": "kinked brainstem", "de": "Wachstumsstörung", "und": "wachstum"}
    for language in languages:
        builder.name("D:1", names[language], lang=language, kind="exact")
    return Vocabulary.of((Source("small", "test"), builder.build()))


NOTE = "German, which neither the names nor the encoder know"


@pytest.mark.parametrize("mention", ["Minderwuchs", "Husten und Schnupfen mit Fieber"])
def test_a_foreign_language_is_named(mention: str) -> None:
    assert NOTE in linker("en").link(mention).notes
    assert NOTE in linker("en").link(mention, language="auto").notes


def test_a_stated_language_is_believed() -> None:
    assert NOTE in linker("en").link(Mention("Kinkerlitz", language="de")).notes
    assert (
        "German (de-AT), which neither the names nor the encoder know"
        in linker("en").link("Kinkerlitz", language="de-AT").notes
    )
    assert not linker("en").link(Mention("Minderwuchs", language="en")).notes
    assert not linker("en").link(Mention("Minderwuchs", language="EN")).notes
    assert not linker("de").link(Mention("Minderwuchs", language="ger")).notes


@pytest.mark.parametrize("mention", ["cardiac anomalies", "chloroquine", "kinked brainstem", "Kinked brainstems"])
def test_english_is_not_foreign(mention: str) -> None:
    assert not any("which neither" in note for note in linker("en").link(mention).notes)


@pytest.mark.parametrize("languages", [("en", "de"), ("de",), ("en", "und")])
def test_names_in_the_language_or_in_an_unknown_one_are_enough(languages: tuple[str, ...]) -> None:
    assert NOTE not in linker(*languages).link("Minderwuchs").notes


def test_an_index_that_searches_by_meaning_alone_tells_languages() -> None:
    index = Index.build(vocabulary("en"), sparse="none")
    links = Linker(index).link(["Minderwuchs", "brainstem with a kink"])
    assert [NOTE in link.notes for link in links] == [True, False]


def test_only_languages_that_are_searched_count() -> None:
    index = Index.build(vocabulary("en", "de"), languages=["en"], encoder=None)
    assert NOTE in Linker(index).link("Minderwuchs").notes


@pytest.mark.parametrize(("mention", "language"), [("きゅうせい", "Japanese"), ("간질", "Korean")])
def test_scripts_of_one_language_tell_it(mention: str, language: str) -> None:
    assert f"{language}, which neither the names nor the encoder know" in linker("en").link(mention).notes
