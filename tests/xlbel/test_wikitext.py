from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.xlbel.dump import Site, normalise_title
from nymlink.xlbel.wikitext import LONGEST, Sentences, link_targets, parse_lines

SITE = Site("de", frozenset({"datei", "kategorie", "benutzer"}))


def linked(wikitext: str, *, site: Site = SITE) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each line, with (text, target) of its links."""
    lines = list(parse_lines(wikitext, site, link_targets(wikitext)))
    return [
        (line.text, [(line.text[link.start : link.end], link.target) for link in line.links]) for line in lines
    ]


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("heart_attack", "Heart attack"),
        ("Heart attack#Signs and symptoms", "Heart attack"),
        ("#Signs", ""),
        ("  heart   attack ", "Heart attack"),
        (":heart attack", "Heart attack"),
        ("Caf%C3%A9_au_lait", "Café au lait"),
        ("Sj&ouml;gren", "Sjögren"),
        ("AT&amp;T", "AT&T"),
        ("ärzte", "Ärzte"),
        ("ßa", "ßa"),
        ("e\u0301tude\u200e", "Étude"),
        ("癌", "癌"),
        ("มะเร็ง", "มะเร็ง"),
    ],
)
def test_titles_are_those_of_mediawiki(target: str, title: str) -> None:
    assert normalise_title(target, "de") == title
    assert normalise_title(title, "de") == title


def test_the_capital_of_i_is_that_of_the_language() -> None:
    assert normalise_title("ishal", "tr") == "İshal"
    assert normalise_title("ishal", "de") == "Ishal"


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("A [[tumour]].", "A tumour.", [("tumour", "tumour")]),
        ("A [[Neoplasm|tumour]].", "A tumour.", [("tumour", "Neoplasm")]),
        ("Two [[tumour]]s grew.", "Two tumours grew.", [("tumours", "tumour")]),
        ("癌は[[腫瘍]]である。", "癌は腫瘍である。", [("腫瘍", "腫瘍")]),
        ("เป็น[[มะเร็ง]]ชนิดหนึ่ง", "เป็นมะเร็งชนิดหนึ่ง", [("มะเร็ง", "มะเร็ง")]),
        (
            "A [[Neoplasm#Types|''benign'' '''tumour''']] grew.",
            "A benign tumour grew.",
            [("benign tumour", "Neoplasm#Types")],
        ),
        ("* '''[[Gout]]''': [[Pain|&nbsp;pain ]]and", "Gout: pain and", [("Gout", "Gout"), ("pain", "Pain")]),
        ("[[File:a.jpg|thumb|A [[tumour]]]] [[Gout]] hurts", "Gout hurts", [("Gout", "Gout")]),
        ("[[Datei:a.jpg|100px]] [[Gout]][[Kategorie:Gout]]", "Gout", [("Gout", "Gout")]),
        ("[[Bild:a.jpg|thumb|left|caption]] [[Gout]]", "Gout", [("Gout", "Gout")]),
        (
            "[[fr:Goutte]] [[:Kategorie:Gout|all]] [[Gout]]",
            "all Gout",
            [("all", ":Kategorie:Gout"), ("Gout", "Gout")],
        ),
        ("[[Gout]]<ref>see [[Pain]]</ref> hurts<ref name=a /> <br/>much.", "Gout hurts much.", [("Gout", "Gout")]),
        ("[[Gout]] ({{lang|la|x [[Pain]]}}) hurts", "Gout hurts", [("Gout", "Gout")]),
        ("[[Gout]] <!-- not [[Pain]] --> hurts", "Gout hurts", [("Gout", "Gout")]),
        ("[[Gout]] <nowiki>[[Pain]]</nowiki> hurts", "Gout hurts", [("Gout", "Gout")]),
        ("[[Gout]] at <math>x_{{a}</math> 3 &lt; 4", "Gout at 3 < 4", [("Gout", "Gout")]),
        ("[[Gout]] ([https://example.org/a the site]) hurts", "Gout (the site) hurts", [("Gout", "Gout")]),
        ("[[Gout]] is [[not closed", "Gout is not closed", [("Gout", "Gout")]),
        ("is [[not closed and [[Gout]]", "is not closed and Gout", [("Gout", "Gout")]),
        ("這是-{zh-hans:肿瘤;zh-hant:腫瘤}-[[癌]]", "這是肿瘤癌", [("癌", "癌")]),
        ("[[癌症|-{zh-hans:癌;zh-hant:癌症}-]]。", "癌。", [("癌", "癌症")]),
    ],
)
def test_awkward_lines(wikitext: str, text: str, links: list[tuple[str, str]]) -> None:
    assert linked(wikitext) == [(text, links)]


@pytest.mark.parametrize(
    "block",
    [
        "{{Infobox disease\n| name = [[Pain]]\n| field = {{plainlist|\n* [[Pain]]\n}}\n}}",
        "{| class=wikitable\n! a\n|-\n| [[Pain]]\n|}",
        "{| \n| {{cell|\n|}}\n| [[Pain]]\n|}",
        "<gallery>\nFile:a.jpg|[[Pain]]\n</gallery>",
        "<!--\n== [[Pain]] ==\n[[Pain]]\n-->",
        "<ref>\n[[Pain]]\n\n{{cite}}</ref>",
        "== [[Pain]] ==",
        "{{unclosed\n[[Pain]]\n== Heading ==",
        "<ref>unclosed [[Pain]]\n== Heading ==",
        "#REDIRECT",
        "|}}\n}}\n</ref>",
    ],
)
def test_what_is_not_running_text_is_left_out(block: str) -> None:
    assert linked(f"Before [[Gout]].\n{block}\nAfter [[Gout]].") == [
        ("Before Gout.", [("Gout", "Gout")]),
        ("After Gout.", [("Gout", "Gout")]),
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "[http://",
        "{{",
        "}}",
        "[[",
        "]]",
        "<ref>",
        "</ref>",
        "-{",
        "<!--",
        "{|\n",
        "(",
        "''",
        "[[a|",
        "&lt;",
        "== ",
    ],
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    def seconds(number: int) -> float:
        wikitext = f"[[Gout]] {unit * number} [[Gout]]"
        start = time.process_time()
        list(parse_lines(wikitext, SITE, {"Gout"}))
        return time.process_time() - start

    # Time quadratic in the text would be a hundred times as long.
    assert min(seconds(20_000) for _ in range(2)) < 40 * min(seconds(2_000) for _ in range(3)) + 0.2


def test_links_are_those_of_a_full_parser() -> None:
    mwparserfromhell = pytest.importorskip("mwparserfromhell")
    wikitext = (
        "'''Gout''' ({{IPA|x}}) is [[inflammatory arthritis]]<ref>{{cite|a=[[b]]}}</ref> with ''[[pain]]''.\n"
        "{{Infobox\n| a = [[c]]\n}}\nIt is due to [[uric acid|urate]] <small>in [[blood#plasma|blood]]</small>.\n"
    )
    parsed = mwparserfromhell.parse(wikitext)
    expected = [
        (str(link.text or link.title), str(link.title)) for link in parsed.filter_wikilinks(recursive=False)
    ]
    tagged = [
        (str(link.text or link.title), str(link.title))
        for tag in parsed.filter_tags(recursive=False)
        if tag.tag != "ref" and tag.contents
        for link in tag.contents.filter_wikilinks()
    ]
    found = [link for _, links in linked(wikitext) for link in links]
    assert sorted(found) == sorted(expected + tagged)


WORDS = st.text(alphabet="abcé .!?。、 ก癌あ'\u00a0\u200b", max_size=12)
MARKUP = st.sampled_from(
    ["{{a|[[x]]}}", "<ref>[[x]]</ref>", "''", "[[", "]]", "<br>", "&nbsp;", "[[File:x|y|[[z]]]]", "\n"]
)
ANCHORS = st.text(alphabet="abcé ก癌あ-", min_size=1, max_size=8).filter(str.strip)


@given(st.lists(st.one_of(WORDS, MARKUP, ANCHORS.map(lambda anchor: f"[[Target|{anchor}]]")), max_size=12))
def test_links_stand_where_they_are_said_to(parts: list[str]) -> None:
    wikitext = "".join(parts)
    for line in parse_lines(wikitext, SITE, {"Target"}):
        assert not re.search(r"\s\s", line.text)
        end = 0
        for link in line.links:
            assert end <= link.start < link.end <= len(line.text)
            end = link.end
            mention = line.text[link.start : link.end]
            assert mention == mention.strip()
            if link.target == "Target":
                assert any(mention.startswith(" ".join(part[9:-2].split())) for part in parts if "Target|" in part)
            left, right = Sentences(line.text).around(link.start, link.end)
            assert 0 <= left <= link.start < link.end <= right <= len(line.text)
            assert right - left <= max(LONGEST, link.end - link.start)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("It hurts. Gout is *bad*. Rest helps.", "Gout is bad."),
        ("Dr. J. Doe had *gout*. He died.", "Dr. J. Doe had gout."),
        ("Am 3. Mai, d. h. gestern, kam *Gicht* vor. Nun nicht.", "Am 3. Mai, d. h. gestern, kam Gicht vor."),
        ("痛みがある。*痛風*は病気である。治る。", "痛風は病気である。"),
        ("「痛い。」*痛風*だ！治る。", "痛風だ！"),
        ("Is it *gout*? Yes.", "Is it gout?"),
        ("He joined *Yahoo! Health* then. It closed.", "He joined Yahoo! Health then."),
        ("โรค *เกาต์* เป็นโรคข้อ", "โรค เกาต์ เป็นโรคข้อ"),
    ],
)
def test_sentences(text: str, sentence: str) -> None:
    start = text.index("*")
    plain = text.replace("*", "")
    left, right = Sentences(plain).around(start, text.rindex("*") - 1)
    assert plain[left:right] == sentence


def test_of_text_without_ends_of_sentences_the_words_around_are_taken() -> None:
    words = "โรคเกาต์ " * 200
    start = words.index("โรค", 900)
    left, right = Sentences(words).around(start, start + 8)
    assert right - left <= LONGEST
    assert words[left:right].startswith("โรคเกาต์ ")
    assert words[left:right].endswith(" โรคเกาต์")
