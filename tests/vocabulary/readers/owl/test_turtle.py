"""SKOS and OWL in Turtle: its syntax, broken statements, and the statements that rdflib finds in the same text."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.owl.turtle import FORMAT
from nymlink.vocabulary.tables import Tables

HEAD = """\
@prefix : <http://purl.obolibrary.org/obo/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix in: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>

"""


def read(folder: Path, body: str, *, head: str = HEAD, problems: Problems | None = None) -> Tables:
    path = folder / "x.ttl"
    path.write_text(head + body, encoding="utf-8")
    return FORMAT.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def names(tables: Tables) -> list[tuple[str, str, str, str]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


def test_skos(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path,
        r'''
@base <http://purl.obolibrary.org/obo/> .
<http://purl.obolibrary.org/obo/scheme> a skos:ConceptScheme ;
    owl:versionInfo 1.5 ; <http://purl.org/dc/terms/license> <https://creativecommons.org/licenses/by/4.0/> .
:X_1 a skos:Concept ; # a comment with "quotes
    skos:prefLabel "heart attack"@en, 'infarctus'@fr ;;
    skos:altLabel """heart
"attack" \u00e9""" ;
    skos:hiddenLabel "hart atack" ;
    skos:definition "Death of muscle; it kills."@en ;
    skos:broader <X_2>, :X_3 ;
    skos:exactMatch <http://www.orpha.net/ORDO/Orphanet_124> ;
    skos:note [ skos:prefLabel "not a name" ; skos:related ( :X_2 [ ] "x" ) ] .
<X_2> a skos:Concept ; skos:prefLabel "disease" . :X_3 a skos:Concept ;
    skos:prefLabel "illness"^^<http://x.org/t> ;
    skos:narrower <X_2> .
[] a owl:Axiom ; owl:annotatedSource :X_4 .
:X_4 a owl:Class; rdfs:label "old"; owl:deprecated true ; in:hasExactSynonym "MI" ;
    rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :X_1 ] .
[ a owl:Axiom ; owl:annotatedSource :X_4 ; owl:annotatedProperty in:hasExactSynonym ; owl:annotatedTarget "MI" ;
  in:hasSynonymType <http://purl.obolibrary.org/obo/OMO_0003012> ] .
''',
        problems=problems,
    )
    assert problems.first == []
    assert concepts(tables)["X:1"] == {
        "id": "X:1",
        "definition": "Death of muscle; it kills.",
        "semantic_types": [],
        "xrefs": ["Orphanet:124"],
        "parents": ["X:2", "X:3"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert concepts(tables)["X:2"]["parents"] == ["X:3"]
    assert concepts(tables)["X:4"]["obsolete"]
    assert concepts(tables)["X:4"]["parents"] == []
    assert names(tables) == [
        ("X:1", "heart attack", "en", "preferred"),
        ("X:1", "infarctus", "fr", "preferred"),
        ("X:1", 'heart "attack" é', "en", "exact"),
        ("X:1", "hart atack", "en", "related"),
        ("X:2", "disease", "en", "preferred"),
        ("X:3", "illness", "en", "preferred"),
        ("X:4", "old", "en", "preferred"),
        ("X:4", "MI", "en", "abbreviation"),
    ]
    assert tables.version == "1.5"
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


def test_n_triples(tmp_path: Path) -> None:
    skos = "http://www.w3.org/2004/02/skos/core#"
    one = "<http://purl.obolibrary.org/obo/X_1>"
    body = f'{one} <{skos}prefLabel> "one"@en .\n'
    body += f"{one} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{skos}Concept> .\n"
    assert names(read(tmp_path, body, head="")) == [("X:1", "one", "en", "preferred")]


@pytest.mark.parametrize(
    "broken",
    [
        ':X_9 skos:prefLabel "never closed .',
        ":X_9 skos:prefLabel .",
        ':X_9 no:label "x" .',
        ':X_9 skos:prefLabel "x" ] .',
        ':X_9 skos:prefLabel [ "x" .',
        '"x" skos:prefLabel "x" .',
        ':X_9 "x" "x" .',
        ':X_9 skos:prefLabel "x"\n',
        "@prefix no <http://purl.obolibrary.org/obo/> .",
        "}{ .",
        ":X_9 skos:note " + "[" * 5000 + " .",
    ],
)
def test_a_broken_statement_costs_no_other(tmp_path: Path, broken: str) -> None:
    problems = Problems()
    body = (
        f':X_1 a skos:Concept ; skos:prefLabel "one" .\n{broken}\n:X_2 a skos:Concept ; skos:prefLabel "two" .\n'
    )
    tables = read(tmp_path, body, problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["one", "two"]
    assert [problem.line for problem in problems.first] == [HEAD.count("\n") + 2]


def test_a_truncated_file_keeps_what_is_there_and_says_so(tmp_path: Path) -> None:
    problems = Problems()
    body = ':X_1 a skos:Concept ; skos:prefLabel "one" .\n:X_2 a skos:Concept ; skos:prefLabel "tw'
    assert [name for _, name, _, _ in names(read(tmp_path, body, problems=problems))] == ["one"]
    assert problems.rejected == 1


@pytest.mark.parametrize("quotes", ['"', '"""'])
def test_a_text_of_fifty_megabytes_is_left_out(tmp_path: Path, quotes: str) -> None:
    problems = Problems()
    start = time.process_time()
    body = f":X_1 a skos:Concept ; skos:prefLabel {quotes}{'é' * 25_000_000}{quotes} .\n"
    tables = read(tmp_path, body + ':X_2 a skos:Concept ; skos:prefLabel "kept" .\n', problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["kept"]
    assert [problem.line for problem in problems.first] == [HEAD.count("\n") + 1]
    assert time.process_time() - start < 15


def test_thousands_of_open_brackets_take_no_time(tmp_path: Path) -> None:
    problems = Problems()
    start = time.process_time()
    body = ":a :b (\n\n" * 2_500 + ':X_1 a skos:Concept ; skos:prefLabel "kept" .\n'
    assert [name for _, name, _, _ in names(read(tmp_path, body, problems=problems))] == ["kept"]
    assert problems.rejected > 1
    assert time.process_time() - start < 10


@pytest.mark.parametrize("unit", [".#", ".\t", "<a", "a:", "\"'"])
def test_a_line_of_nothing_but_marks_is_passed_over(tmp_path: Path, unit: str) -> None:
    problems = Problems()
    body = unit * 300_000 + '\n\n:X_1 a skos:Concept ; skos:prefLabel "kept" .\n'
    assert [name for _, name, _, _ in names(read(tmp_path, body, problems=problems))] == ["kept"]
    assert problems.rejected == 1


def test_without_a_concept_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no class"):
        read(tmp_path, ':x :y "z" .\n')


def test_a_vocabulary_in_three_scripts(data: Path) -> None:
    problems = Problems()
    path = data / "native" / "nando" / "nando.ttl.gz"
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.first == []
    assert names(tables)[:3] == [
        ("NANDO:0000001", "難病", "ja", "preferred"),
        ("NANDO:0000001", "Intractable disease", "en", "preferred"),
        ("NANDO:0000001", "なんびょう", "ja-Hira", "preferred"),
    ]
    assert concepts(tables)["NANDO:0000002"]["obsolete"]


def test_rdflib_finds_the_same(data: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    path = data / "native" / "nando" / "nando.ttl.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    # A part of it, cut between statements: rdflib takes long for all of it.
    part = text[: text.index("\n\n<", 400_000)]
    graph = rdflib.Graph()
    graph.parse(data=part, format="turtle")
    labels = {
        (str(subject).rpartition("/")[2].replace("_", ":"), " ".join(str(label).split()))
        for predicate in (rdflib.RDFS.label, rdflib.SKOS.prefLabel, rdflib.SKOS.altLabel, rdflib.SKOS.hiddenLabel)
        for subject, label in graph.subject_objects(predicate)
        if (subject, rdflib.RDF.type, rdflib.OWL.Class) in graph
    }
    tables = FORMAT.read(path, options=ReadOptions(), problems=Problems())
    ids = {concept for concept, _ in labels}
    assert len(labels) > 500
    assert {(concept, text) for concept, text, _, _ in names(tables) if concept in ids} == labels
