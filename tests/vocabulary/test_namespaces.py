"""Ids of several files: equal ids mean the same, and others do not."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.enrich import enrich
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary

SKOS = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
FILES = {
    "unknown.ttl": f"""{SKOS}
<http://aims.fao.org/aos/agrovoc/c_1> a skos:Concept ; skos:prefLabel "maize"@en .
<http://example.org/other/c_1> a skos:Concept ; skos:prefLabel "gout"@en .""",
    "alpha.ttl": f"""{SKOS}@prefix coll: <http://a.example.org/> .
coll:1 a skos:Concept ; skos:prefLabel "alpha"@en ; skos:exactMatch <http://id.nlm.nih.gov/mesh/D009203> .""",
    "beta.ttl": f"""{SKOS}@prefix coll: <http://b.example.org/> . @prefix HP: <http://hospital.example.org/> .
coll:1 a skos:Concept ; skos:prefLabel "beta"@en . coll:2 a skos:Concept ; skos:broader coll:1 ;
    skos:prefLabel "B" .
HP:0001250 a skos:Concept ; skos:prefLabel "gamma"@en .""",
    "portal.csv": """Class ID,Preferred Label,Synonyms,Parents
http://purl.obolibrary.org/obo/MONDO_0005068,myocardial infarction,heart attack,http://purl.obolibrary.org/obo/MONDO_0005267
http://purl.obolibrary.org/obo/MONDO_0005267,heart disorder,,
https://a.example.org/1,alpha again,,
http://purl.bioontology.org/ontology/SNOMEDCT/271737000,anaemia,,
""",
    "spaces.obo": """format-version: 1.4
idspace: HP http://hospital.example.org/
idspace: coll http://c.example.org/
[Term]
id: HP:0001250
name: delta
xref: UMLS:C0036572
[Term]
id: coll:1
name: epsilon
is_a: HP:0001250
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def ids(vocabulary: Vocabulary) -> dict[str, str]:
    return {concept.id: concept.name for concept in vocabulary}


def test_two_namespaces_never_share_a_prefix(folder: Path) -> None:
    problems = Problems()
    names = ("unknown.ttl", "alpha.ttl", "beta.ttl", "portal.csv")
    whole = read_vocabulary(*(folder / name for name in names), problems=problems)
    assert ids(whole) == {
        "AGROVOC:c_1": "maize",
        "http://example.org/other/c_1": "gout",
        "coll:1": "alpha",
        "http://b.example.org/1": "beta",
        "http://b.example.org/2": "B",
        "http://hospital.example.org/0001250": "gamma",
        "MONDO:0005068": "myocardial infarction",
        "MONDO:0005267": "heart disorder",
        "SNOMEDCT:271737000": "anaemia",
    }
    assert [problem.message for problem in problems.first] == [
        "the prefix HP stands for http://hospital.example.org/ here, but elsewhere for "
        "http://purl.obolibrary.org/obo/HP_: ids with it are written as IRIs"
    ]
    assert whole["http://b.example.org/2"].parents == ("http://b.example.org/1",)
    assert (whole["coll:1"].xrefs, whole["MONDO:0005068"].parents) == (("MESH:D009203",), ("MONDO:0005267",))
    assert {name.text for name in whole.names("coll:1")} == {"alpha", "alpha again"}
    whole.save(folder / "saved")
    loaded = Vocabulary.load(folder / "saved")
    assert (ids(loaded), loaded.prefixes) == (ids(whole), {"coll": "http://a.example.org/"})
    parts = merge([read_vocabulary(folder / name) for name in names]).vocabulary
    assert ids(parts) == ids(whole)


def test_prefixes_of_obo_files(folder: Path) -> None:
    problems = Problems()
    vocabulary = read_vocabulary(folder / "spaces.obo", problems=problems)
    assert ids(vocabulary) == {"http://hospital.example.org/0001250": "delta", "coll:1": "epsilon"}
    assert vocabulary["coll:1"].parents == ("http://hospital.example.org/0001250",)
    assert problems.repaired == 1
    both = merge([vocabulary, read_vocabulary(folder / "alpha.ttl")]).vocabulary
    assert ids(both) == {**ids(vocabulary), "http://a.example.org/1": "alpha"}


def test_merged_vocabularies_are_told_apart_too(folder: Path) -> None:
    first = merge([read_vocabulary(folder / "alpha.ttl"), read_vocabulary(folder / "portal.csv")]).vocabulary
    other = read_vocabulary(folder / "unknown.ttl", folder / "beta.ttl")
    whole = merge([first, other]).vocabulary
    assert whole["coll:1"].name == "alpha"
    assert whole["http://b.example.org/2"].parents == ("http://b.example.org/1",)
    assert whole.resolve("http://a.example.org/1") == ("coll:1",)


def test_names_are_not_borrowed_from_another_namespace(folder: Path) -> None:
    target = read_vocabulary(folder / "alpha.ttl")
    with pytest.raises(InputError, match="no concept in common"):
        enrich(target, read_vocabulary(folder / "beta.ttl"))
    lender = read_vocabulary(folder / "portal.csv")
    assert enrich(target, lender).vocabulary.prefixes == target.prefixes


def test_mappings_are_read_with_their_own_prefixes(folder: Path) -> None:
    table = "subject_id\tpredicate_id\tobject_id\tmapping_justification\ncoll:1\tskos:exactMatch\tz:0005068\tx\n"
    head = "#curie_map:\n#  coll: {}\n#  z: http://purl.obolibrary.org/obo/MONDO_\n"
    vocabularies = [read_vocabulary(folder / name) for name in ("alpha.ttl", "portal.csv")]
    for namespace, count in (("http://a.example.org/", 3), ("http://b.example.org/", 4)):
        (folder / "m.sssom.tsv").write_text(head.format(namespace) + table, encoding="utf-8")
        mappings = read_mappings(folder / "m.sssom.tsv")
        assert [each.object_id for each in mappings.mappings] == ["MONDO:0005068"]
        assert len(merge(vocabularies, [mappings]).vocabulary) == count


def test_prefixes_of_the_user(folder: Path) -> None:
    options = ReadOptions(prefixes={"other": "http://example.org/other/"})
    vocabulary = read_vocabulary(folder / "unknown.ttl", options=options)
    assert "other:c_1" in vocabulary
    assert vocabulary.settings["prefixes"] == vocabulary.prefixes == {"other": "http://example.org/other/"}
    with pytest.raises(InputError, match=r"prefix mesh stands for .* choose another name"):
        ReadOptions(prefixes={"mesh": "http://example.org/"})


@pytest.mark.parametrize(
    ("written", "concept_id"),
    [
        ("MONDO_0005068", "MONDO:0005068"),
        ("mondo:0005068", "MONDO:0005068"),
        ("http://purl.obolibrary.org/obo/MONDO_0005068", "MONDO:0005068"),
        ("https://bioregistry.io/mondo:0005068", "MONDO:0005068"),
        ("SCTID:271737000", "SNOMEDCT:271737000"),
        ("http://snomed.info/id/271737000", "SNOMEDCT:271737000"),
        ("http://a.example.org/1", "coll:1"),
        ("http://example.org/other/c_1", "http://example.org/other/c_1"),
        ("http://elsewhere.example.org/MONDO_0005068", None),
        ("coll:2", None),
    ],
)
def test_ids_are_found_in_all_spellings(folder: Path, written: str, concept_id: str | None) -> None:
    vocabulary = read_vocabulary(*(folder / name for name in ("unknown.ttl", "alpha.ttl", "portal.csv")))
    assert vocabulary.resolve(written) == (() if concept_id is None else (concept_id,))
    if concept_id is not None:
        link = Linker(Index.build(vocabulary)).link(written)
        assert (link.candidates[0].concept_id, link.candidates[0].score) == (concept_id, 1)


def test_written_links_hold_no_made_up_address(folder: Path) -> None:
    (folder / "plain.csv").write_text("id,name\nloose:1,zeta\n", encoding="utf-8")
    names = ("unknown.ttl", "alpha.ttl", "portal.csv", "plain.csv")
    vocabulary = read_vocabulary(*(folder / name for name in names))
    links = Linker(Index.build(vocabulary)).link(["maize", "gout", "alpha", "anaemia", "zeta"])
    sssom, fhir = io.StringIO(), io.StringIO()
    links.write(sssom, format="sssom", vocabulary=vocabulary)
    links.write(fhir, format="fhir-r5", vocabulary=vocabulary)
    (folder / "back.sssom.tsv").write_text(sssom.getvalue(), encoding="utf-8")
    assert '#  loose: "urn:x-nymlink:loose:"' in sssom.getvalue().splitlines()
    assert '#  coll: "http://a.example.org/"' in sssom.getvalue().splitlines()
    back = [line.split("\t") for line in sssom.getvalue().splitlines() if not line.startswith("#")]
    written = [dict(zip(back[0], row, strict=True))["object_id"] for row in back[1:]]
    assert written[0::2] == ["AGROVOC:c_1", "coll:1", "loose:1"]
    assert written[1].endswith(":c_1")
    targets = {
        (group.get("target"), element["target"][0]["code"])
        for group in json.loads(fhir.getvalue())["group"]
        for element in group["element"]
    }
    assert targets == {
        ("http://aims.fao.org/aos/agrovoc/", "c_1"),
        ("urn:ietf:rfc:3986", "http://example.org/other/c_1"),
        ("http://a.example.org/", "1"),
        ("http://snomed.info/sct", "271737000"),
        (None, "loose:1"),
    }
