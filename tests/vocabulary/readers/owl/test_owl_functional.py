"""OWL in functional-style syntax: axioms, broken ones, and the same ontology in other forms."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import obo
from nymlink.vocabulary.readers.owl import rdf_xml
from nymlink.vocabulary.readers.owl.functional import FORMAT
from nymlink.vocabulary.tables import Tables

HEAD = """\
Prefix(:=<http://purl.obolibrary.org/obo/>)
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix(in:=<http://www.geneontology.org/formats/oboInOwl#>)
Prefix(skos:=<http://www.w3.org/2004/02/skos/core#>)

Ontology(<http://purl.obolibrary.org/obo/x.owl>
"""


def read(
    folder: Path, body: str, *, head: str = HEAD, end: str = ")\n", problems: Problems | None = None
) -> Tables:
    path = folder / "x.ofn"
    path.write_text(head + body + end, encoding="utf-8")
    return FORMAT.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def names(tables: Tables) -> list[tuple[str, str, str, str]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


def test_all_that_axioms_say(tmp_path: Path) -> None:
    problems = Problems()
    head = HEAD.replace("x.owl>", "x.owl> <http://purl.obolibrary.org/obo/2024/x.owl>")
    tables = read(
        tmp_path,
        r"""
        Import(<http://purl.obolibrary.org/obo/y.owl>)
        Annotation(<http://purl.org/dc/terms/license> <https://creativecommons.org/licenses/by/4.0/>)
        Declaration(Class(:X_1)) Declaration(Class(<http://purl.obolibrary.org/obo/X_2>)) # two on a line
        Declaration(AnnotationProperty(obo:bto#GE))
        AnnotationAssertion(rdfs:label obo:bto#GE "LANGUAGE GERMAN")
        # a comment with "quotes" and (brackets
        AnnotationAssertion(rdfs:label :X_1 "a \"heart\" attack (disorder\\")
        AnnotationAssertion(rdfs:label :X_1 "Herzinfarkt"@de)
        AnnotationAssertion(Annotation(in:hasDbXref "PMID:1") Annotation(in:hasSynonymType obo:OMO_0003012)
            in:hasExactSynonym :X_1 "MI"^^xsd:string)
        AnnotationAssertion(Annotation(Annotation(rdfs:comment "deep") in:hasSynonymType obo:bto#GE)
            in:hasRelatedSynonym :X_1 "Herz")
        AnnotationAssertion(obo:IAO_0000115 :X_1 "Death
of muscle.")
        AnnotationAssertion(in:hasDbXref :X_1 "MESH:D009203"^^xsd:string)
        AnnotationAssertion(skos:exactMatch :X_1 <http://www.orpha.net/ORDO/Orphanet_124>)
        AnnotationAssertion(in:hasAlternativeId :X_1 "X:10")
        AnnotationAssertion(rdfs:label :X_2 "disease")
        AnnotationAssertion(owl:deprecated :X_2 "true"^^xsd:boolean)
        AnnotationAssertion(obo:IAO_0100001 :X_2 :X_1)
        SubClassOf(Annotation(rdfs:comment "why") :X_1 :X_2)
        SubClassOf(:X_1 ObjectSomeValuesFrom(:part_of :X_3))
        SubClassOf(:X_2 owl:Thing)
        EquivalentClasses(:X_1 ObjectIntersectionOf(:X_2 ObjectSomeValuesFrom(:r :X_3)))
        EquivalentClasses(:X_1 :Y_1)
        DisjointClasses(:X_1 :X_2)
        """,
        head=head,
        problems=problems,
    )
    assert problems.first == []
    assert concepts(tables)["X:1"] == {
        "id": "X:1",
        "definition": "Death\nof muscle.",
        "semantic_types": [],
        "xrefs": ["MESH:D009203", "Orphanet:124", "Y:1"],
        "parents": ["X:2"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert concepts(tables)["X:2"]["replaced_by"] == ["X:1"]
    assert concepts(tables)["X:2"]["obsolete"]
    assert names(tables) == [
        ("X:1", 'a "heart" attack (disorder\\', "en", "preferred"),
        ("X:1", "Herzinfarkt", "de", "preferred"),
        ("X:1", "MI", "en", "abbreviation"),
        ("X:1", "Herz", "de", "related"),
        ("X:2", "disease", "en", "preferred"),
    ]
    assert tables.version == "http://purl.obolibrary.org/obo/2024/x.owl"
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    "broken",
    [
        'AnnotationAssertion(rdfs:label :X_9 "never closed)',
        'AnnotationAssertion(rdfs:label :X_9 "x"',
        "AnnotationAssertion(rdfs:label :X_9)",
        'AnnotationAssertion(no:label :X_9 "x")',
        'AnnotationAssertion rdfs:label :X_9 "x")',
        "Declaration(Class(:X_9)",
        "SubClassOf(:X_1)",
        "Prefix(x=<http://purl.obolibrary.org/obo/>)",
        "}{",
        "Declaration" + "(" * 5000,
    ],
)
def test_a_broken_axiom_costs_no_other(tmp_path: Path, broken: str) -> None:
    problems = Problems()
    body = "Declaration(Class(:X_1))\nDeclaration(Class(:X_2))\n"
    body += f'AnnotationAssertion(rdfs:label :X_1 "one")\n{broken}\nAnnotationAssertion(rdfs:label :X_2 "two")\n'
    tables = read(tmp_path, body, problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["one", "two"]
    assert [problem.line for problem in problems.first] == [HEAD.count("\n") + 4]


def test_a_truncated_file_keeps_what_is_there_and_says_so(tmp_path: Path) -> None:
    problems = Problems()
    body = 'Declaration(Class(:X_1))\nAnnotationAssertion(rdfs:label :X_1 "one")\nAnnotationAssertion(rdfs:lab'
    tables = read(tmp_path, body, end="", problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["one"]
    assert problems.rejected == 2
    assert "is it complete" in problems.first[1].message


def test_a_text_of_fifty_megabytes_is_left_out(tmp_path: Path) -> None:
    problems = Problems()
    start = time.process_time()
    body = f'Declaration(Class(:X_1))\nAnnotationAssertion(rdfs:label :X_1 "{"é" * 25_000_000}")\n'
    tables = read(tmp_path, body + 'AnnotationAssertion(rdfs:label :X_1 "kept")\n', problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["kept"]
    assert [problem.line for problem in problems.first] == [HEAD.count("\n") + 2]
    assert time.process_time() - start < 15


def test_a_megabyte_of_open_brackets_takes_no_time(tmp_path: Path) -> None:
    problems = Problems()
    start = time.process_time()
    body = "SubClassOf(\n" * 50_000 + "ObjectOneOf(\n" * 50_000 + 'AnnotationAssertion(rdfs:label :X_1 "kept")\n'
    tables = read(tmp_path, "Declaration(Class(:X_1))\n" + body, problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["kept"]
    assert problems.rejected > 1
    assert time.process_time() - start < 10


def test_without_an_ontology_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Ontology"):
        read(tmp_path, "", head="Prefix(:=<http://purl.obolibrary.org/obo/>)\n", end="")


@pytest.mark.parametrize(("reader", "file"), [(obo, "cvx.obo"), (rdf_xml, "cvx.owl.gz")])
def test_the_same_ontology_in_another_form(data: Path, reader: Any, file: str) -> None:
    folder = data / "native" / "cvx"
    ours = FORMAT.read(folder / "cvx.ofn", options=ReadOptions(), problems=Problems())
    theirs = reader.FORMAT.read(folder / file, options=ReadOptions(), problems=Problems())
    assert set(names(ours)) == set(names(theirs))
    mine, other = concepts(ours), concepts(theirs)
    assert set(mine) == set(other)
    for id_, concept in mine.items():
        for field in ("parents", "obsolete", "replaced_by", "xrefs"):
            assert concept[field] == other[id_][field], (id_, field)


def test_an_ontology_as_it_is_edited(data: Path) -> None:
    problems = Problems()
    path = data / "native" / "cl" / "cl-edit.functional-syntax.owl.gz"
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.first == []
    assert tables.concepts.num_rows > 3000
    assert sum(concept["obsolete"] for concept in concepts(tables).values()) > 200
