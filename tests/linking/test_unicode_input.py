"""Mentions of any script and in any form of Unicode are linked, and stay where they are in their texts."""

from __future__ import annotations

import unicodedata
import warnings
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from tests.index.small import vocabulary
from tests.linking.toy import ids

VOCABULARY = vocabulary(
    {
        "D:1": ["épilepsie", "Herzinfarkt"],
        "D:2": ["myocardial infarction", "MI", "احتشاء عضل القلب"],
        "D:3": ["fibrosis"],
        "D:4": ["インスリン抵抗性"],
        "D:5": ["β-thalassemia", "инсулинорезистентность"],
        "D:6": ["IgG 항체 결핍"],
    }
)


@cache
def built_linker() -> Linker:
    return Linker(Index.build(VOCABULARY, encoder=None))


@pytest.fixture(scope="module")
def dense() -> Linker:
    return Linker(Index.build(VOCABULARY))


@pytest.mark.parametrize(
    ("mention", "concept"),
    [
        (unicodedata.normalize("NFD", "Épilepsie"), "D:1"),
        ("ｍｙｏｃａｒｄｉａｌ　ｉｎｆａｒｃｔｉｏｎ", "D:2"),
        ("ﬁbrosis", "D:3"),
        ("ｲﾝｽﾘﾝ抵抗性", "D:4"),
        (unicodedata.normalize("NFD", "IgG 항체 결핍"), "D:6"),
        ("IgG 항체\u00a0결핍", "D:6"),
        ("β\u2011thalassemia", "D:5"),
        ("Herz\u00adinfarkt", "D:1"),
        ("Herz\u200binfarkt", "D:1"),
        ("\u2067احتشاء عضل القلب\u2069", "D:2"),
        ("\u200fاحتشاء عضل\u200e القلب", "D:2"),
        ("\u202bMI\u202c", "D:2"),
    ],
)
def test_a_name_in_another_form_of_unicode_is_that_name(mention: str, concept: str) -> None:
    link = built_linker().link(mention)
    assert (ids(link), link.candidates[0].score) == ([concept], 1.0)
    assert link.mention.text == mention


@pytest.mark.parametrize("text", ["Ein Herz\u200binfarkt.", "Ein \u202aHerz\u00adin\ufefffarkt\u202c, alt"])
def test_offsets_are_those_of_the_text_with_its_marks(text: str) -> None:
    start, end = 4, text.index("t", 14) + 1
    mentions = (Mention(text[start:end], start, end), Mention("Herzinfarkt", start, end))
    [links] = built_linker().link_documents([Document("1", text, mentions)])
    assert [(link.mention.start, link.mention.end, ids(link)) for link in links] == [(start, end, ["D:1"])] * 2
    assert links[0].mention.text == text[start:end]


@pytest.mark.parametrize(
    "mention",
    ["инсулин resistance", "インスリン resistance", "IgG 항체", "diаbetes", "α-Фетопротеин ↑", "癫痫 (Epilepsie)"],
)
def test_scripts_may_be_mixed(mention: str, dense: Linker) -> None:
    with warnings.catch_warnings(action="ignore"):
        assert dense.link(mention).mention.text == mention


@pytest.mark.parametrize("language", [None, "ru", "tr", "en"])
@pytest.mark.parametrize("mention", ["\ud800", "heart \udcff attack", "\udc80\udc81", "инсулин\udcff"])
def test_lone_surrogates_are_characters_like_others(mention: str, language: str | None, dense: Linker) -> None:
    with warnings.catch_warnings(action="ignore"):
        assert dense.link(mention, language=language).mention.text == mention


@pytest.mark.parametrize("mention", ["", " \t\n", "\u200b", "\u200e\u202b\u2069", "\u00ad", "\ufeff"])
def test_a_mention_of_which_nothing_is_left_has_no_candidates(mention: str, dense: Linker) -> None:
    link = dense.link(mention)
    assert (link.nil, link.candidates, link.mention.text) == (True, (), mention)


@given(
    st.text(st.sampled_from("aé אֱقع한글ァｱ漢ขँйё\u0301\u200b\u200f\u202e\ud800-®ı"), max_size=12),
    st.sampled_from([None, "und", "ru", "de", "ja", "en"]),
)
def test_any_text_is_linked_where_it_stands(text: str, language: str | None) -> None:
    document = Document("1", f"x {text} y", (Mention(text, 2, 2 + len(text), language=language),))
    [[link]] = built_linker().link_documents([document])
    assert (link.mention, link.document_id) == (document.mentions[0], "1")
