"""What is no list of mentions is never linked line by line, but named with what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus import read_corpus
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.tables.foreign_formats import describe_format

BIOC_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>PubTator</source><date/><key/>
  <document>
    <id>1</id>
    <passage><offset>0</offset><text>Heart attack.</text>
      <annotation id="1"><location offset="0" length="12"/><text>Heart attack</text></annotation>
    </passage>
  </document>
</collection>
"""
BIOC_JSON = """{
 "source": "PubTator", "date": "", "key": "", "infons": {},
 "documents": [
  {"id": "1", "infons": {}, "passages": [{"offset": 0, "infons": {}, "text": "Heart attack.", "annotations": []}]}
 ]
}
"""
STANDOFF = """T1\tDisease 0 12\tHeart attack
T2\tDrug 20 27;30 35\tAspirin tablet
R1\tTreats Arg1:T2 Arg2:T1
A1\tNegated T1
N1\tReference T1 MESH:D009203\tMyocardial Infarction
#1\tAnnotatorNotes T1\tsure
"""
READ = {
    "bioc-xml": [BIOC_XML, BIOC_XML.replace("\n", ""), BIOC_XML.partition("\n")[2]],
    "bioc-json": [BIOC_JSON, BIOC_JSON.replace("\n", "")],
    "brat": [STANDOFF, STANDOFF.partition("R1")[0], STANDOFF.partition("\n")[0]],
}
"""Formats with a reader, by its name."""
FOREIGN = {
    "XML": ["<articles>\n<article id='1'>Heart attack</article>\n</articles>\n", "<!DOCTYPE article><article>x"],
    "JSON": ['{\n "a": 1\n}\n', '[\n "heart attack"\n]\n', '["heart attack", "MI"]\n'],
    "PubAnnotation JSON": ['{"text": "Heart attack.", "denotations": [{"id": "T1"}]}\n'],
    "tokens with tags": ["Heart\tB-Disease\nattack\tI-Disease\n.\tO\n\n", "Heart NN B-Dis\nis VB O\n"],
    "an ontology in OBO": ["format-version: 1.2\n\n[Term]\nid: X:1\nname: heart attack\n"],
    "an ontology in RDF/XML": ['<?xml version="1.0"?>\n<rdf:RDF xmlns="http://x.org/">\n</rdf:RDF>\n'],
    "an ontology in Turtle": ["@prefix owl: <http://www.w3.org/2002/07/owl#> .\n<http://x.org/1> a owl:Class .\n"],
    "MRCONSO of the UMLS": ["C0027051|ENG|P|L1|PF|S1|Y|A1||M1|D1|MSH|MH|D009203|Infarction|0|N|256|\n"],
    "a binary file": ["\x00\x01\x02\x03PNG", "\x01\x02\x7f\x05" * 50],
    "a PDF": ["%PDF-1.7\n1 0 obj\n"],
    "an RTF document": ["{\\rtf1\\ansi heart attack}\n"],
}
MENTIONS = [
    "heart attack\nMI\n",
    "<i>E. coli</i> infection\n<i>S. aureus</i> sepsis\n",
    "<5 years old\n<unknown>\n",
    "[18F]FDG\n[3H]thymidine\n",
    "{see text}\n(heart attack)\n",
    "vitamin B-12\nvitamin B-6\nvitamin K\n",
    "blood group O\nblood group A\n",
    "T1 tumour\nT2 diabetes\nA1 chimaerin\n",
    "# a comment\nheart attack\n",
    "C0027051\nC0027052\n",
    "инфаркт\nинсульт\n",
]


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FOREIGN.items() for text in texts])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_another_format_is_named_and_refused(tmp_path: Path, name: str, text: str, *, packed: bool) -> None:
    path = tmp_path / "mentions.txt"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(InputError, match=rf"this looks like {name}.*not like a list of mentions: \w+"):
        read_corpus(path)


@pytest.mark.parametrize(
    "content",
    [
        BIOC_XML[: len(BIOC_XML) // 2].encode(),
        BIOC_XML.replace("Heart", "Herz ö").encode("cp1252"),
        BIOC_XML.replace("Heart", "H" + "e" * (5 << 20)).replace("\n", "").encode(),
        b"\n" * 10_000 + BIOC_XML.encode(),
        BIOC_XML.encode("utf-16"),
        BIOC_XML.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + BIOC_JSON.replace("\n", "\r\n").encode(),
        BIOC_JSON[: len(BIOC_JSON) // 2].encode(),
        STANDOFF.replace("Heart", "Herz ö").encode("cp1252"),
        (STANDOFF + "broken\n\nT3\tDisease\n").encode(),
    ],
)
def test_another_format_is_never_read_line_by_line_however_damaged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mentions.txt"
    path.write_bytes(content)
    try:
        corpus = read_corpus(path, problems=Problems())
    except InputError:
        return
    # Its own reader has read what is whole.
    assert find_format(CORPUS_FORMATS, path).name in READ
    texts = {mention.text for _, mention in corpus.mentions()} - {"Aspirin tablet"}
    assert all(text.startswith("H") and text.endswith("attack") for text in texts)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in READ.items() for text in texts])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_format_with_a_reader_is_given_to_it(tmp_path: Path, name: str, text: str, *, packed: bool) -> None:
    path = tmp_path / "mentions.txt"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert find_format(CORPUS_FORMATS, path).name == name


def test_a_caller_who_knows_better_gets_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "mentions.txt"
    path.write_text(STANDOFF, encoding="utf-8")
    assert len(read_corpus(path, format="lines")) == 6


@pytest.mark.parametrize("text", MENTIONS)
def test_a_list_of_mentions_is_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mentions.txt"
    path.write_text(text, encoding="utf-8")
    assert find_format(CORPUS_FORMATS, path).name == "lines"
    assert len(read_corpus(path)) == text.count("\n")


def test_bytes_of_another_encoding_are_not_taken_for_binary(tmp_path: Path) -> None:
    path = tmp_path / "mentions.txt"
    path.write_bytes("инфаркт\nинсульт\n".encode("cp1251"))
    assert find_format(CORPUS_FORMATS, path).name == "lines"


@given(st.text())
def test_any_text_is_described_or_not(text: str) -> None:
    assert describe_format(text) is None or "this looks like" in str(describe_format(text))


@pytest.mark.parametrize(
    "text", ["<a " * 50_000, "{" * 100_000, '{"' + "\\" * 100_000, "T1\tA 1 1" + ";1 1" * 30_000]
)
def test_long_lines_take_time_in_proportion(text: str) -> None:
    describe_format(text)
