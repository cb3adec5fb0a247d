"""Texts that are nodes (SKOS-XL, AGROVOC's definitions), and the properties of the NCI Thesaurus."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

# As in AGROVOC's core file: labels and definitions are nodes of their own, or blank nodes.
AGROVOC = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix agrovoc: <http://aims.fao.org/aos/agrovoc/> .

agrovoc:xl_en_1 a skosxl:Label ; skosxl:literalForm "maize"@en ; dct:created "2011" .
agrovoc:c_12332 a skos:Concept ;
    skosxl:prefLabel agrovoc:xl_en_1, agrovoc:xl_fr_1 ;
    skosxl:altLabel agrovoc:xl_en_2, _:label ;
    skosxl:hiddenLabel [ a skosxl:Label ; skosxl:literalForm "maiz"@en ] ;
    skos:definition agrovoc:xDef_1 ;
    skos:broader agrovoc:c_8501 .
agrovoc:xl_fr_1 a skosxl:Label ; skosxl:literalForm "maïs"@fr .
agrovoc:xl_en_2 a skosxl:Label ; skosxl:literalForm "corn (maize)"@en .
_:label a skosxl:Label ; skosxl:literalForm "Indian corn"@en .
agrovoc:xDef_1 rdf:value "A cereal."@en .
agrovoc:c_8501 a skos:Concept ; skosxl:prefLabel [ a skosxl:Label ; skosxl:literalForm "cereals"@en ] .
"""
NAMES = {
    ("12332", "maize", "en", "preferred"),
    ("12332", "maïs", "fr", "preferred"),
    ("12332", "corn (maize)", "en", "exact"),
    ("12332", "Indian corn", "en", "exact"),
    ("12332", "maiz", "en", "related"),
    ("8501", "cereals", "en", "preferred"),
}

NCI = "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl"


def _axiom(text: str, term_type: str, source: str) -> str:
    return (
        f'    <owl:Axiom>\n        <owl:annotatedSource rdf:resource="{NCI}#C3224"/>\n'
        f'        <owl:annotatedProperty rdf:resource="{NCI}#P90"/>\n'
        f"        <owl:annotatedTarget>{text}</owl:annotatedTarget>\n"
        f"        <P383>{term_type}</P383>\n        <P384>{source}</P384>\n    </owl:Axiom>\n"
    )


NCIT = f"""\
<?xml version="1.0"?>
<rdf:RDF xmlns="{NCI}#"
     xml:base="{NCI}"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
    <owl:Ontology rdf:about="{NCI}"><owl:versionInfo>25.01d</owl:versionInfo></owl:Ontology>
    <owl:AnnotationProperty rdf:about="{NCI}#P90"><rdfs:label>FULL_SYN</rdfs:label></owl:AnnotationProperty>
    <owl:Class rdf:about="{NCI}#C3224">
        <rdfs:subClassOf rdf:resource="{NCI}#C9305"/>
        <NHC0>C3224</NHC0>
        <P106>Neoplastic Process</P106>
        <P107>Melanoma</P107>
        <P108>Melanoma</P108>
        <P207>C0025202</P207>
        <P90>MEL</P90>
        <P90>Malignant Melanoma</P90>
        <P90>Melanoma</P90>
        <P90>Melacine</P90>
        <P97>A malignant, usually aggressive tumor composed of atypical, neoplastic melanocytes.</P97>
        <rdfs:label>Melanoma</rdfs:label>
    </owl:Class>
{_axiom("MEL", "AB", "NCI")}{_axiom("Malignant Melanoma", "SY", "NCI")}{_axiom("Melanoma", "PT", "NCI")}\
{_axiom("Melacine", "BR", "NCI")}\
    <owl:Class rdf:about="{NCI}#C1000">
        <P108>Old Thing</P108>
        <P310>Obsolete_Concept</P310>
        <rdfs:label>Old_Thing</rdfs:label>
    </owl:Class>
    <owl:Class rdf:about="{NCI}#C1001">
        <P108>Passing Thing</P108>
        <P310>Provisional_Concept</P310>
        <rdfs:label>Passing Thing</rdfs:label>
    </owl:Class>
</rdf:RDF>
"""


def read(path: Path, text: str) -> Tables:
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    tables = find_format(VOCABULARY_FORMATS, path).read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    return tables


def local(id_: str) -> str:
    return id_.rpartition("_")[2].rpartition("#")[2].rpartition(":")[2]


def names(tables: Tables) -> set[tuple[str, str, str, str]]:
    return {(local(row["concept_id"]), row["text"], row["lang"], row["kind"]) for row in tables.names.to_pylist()}


@pytest.mark.parametrize("syntax", ["turtle", "nt", "xml", "pretty-xml"])
def test_labels_that_are_nodes(tmp_path: Path, syntax: str) -> None:
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph().parse(data=AGROVOC, format="turtle")
    tables = read(tmp_path / "agrovoc_core", graph.serialize(format=syntax))
    assert names(tables) == NAMES
    concept = next(row for row in tables.concepts.to_pylist() if local(row["id"]) == "12332")
    assert concept["definition"] == "A cereal."
    assert list(map(local, concept["parents"])) == ["8501"]
    # An independent count of the labels of concepts.
    xl = rdflib.Namespace("http://www.w3.org/2008/05/skos-xl#")
    paths = (xl.prefLabel | xl.altLabel | xl.hiddenLabel) / xl.literalForm
    assert len(set(graph.subject_objects(paths))) == len(NAMES) == len(tables.names)


def test_nodes_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert names(read(tmp_path / "x", AGROVOC)) == NAMES
    nested = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:skos="http://www.w3.org/2004/02/skos/core#" xmlns:skosxl="http://www.w3.org/2008/05/skos-xl#">
    <skos:Concept rdf:about="http://x.org/X_1">
    <skosxl:prefLabel rdf:parseType="Resource"><skosxl:literalForm xml:lang="en">one</skosxl:literalForm>
    </skosxl:prefLabel>
    <skosxl:altLabel><skosxl:Label><skosxl:literalForm>uno</skosxl:literalForm></skosxl:Label></skosxl:altLabel>
    </skos:Concept></rdf:RDF>"""
    assert names(read(tmp_path / "y", nested)) == {("1", "one", "en", "preferred"), ("1", "uno", "en", "exact")}


def test_nci_thesaurus(tmp_path: Path) -> None:
    tables = read(tmp_path / "Thesaurus.owl", NCIT)
    assert names(tables) == {
        ("C3224", "Melanoma", "en", "preferred"),
        ("C3224", "Malignant Melanoma", "en", "exact"),
        ("C3224", "MEL", "en", "abbreviation"),
        ("C3224", "Melacine", "en", "tradename"),
        ("C1000", "Old Thing", "en", "preferred"),
        ("C1000", "Old_Thing", "en", "exact"),
        ("C1001", "Passing Thing", "en", "preferred"),
    }
    melanoma, old, passing = tables.concepts.to_pylist()
    assert melanoma["definition"].startswith("A malignant, usually aggressive")
    assert melanoma["semantic_types"] == ["Neoplastic Process"]
    assert melanoma["xrefs"] == ["UMLS:C0025202"]
    assert list(map(local, melanoma["parents"])) == ["C9305"]
    assert (old["obsolete"], passing["obsolete"], tables.version) == (True, False, "25.01d")
