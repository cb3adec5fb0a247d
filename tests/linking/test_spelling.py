"""Misspelt mentions: mended by a table, or guessed."""

from __future__ import annotations

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from tests.index.small import vocabulary
from tests.linking.toy import built_index, built_linker, ids


def test_a_misspelt_mention_is_mended() -> None:
    link = Linker(built_index(), spelling={"attakc": "attack"}).link("Heart attakc")
    assert (link.query, ids(link)[0]) == ("heart attack", "D:3")


def test_a_mention_that_is_a_name_stays() -> None:
    link = Linker(built_index(), spelling={"tumour": "tumor", "mi": "ovarian cancer"}).link(["liver tumour", "MI"])
    assert [one.query for one in link] == ["liver tumour", "mi"]


def test_a_prepared_mention_stays() -> None:
    linker = Linker(built_index(), spelling={"failure": "attack"})
    [link] = linker.link([Mention("heart failure", prepared=True)])
    assert link.query == "heart failure"


def test_the_parts_of_a_composite_are_mended() -> None:
    linker = Linker(built_index(), spelling={"cancre": "cancer"})
    [link] = linker.link([Mention("x", parts=("breast cancre", "ovarian cancer"))])
    assert link.query == "breast cancer | ovarian cancer"


@pytest.mark.parametrize(
    ("mention", "query"),
    [
        ("ovarain cancer", "ovarian cancer"),
        ("Ovarain cancers", "ovarian cancer"),
        ("Hirschpsrung disease of the rectum", "hirschsprung disease of the rectum"),
    ],
)
def test_a_word_that_is_known_nowhere_is_one_of_the_index(mention: str, query: str) -> None:
    assert built_linker().link(mention).query == query
    [link] = built_linker().link([Mention(mention.lower(), prepared=True)])
    assert link.query == query


@pytest.mark.parametrize(
    ("mention", "language", "query"),
    [
        ("anaemias", None, "anemia"),
        ("anaemias", "en-GB", "anemia"),
        ("anaemias", "fr", "anaemias"),
        ("ovarain cancer", "de", "ovarain cancer"),
        # French, by its words: "miocarde" may be right in its language, but only a slip away is a name.
        ("infarctus du miocarde aigu", None, "infarctus du miocarde aigu"),
        ("infarctus du miocarde", None, "infarctus du myocarde"),
        ("infarctus du miocarde", "en", "infarctus du myocarde"),
        ("болезнь anaemias", None, "болезнь anaemias"),
    ],
)
def test_the_rules_of_english_are_for_english(mention: str, language: str | None, query: str) -> None:
    index = Index.build(vocabulary({"D:1": ["anemia"], "D:2": ["ovarian cancer", "infarctus du myocarde"]}))
    assert Linker(index).link(mention, language=language).query == query
    assert Linker(index, language=language).link(mention).query == query


def test_a_spelling_table_of_ones_own_is_for_every_language() -> None:
    linker = Linker(built_index(), spelling={"tumeur": "tumor"}, language="fr")
    assert linker.link("liver tumeur").query == "liver tumor"


def test_only_codes_of_languages_are_taken() -> None:
    with pytest.raises(InputError, match="'English!' is no language code"):
        built_linker().link("anemia", language="English!")


@pytest.mark.parametrize(
    "mention",
    [
        # Common in English; another at the end alone; too short; in capitals; not all letters.
        "conjugation detect",
        "myotonis",
        "livre cancer",
        "TUMUOR",
        "ovar1ian",
    ],
)
def test_what_may_be_another_word_stays(mention: str) -> None:
    assert built_linker().link(mention).query == mention.lower()


def test_known_words_are_known_in_another_number() -> None:
    linker = Linker(
        Index.build(vocabulary({"D:1": ["infections", "convulsants"], "D:2": ["convulsion"]}), encoder=None)
    )
    assert [link.query for link in linker.link(["injections", "convulsions", "infectoins"])] == [
        "injections",
        "convulsion",
        "infections",
    ]


def test_nothing_is_guessed_where_none_is_asked_for() -> None:
    [guessed, plain, mended] = (
        Linker(built_index(), spelling=table, guesses=guesses).link("ovarain cancer")
        for table, guesses in (({}, True), ({}, False), ({"ovarain": "ovarian"}, False))
    )
    assert (guessed.query, guessed.guessed) == ("ovarian cancer", True)
    assert (plain.query, plain.guessed) == ("ovarain cancer", False)
    assert (mended.query, mended.guessed) == ("ovarian cancer", False)
    # A long text has words enough that are right.
    text = " ".join(["ovarain", *["cancer"] * 16])
    assert built_linker().link(text).query == text


def test_the_built_in_table_is_used() -> None:
    assert built_linker().link("liver tumor").best == built_linker().link("liver tumor").candidates[0]
    assert ids(built_linker().link("liver tumor"))[0] == "D:7"
