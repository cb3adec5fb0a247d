"""OWL and SKOS in RDF/XML: what is said of a class, hostile and broken files, and the same ontologies in OBO."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import obo, obographs
from nymlink.vocabulary.readers.owl.rdf_xml import FORMAT
from nymlink.vocabulary.tables import Tables

HEAD = """\
<?xml version="1.0"?>
<rdf:RDF xml:base="http://example.org/x.owl"
     xmlns:T="http://example.org/x.owl#T_"
     xmlns:obo="http://purl.obolibrary.org/obo/"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
     xmlns:skos="http://www.w3.org/2004/02/skos/core#"
     xmlns:terms="http://purl.org/dc/terms/"
     xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
"""
OWL = "http://www.w3.org/2002/07/owl#"
DEPRECATED = "<owl:deprecated>true</owl:deprecated>"
OBO = "http://purl.obolibrary.org/obo/"


def read(folder: Path, body: str, *, head: str = HEAD, problems: Problems | None = None, **options: Any) -> Tables:
    path = folder / "x.owl"
    path.write_text(f"{head}{body}\n</rdf:RDF>\n", encoding="utf-8")
    return FORMAT.read(
        path, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


def owl_class(local: str, body: str = "", *, label: str | None = None) -> str:
    name = f"<rdfs:label>{label}</rdfs:label>" if label else ""
    return f'<owl:Class rdf:about="{OBO}{local}">{name}{body}</owl:Class>\n'


def axiom(local: str, predicate: str, target: str, type_: str) -> str:
    return (
        f'<owl:Axiom><owl:annotatedSource rdf:resource="{OBO}{local}"/>'
        f'<owl:annotatedProperty rdf:resource="{predicate}"/><owl:annotatedTarget>{target}</owl:annotatedTarget>'
        f'<rdfs:label>says who</rdfs:label><oboInOwl:hasSynonymType rdf:resource="{type_}"/></owl:Axiom>\n'
    )


def names(tables: Tables) -> list[tuple[str, str, str, str]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


def test_all_that_a_class_says(tmp_path: Path) -> None:
    in_owl = "http://www.geneontology.org/formats/oboInOwl#"
    problems = Problems()
    tables = read(
        tmp_path,
        f"""
        <owl:Ontology rdf:about="http://example.org/x.owl">
          <owl:versionIRI rdf:resource="http://example.org/2024/x.owl"/>
          <terms:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/>
          <oboInOwl:default-namespace>anything</oboInOwl:default-namespace>
        </owl:Ontology>
        <owl:AnnotationProperty rdf:about="{OBO}bto#GE">
          <rdfs:label>LANGUAGE GERMAN</rdfs:label></owl:AnnotationProperty>
        <owl:Class rdf:about="{OBO}X_1">
          <owl:equivalentClass><owl:Class><owl:intersectionOf rdf:parseType="Collection">
            <rdf:Description rdf:about="{OBO}X_3"/>
            <owl:Restriction><owl:someValuesFrom rdf:resource="{OBO}X_4"/></owl:Restriction>
          </owl:intersectionOf></owl:Class></owl:equivalentClass>
          <rdfs:subClassOf rdf:resource="{OBO}X_2"/>
          <rdfs:subClassOf><owl:Class rdf:about="{OBO}Y_3"/></rdfs:subClassOf>
          <rdfs:subClassOf><owl:Restriction>
            <owl:someValuesFrom rdf:resource="{OBO}X_4"/></owl:Restriction></rdfs:subClassOf>
          <obo:IAO_0000115>Death of muscle.</obo:IAO_0000115>
          <oboInOwl:hasAlternativeId>X:10</oboInOwl:hasAlternativeId>
          <oboInOwl:hasDbXref>MESH:D009203</oboInOwl:hasDbXref>
          <skos:exactMatch rdf:resource="http://www.orpha.net/ORDO/Orphanet_124"/>
          <skos:closeMatch rdf:resource="http://www.orpha.net/ORDO/Orphanet_125"/>
          <oboInOwl:hasExactSynonym>myocardial  infarction</oboInOwl:hasExactSynonym>
          <oboInOwl:hasExactSynonym>MI</oboInOwl:hasExactSynonym>
          <oboInOwl:hasBroadSynonym>heart disease</oboInOwl:hasBroadSynonym>
          <oboInOwl:hasRelatedSynonym>Herz</oboInOwl:hasRelatedSynonym>
          <oboInOwl:hasOBONamespace>disease</oboInOwl:hasOBONamespace>
          <rdfs:label>heart &lt;attack&gt;</rdfs:label>
        </owl:Class>
        {axiom("X_1", in_owl + "hasExactSynonym", "MI", OBO + "OMO_0003012")}
        {axiom("X_1", in_owl + "hasRelatedSynonym", "Herz", OBO + "bto#GE")}
        {owl_class("X_2", f'<rdfs:subClassOf rdf:resource="{OWL}Thing"/>', label="disease")}
        {owl_class("X_3", f'{DEPRECATED}<obo:IAO_0100001 rdf:resource="{OBO}X_2"/>', label="a")}
        {owl_class("X_4", f'<owl:equivalentClass rdf:resource="{OBO}X_2"/>', label="b")}
        {owl_class("X_5")}
        {owl_class("X_6", f'<rdfs:subClassOf rdf:resource="{OBO}X_2"/>')}
        {owl_class("X_10", DEPRECATED)}
        """,
        problems=problems,
    )
    assert problems.count == 0
    assert concepts(tables)["X:1"] == {
        "id": "X:1",
        "definition": "Death of muscle.",
        "semantic_types": ["disease"],
        "xrefs": ["MESH:D009203", "Orphanet:124"],
        "parents": ["X:2", "Y:3"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert set(concepts(tables)) == {"X:1", "X:2", "X:3", "X:4"}
    assert concepts(tables)["X:2"]["parents"] == []
    assert concepts(tables)["X:2"]["semantic_types"] == ["anything"]
    assert concepts(tables)["X:2"]["xrefs"] == ["X:4"]
    assert concepts(tables)["X:3"]["obsolete"]
    assert concepts(tables)["X:3"]["replaced_by"] == ["X:2"]
    assert concepts(tables)["X:4"]["xrefs"] == ["X:2"]
    assert names(tables)[:5] == [
        ("X:1", "heart <attack>", "en", "preferred"),
        ("X:1", "myocardial infarction", "en", "exact"),
        ("X:1", "MI", "en", "abbreviation"),
        ("X:1", "heart disease", "en", "broad"),
        ("X:1", "Herz", "de", "related"),
    ]
    assert tables.redirects.to_pylist() == [{"old": "X:10", "new": "X:1"}]
    assert tables.version == "http://example.org/2024/x.owl"
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


def test_skos_and_languages(tmp_path: Path) -> None:
    body = """
    <skos:ConceptScheme rdf:about="http://example.org/scheme"><owl:versionInfo>7</owl:versionInfo></skos:ConceptScheme>
    <skos:Concept rdf:about="#T_1">
      <skos:altLabel xml:lang="fr">IDM</skos:altLabel>
      <rdfs:label xml:lang="en">cardiac infarct</rdfs:label>
      <skos:prefLabel xml:lang="en">heart attack</skos:prefLabel>
      <skos:prefLabel xml:lang="FR">infarctus</skos:prefLabel>
      <skos:hiddenLabel xml:lang="en">hart attack</skos:hiddenLabel>
      <skos:definition xml:lang="fr">Mort du muscle.</skos:definition>
      <skos:definition xml:lang="en">Death of muscle.</skos:definition>
      <skos:narrower rdf:resource="#T_2"/>
    </skos:Concept>
    <rdf:Description rdf:about="#T_2" xml:lang="de"><skos:prefLabel>Hinterwandinfarkt</skos:prefLabel>
      <rdf:type rdf:resource="http://www.w3.org/2004/02/skos/core#Concept"/>
    </rdf:Description>
    <skos:Concept rdf:about="#T_3" skos:prefLabel="stroke"><skos:broader rdf:resource="#T_4"/></skos:Concept>
    """
    tables = read(tmp_path, body)
    assert names(tables) == [
        ("T:1", "heart attack", "en", "preferred"),
        ("T:1", "infarctus", "fr", "preferred"),
        ("T:1", "cardiac infarct", "en", "exact"),
        ("T:1", "IDM", "fr", "exact"),
        ("T:1", "hart attack", "en", "related"),
        ("T:2", "Hinterwandinfarkt", "de", "preferred"),
        ("T:3", "stroke", "en", "preferred"),
    ]
    assert concepts(tables)["T:1"]["definition"] == "Death of muscle."
    assert concepts(tables)["T:2"]["parents"] == ["T:1"]
    assert concepts(tables)["T:3"]["parents"] == ["T:4"]
    assert tables.version == "7"
    french = read(tmp_path, body, languages=frozenset({"fr"}))
    assert [name for _, name, _, _ in names(french)] == ["infarctus", "IDM"]


def test_layperson_and_trade_names(tmp_path: Path) -> None:
    scope = "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"
    tables = read(
        tmp_path,
        owl_class(
            "X_1",
            "".join(f"<oboInOwl:hasExactSynonym>{text}</oboInOwl:hasExactSynonym>" for text in ("a", "b")),
            label="paracetamol",
        )
        + axiom("X_1", scope, "a", f"{OBO}hp#layperson")
        + axiom("X_1", scope, "b", f"{OBO}x#brand_name"),
    )
    assert names(tables)[1:] == [("X:1", "a", "en", "exact"), ("X:1", "b", "en", "tradename")]


def test_short_entities_are_read(tmp_path: Path) -> None:
    head = HEAD.replace("<rdf:RDF", f'<!DOCTYPE rdf:RDF [<!ENTITY obo "{OBO}" >]>\n<rdf:RDF')
    tables = read(
        tmp_path, '<owl:Class rdf:about="&obo;X_1"><rdfs:label>see &obo;</rdfs:label></owl:Class>', head=head
    )
    assert names(tables) == [("X:1", f"see {OBO}", "en", "preferred")]


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "lollollol">'
        + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)),
        f'<!ENTITY j "{"lol" * 10000}">',
        '<!ENTITY j SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p; <!ENTITY j "x">',
    ],
)
def test_entity_bombs_are_refused_at_once(tmp_path: Path, declaration: str) -> None:
    head = HEAD.replace("<rdf:RDF", f"<!DOCTYPE rdf:RDF [{declaration}]>\n<rdf:RDF")
    start = time.process_time()
    with pytest.raises(InputError, match="declares the entity"):
        read(tmp_path, owl_class("X_1", label="&j;" * 1000), head=head)
    assert time.process_time() - start < 1


def test_many_uses_of_a_short_entity_end_in_an_error_or_a_report(tmp_path: Path) -> None:
    head = HEAD.replace("<rdf:RDF", f'<!DOCTYPE rdf:RDF [<!ENTITY j "{"x" * 128}">]>\n<rdf:RDF')
    problems = Problems()
    start = time.process_time()
    body = owl_class("X_1", label="&j;" * 20_000) + owl_class("X_2", label="kept")
    tables = read(tmp_path, body, head=head, problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["kept"]
    assert problems.rejected == 1
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "content",
    [
        "<page><head><title>404</title></head></page>",
        '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>',
    ],
)
def test_another_root_element_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.owl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="root element"):
        FORMAT.read(path, options=ReadOptions(), problems=Problems())


def test_a_truncated_file_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    whole = HEAD + owl_class("X_1", label="one") + owl_class("X_2", label="two") + "</rdf:RDF>\n"
    for length in range(len(HEAD) + 1, len(whole) - 12, 7):
        path.write_text(whole[:length], encoding="utf-8")
        with pytest.raises(InputError, match="malformed XML") as caught:
            FORMAT.read(path, options=ReadOptions(), problems=Problems())
        assert caught.value.line is not None
        assert caught.value.line >= HEAD.count("\n")


def test_an_ontology_without_names_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no class"):
        read(tmp_path, owl_class("X_1"))


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "windows-1252"])
def test_declared_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.owl"
    head = HEAD.replace('version="1.0"', f'version="1.0" encoding="{encoding}"')
    path.write_bytes((head + owl_class("X_1", label="Sjögren") + "</rdf:RDF>").encode(encoding))
    problems = Problems()
    assert names(FORMAT.read(path, options=ReadOptions(), problems=problems))[0][1] == "Sjögren"
    assert problems.count == 0


@pytest.mark.parametrize("encoding", ["no-such-code", "utf-16", "gb2312", "utf-7"])
def test_an_encoding_that_is_not_what_it_says(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, owl_class("X_1", label="é"), head=HEAD.replace("?>", f' encoding="{encoding}"?>', 1))


def test_a_text_of_fifty_megabytes_is_left_out(tmp_path: Path) -> None:
    problems = Problems()
    body = "\n" + owl_class("X_1", label="é" * 25_000_000) + owl_class("X_2", label="kept")
    tables = read(tmp_path, body, problems=problems)
    assert [name for _, name, _, _ in names(tables)] == ["kept"]
    assert [problem.line for problem in problems.first] == [HEAD.count("\n") + 2]


@pytest.mark.parametrize("opening", ["<!-- ", "<owl:Class rdf:about='"])
def test_a_tag_of_fifty_megabytes_is_an_error(tmp_path: Path, opening: str) -> None:
    start = time.process_time()
    with pytest.raises(InputError, match="a tag, comment or prologue"):
        read(tmp_path, opening + "x" * 50_000_000)
    assert time.process_time() - start < 10


def test_deep_nesting(tmp_path: Path) -> None:
    body = "<owl:Class><rdfs:subClassOf>" * 50_000 + "</rdfs:subClassOf></owl:Class>" * 50_000
    tables = read(tmp_path, owl_class("X_1", body.join(["<rdfs:subClassOf>", "</rdfs:subClassOf>"]), label="deep"))
    assert len(names(tables)) == 1


@pytest.mark.parametrize(
    ("stem", "reader", "file"),
    [
        ("cvx/cvx", obo, "cvx/cvx.obo"),
        ("cvx/cvx", obographs, "cvx/cvx.json.gz"),
        ("symp/symp", obo, "symp/symp.obo.gz"),
        ("symp/symp", obographs, "symp/symp.json.gz"),
        ("pato/pato-base", obographs, "pato/pato-base.json.gz"),
        ("doid/DO_cancer_slim", obo, "doid/DO_cancer_slim.obo.gz"),
    ],
)
def test_the_same_ontology_in_another_form(data: Path, stem: str, reader: Any, file: str) -> None:
    folder = data / "native"
    problems = Problems()
    [owl] = folder.glob(f"{stem}.owl*")
    ours = FORMAT.read(owl, options=ReadOptions(), problems=problems)
    theirs = reader.FORMAT.read(folder / file, options=ReadOptions(), problems=Problems())
    assert problems.count == 0
    assert set(names(ours)) == set(names(theirs))
    assert sorted(ours.redirects.to_pylist(), key=str) == sorted(theirs.redirects.to_pylist(), key=str)
    mine, other = concepts(ours), concepts(theirs)
    assert set(mine) == set(other)
    for id_, concept in mine.items():
        for field in ("parents", "semantic_types", "replaced_by"):
            assert set(concept[field]) == set(other[id_][field]), (id_, field)
        # OBO and OBO Graphs hold no skos:exactMatch as an xref.
        assert set(other[id_]["xrefs"]) <= set(concept["xrefs"])
        assert concept["obsolete"] == other[id_]["obsolete"]
        assert (concept["definition"] is None) == (other[id_]["definition"] is None)


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(f"{HEAD}{owl_class('X_1', label='one')}</rdf:RDF>".encode()))
    assert names(FORMAT.read(path, options=ReadOptions(), problems=Problems())) == [
        ("X:1", "one", "en", "preferred")
    ]
