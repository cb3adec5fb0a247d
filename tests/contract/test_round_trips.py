"""What is written in a format comes back: by our reader, and by readers and schemas that are not ours."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import bioc
import bioc.biocjson
import bioc.biocxml
import bioc.brat
import bioc.pubtator
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from tests.contract import gold_links

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import Document, Mention, read_corpus
from nymlink.linking.writers import LINK_FORMATS

DOCUMENTS = [
    Document(
        "10/a b",
        "Breast and ovarian cancer ↯ 𝔘 <x>.\nA second line & more, of MI.",
        (
            Mention("Breast and ovarian cancer", 0, 25, "Disease", ("MESH:D1", "D2")),
            Mention("Breast cancer", 0, 25, "Disease", ("MESH:D1",), spans=((0, 6), (19, 25))),
            Mention("MI", 60, 62, "", ("MESH:D3",)),
            Mention("A", 35, 36, "Letter"),
        ),
    ),
    Document("empty", "No mention."),
]
DOCUMENT_FORMATS = [name for name, format in LINK_FORMATS if "documents" in format.needs]

BIOC_DTD = etree.DTD(
    io.StringIO("""
<!ELEMENT collection (source, date, key, infon*, document+)>
<!ELEMENT source (#PCDATA)> <!ELEMENT date (#PCDATA)> <!ELEMENT key (#PCDATA)>
<!ELEMENT infon (#PCDATA)> <!ATTLIST infon key CDATA #REQUIRED>
<!ELEMENT document (id, infon*, passage+, relation*)> <!ELEMENT id (#PCDATA)>
<!ELEMENT passage (infon*, offset, ((text?, annotation*) | sentence*), relation*)>
<!ELEMENT offset (#PCDATA)> <!ELEMENT text (#PCDATA)>
<!ELEMENT sentence (infon*, offset, text?, annotation*, relation*)>
<!ELEMENT annotation (infon*, location*, text)> <!ATTLIST annotation id CDATA #IMPLIED>
<!ELEMENT location EMPTY> <!ATTLIST location offset CDATA #REQUIRED length CDATA #REQUIRED>
<!ELEMENT relation (infon*, node*)> <!ATTLIST relation id CDATA #IMPLIED>
<!ELEMENT node EMPTY> <!ATTLIST node refid CDATA #REQUIRED role CDATA "">
""")
)
"""The element declarations of BioC.dtd."""


def write(folder: Path, name: str, documents: list[Document]) -> Path:
    path = folder / "links"
    with warnings.catch_warnings(action="ignore"):
        gold_links.links(documents).write(path, format=name, documents=documents)
    return path


def what(documents: list[Document]) -> list[tuple[object, ...]]:
    """What every format keeps of documents: ids, and the places, types and concepts of mentions."""
    return [
        (document.id, mention.pieces, mention.type, mention.concept_ids)
        for document in documents
        for mention in sorted(document.mentions, key=lambda each: (each.start or 0, each.pieces, each.type))
    ]


def kept(name: str, document: Document) -> Document:
    """What a format can keep of a document."""
    ids = {"brat": re.sub(r"[^\w.-]", "_", document.id)} | dict.fromkeys(("bioc-xml", "bioc-json"), document.id)
    mentions = []
    for each in document.mentions:
        # PubTator knows no pieces, and tags have no room for what overlaps.
        if each.spans and name == "conll":
            continue
        spans = () if name == "pubtator" else each.spans
        mentions.append(
            Mention(each.text, each.start, each.end, each.type or "Concept", each.concept_ids, spans=spans)
        )
    return Document(ids.get(name, "_".join(document.id.split())), document.text, tuple(mentions))


@pytest.mark.parametrize("name", DOCUMENT_FORMATS)
def test_documents_come_back(name: str, tmp_path: Path) -> None:
    problems = Problems()
    path = write(tmp_path, name, DOCUMENTS)
    found = read_corpus(path, problems=problems).documents
    assert what(list(found)) == what([kept(name, document) for document in DOCUMENTS])
    assert [document.text.rstrip("\n") for document in found] == [document.text for document in DOCUMENTS]
    assert problems.count == 0


def test_bioc_xml_is_valid_and_read_by_bioc(tmp_path: Path) -> None:
    path = write(tmp_path, "bioc-xml", DOCUMENTS)
    assert BIOC_DTD.validate(etree.parse(path)), BIOC_DTD.error_log
    with open(path, encoding="utf-8") as file:
        check_bioc(bioc.biocxml.load(file))


def test_bioc_json_is_read_by_bioc(tmp_path: Path) -> None:
    with open(write(tmp_path, "bioc-json", DOCUMENTS), encoding="utf-8") as file:
        check_bioc(bioc.biocjson.load(file))


def check_bioc(collection: bioc.BioCCollection) -> None:
    """The validator of `bioc` compares each annotation with the text at its place."""
    bioc.validate(collection)
    first, second = collection.documents
    found = []
    for each in (annotation for passage in first.passages for annotation in passage.annotations):
        places = [(at.offset, at.length) for at in each.locations]
        found.append((each.text, each.infons["type"], each.infons.get("identifier"), places))
    assert found == (
        [
            ("Breast and ovarian cancer", "Disease", "MESH:D1|D2", [(0, 25)]),
            ("Breast and ovarian cancer", "Disease", "MESH:D1", [(0, 6), (19, 6)]),
            ("A", "Letter", None, [(35, 1)]),
            ("MI", "Concept", "MESH:D3", [(60, 2)]),
        ]
    )
    assert (first.id, second.id, len(second.passages)) == ("10/a b", "empty", 1)


def test_pubtator_is_read_by_bioc(tmp_path: Path) -> None:
    with open(write(tmp_path, "pubtator", DOCUMENTS), encoding="utf-8") as file:
        first, second = bioc.pubtator.load(file)
    assert (first.pmid, second.pmid, second.text.strip()) == ("10/a_b", "empty", "No mention.")
    ids = ["MESH:D1|D2", "MESH:D1", "MESH:D3", "-1"]
    assert [each.id for each in first.annotations] == ids
    assert all(first.text[each.start : each.end] == each.text for each in first.annotations)


def test_brat_is_read_by_bioc_and_has_lines_of_concepts(tmp_path: Path) -> None:
    folder = write(tmp_path, "brat", DOCUMENTS)
    assert sorted(path.name for path in folder.iterdir()) == ["10_a_b.ann", "10_a_b.txt", "empty.ann", "empty.txt"]
    with (
        open(folder / "10_a_b.txt", encoding="utf-8") as text,
        open(folder / "10_a_b.ann", encoding="utf-8") as ann,
    ):
        document = bioc.brat.load(text, ann)
    found = [
        (each.id, each.text, sorted((at.begin, at.end) for at in each.locations)) for each in document.entities
    ]
    assert found[1] == ("T2", "Breast cancer", [(0, 6), (19, 25)])
    assert len(found) == 4
    lines = (folder / "10_a_b.ann").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[1] for line in lines if line.startswith("N")] == [
        "Reference T1 MESH:D1",
        "Reference T1 id:D2",
        "Reference T2 MESH:D1",
        "Reference T3 MESH:D3",
    ]


def test_conll_tags_are_those_of_bio(tmp_path: Path) -> None:
    lines = write(tmp_path, "conll", DOCUMENTS).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if "\t" in line]
    text = DOCUMENTS[0].text
    of_first = rows[: rows.index(["No", "0", "2", "O", "_"])]
    assert all(text[int(row[1]) : int(row[2])] == row[0] for row in of_first)
    tagged = [(row[0], row[3], row[4]) for row in rows if row[3] != "O"]
    assert tagged == [
        ("Breast", "B-Disease", "MESH:D1|D2"),
        ("and", "I-Disease", "_"),
        ("ovarian", "I-Disease", "_"),
        ("cancer", "I-Disease", "_"),
        ("A", "B-Letter", "_"),
        ("MI", "B-Concept", "MESH:D3"),
    ]


TEXTS = st.text(st.sampled_from("ab ä𝔘\n\t<&'\"|;\r\x0b\u2028\0e"), min_size=1, max_size=30).filter(str.strip)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 29), st.integers(1, 8)), max_size=4), st.data())
def test_offsets_hold_whatever_the_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, places: list[tuple[int, int]], data: st.DataObject
) -> None:
    mentions = tuple(
        Mention(text[start : start + length], start, min(start + length, len(text)), "T", (f"X:{place}",))
        for place, (start, length) in enumerate(places)
        if text[start : start + length].strip()
    )
    document = Document("7", text, mentions)
    name = data.draw(st.sampled_from([name for name in DOCUMENT_FORMATS if name != "conll"]))
    path = write(tmp_path_factory.mktemp("any"), name, [document])
    if name == "brat" and not mentions:
        return
    (found,) = read_corpus(path, format=name).documents
    assert len(found.text.rstrip("\n")) in (len(text), len(text.rstrip("\n")))
    assert sorted(each.concept_ids for each in found.mentions) == sorted(each.concept_ids for each in mentions)
    by_id = {each.concept_ids: each for each in mentions}
    for each in found.mentions:
        wanted = by_id[each.concept_ids]
        # BRAT has no white space at the ends of the lines of a mention.
        assert each.start is not None
        assert wanted.start <= each.start <= each.end <= wanted.end
        assert not text[wanted.start : each.start].strip()
        assert not text[each.end : wanted.end].strip()


@pytest.mark.parametrize("name", DOCUMENT_FORMATS)
def test_real_documents_come_back(name: str, data: Path, tmp_path: Path) -> None:
    source = data / "corpora" / "ncbi_disease" / "original-data" / "NCBIdevelopset_corpus.txt.gz"
    documents = list(read_corpus(source).documents)
    found = list(read_corpus(write(tmp_path, name, documents)).documents)
    # Mentions within others have no room in tags.
    missing = len(what(documents)) - len(what(found))
    assert missing == 0 or name == "conll"
    assert set(what(found)) <= set(what(documents))
    assert missing < 0.01 * len(what(documents))


def test_documents_of_other_links_are_refused(tmp_path: Path) -> None:
    links = gold_links.links(DOCUMENTS[:1])
    with pytest.raises(InputError, match="the documents have 0 mentions, and there are 4 links"):
        links.write(tmp_path / "out", format="pubtator", documents=DOCUMENTS[1:])
    with pytest.raises(InputError, match="pubtator needs documents as input"):
        links.write(tmp_path / "out", format="pubtator")
    assert not (tmp_path / "out").exists()


def test_mentions_without_text_or_place(tmp_path: Path) -> None:
    listed = Document("list", "", (Mention("heart\tattack", concept_ids=("X:1",)), Mention(" "), Mention("gout")))
    (found,) = read_corpus(write(tmp_path, "bioc-json", [listed])).documents
    assert found.text == "heart attack\n \ngout"
    assert [(each.text, each.start) for each in found.mentions] == [("heart attack", 0), ("gout", 15)]
    lost = Document("lost", "His gout.", (Mention("gout", 4, 8), Mention("fever")))
    with pytest.warns(UserWarning, match="1 mentions were left out: their place in the text is not known"):
        gold_links.links([lost]).write(tmp_path / "lost", format="bioc-xml", documents=[lost])
    with pytest.warns(UserWarning, match="1 mentions were left out: they overlap"):
        gold_links.links(DOCUMENTS).write(tmp_path / "tags", format="conll", documents=DOCUMENTS)
