"""ASCII MeSH and MeSH RDF: one descriptor in the layout of each, and what rdflib finds in the same statements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

ASCII = """\
*NEWRECORD
RECTYPE = D
MH = Calcimycin
AQ = AA AD AE
PRINT ENTRY = A-23187|T109|T195|LAB|NRW|NLM (1991)|900308|abbcdef
ENTRY = A23187, Antibiotic
ENTRY = CALC|T109|ABB|EQV|NLM (1999)|990101|abcdef
MN = D03.633.100.221.173
MS = An ionophorous, polyether antibiotic from Streptomyces chartreusensis.
UI = D000001

*NEWRECORD
RECTYPE = D
MH = Benzoxazoles
MN = D03.633.100.221
UI = D001583

*NEWRECORD
RECTYPE = C
NM = bevonium
SY = Acabel|T121|TRD|EQV|NLM (1991)|900308|abcdef
HM = Benzilates
NO = A note.
UI = C000002
"""

MESH, VOCABULARY = "http://id.nlm.nih.gov/mesh/", "http://id.nlm.nih.gov/mesh/vocab#"


def _statement(subject: str, predicate: str, value: str) -> str:
    predicate = {
        "type": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "label": "http://www.w3.org/2000/01/rdf-schema#label",
    }.get(predicate, VOCABULARY + predicate)
    return f"<{MESH}{subject}> <{predicate}> {value} .\n"


def _link(subject: str, predicate: str, target: str) -> str:
    return _statement(subject, predicate, f"<{VOCABULARY if predicate == 'type' else MESH}{target}>")


RDF = "".join(
    [
        _link("D000001", "type", "TopicalDescriptor"),
        _statement("D000001", "label", '"Calcimycin"@en'),
        _link("D000001", "preferredConcept", "M0000001"),
        _link("D000001", "concept", "M0353609"),
        _link("D000001", "preferredTerm", "T000002"),
        _link("D000001", "treeNumber", "D03.633.100.221.173"),
        _link("D000001", "broaderDescriptor", "D001583"),
        _statement("D000001", "active", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        _link("D000001", "allowableQualifier", "Q000008"),
        _link("M0000001", "type", "Concept"),
        _statement("M0000001", "scopeNote", '"An ionophorous, polyether antibiotic \\"A\\"."@en'),
        _link("M0000001", "preferredTerm", "T000002"),
        _link("M0000001", "term", "T9"),
        _link("M0000001", "narrowerConcept", "M0353609"),
        _link("M0353609", "preferredTerm", "T000001"),
        _statement("T000002", "prefLabel", '"Calcimycin"@en'),
        _statement("T9", "prefLabel", '"CALC"@en'),
        _statement("T9", "lexicalTag", '"ABB"'),
        _statement("T000001", "prefLabel", '"A-23187"@en'),
        _statement("T000001", "altLabel", '"A 23187"@en'),
        _statement("T000001", "altLabel", r'"caf\u00E9 A"@en'),
        _link("D001583", "type", "TopicalDescriptor"),
        _statement("D001583", "label", '"Benzoxazoles"@en'),
        _link("C000002", "type", "SCR_Chemical"),
        _statement("C000002", "label", '"bevonium"@en'),
        _link("C000002", "preferredMappedTo", "D001561Q000031"),
        _statement("C000002", "active", '"false"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
    ]
)


def read(path: Path, text: str, name: str) -> tuple[dict[str, dict[str, Any]], Tables]:
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    tables = reader.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    return {row["id"]: row for row in tables.concepts.to_pylist()}, tables


def names(tables: Tables) -> set[tuple[str, str, str]]:
    return {(row["concept_id"], row["text"], row["kind"]) for row in tables.names.to_pylist()}


def test_ascii(tmp_path: Path) -> None:
    concepts, tables = read(tmp_path / "x", ASCII, "mesh-ascii")
    assert len(concepts) == ASCII.count("*NEWRECORD")
    calcimycin = concepts["MESH:D000001"]
    assert (calcimycin["parents"], calcimycin["semantic_types"]) == (["MESH:D001583"], ["D"])
    assert calcimycin["definition"].startswith("An ionophorous")
    assert concepts["MESH:C000002"]["definition"] == "A note."
    assert names(tables) == {
        ("MESH:D000001", "Calcimycin", "preferred"),
        ("MESH:D000001", "A-23187", "narrow"),
        ("MESH:D000001", "A23187, Antibiotic", "exact"),
        ("MESH:D000001", "CALC", "abbreviation"),
        ("MESH:D001583", "Benzoxazoles", "preferred"),
        ("MESH:C000002", "bevonium", "preferred"),
        ("MESH:C000002", "Acabel", "tradename"),
    }


@pytest.mark.parametrize("year", ["", "2025/"])
def test_rdf(tmp_path: Path, year: str) -> None:
    text = RDF.replace(f"<{MESH}", f"<{MESH}{year}").replace(f"<{MESH}{year}vocab#", f"<{VOCABULARY}")
    concepts, tables = read(tmp_path / "x", text, "mesh-rdf")
    assert set(concepts) == {"MESH:D000001", "MESH:D001583", "MESH:C000002"}
    calcimycin = concepts["MESH:D000001"]
    assert (calcimycin["parents"], calcimycin["semantic_types"]) == (["MESH:D001583"], ["D"])
    assert calcimycin["definition"] == 'An ionophorous, polyether antibiotic "A".'
    scr = concepts["MESH:C000002"]
    assert (scr["parents"], scr["semantic_types"], scr["obsolete"]) == (["MESH:D001561"], ["chemical"], True)
    assert names(tables) == {
        ("MESH:D000001", "Calcimycin", "preferred"),
        ("MESH:D000001", "CALC", "abbreviation"),
        ("MESH:D000001", "A-23187", "narrow"),
        ("MESH:D000001", "A 23187", "narrow"),
        ("MESH:D000001", "café A", "narrow"),
        ("MESH:D001583", "Benzoxazoles", "preferred"),
        ("MESH:C000002", "bevonium", "preferred"),
    }


def test_rdflib_finds_the_same_terms(tmp_path: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph().parse(data=RDF, format="nt")
    v = rdflib.Namespace(VOCABULARY)
    terms = (v.preferredConcept | v.concept) / (v.preferredTerm | v["term"]) / (v.prefLabel | v.altLabel)
    expected = {(record.rpartition("/")[2], str(text)) for record, text in graph.subject_objects(terms)}
    expected |= {
        (record.rpartition("/")[2], str(text)) for record, text in graph.subject_objects(rdflib.RDFS.label)
    }
    _, tables = read(tmp_path / "x", RDF, "mesh-rdf")
    assert {(id_.removeprefix("MESH:"), text) for id_, text, _ in names(tables)} == expected
