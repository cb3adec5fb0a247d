"""OBO Graphs: both shapes, broken nodes, and the same ontologies in OBO."""

from __future__ import annotations

import contextlib
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nymlink.core import json_files
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import obo
from nymlink.vocabulary.readers.obographs import FORMAT
from nymlink.vocabulary.tables import Tables

OBO = "http://purl.obolibrary.org/obo/"
IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"


def read(folder: Path, *graphs: Any, problems: Problems | None = None, **options: Any) -> Tables:
    path = folder / "x.json"
    path.write_text(json.dumps({"graphs": list(graphs)}), encoding="utf-8")
    return FORMAT.read(
        path, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


def graph(*nodes: Any, edges: Any = (), **more: Any) -> dict[str, Any]:
    return {"id": f"{OBO}x.owl", "nodes": list(nodes), "edges": list(edges), **more}


def node(local: str, label: str | None = None, **meta: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"id": OBO + local, "type": "CLASS"}
    return made | ({"lbl": label} if label else {}) | ({"meta": meta} if meta else {})


def value(pred: str, val: str) -> dict[str, str]:
    return {"pred": pred, "val": val}


def names(tables: Tables) -> list[tuple[str, str, str, str]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


def test_all_that_a_node_says(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        graph(
            node(
                "X_1",
                "heart attack",
                definition={"val": "Death of muscle.", "xrefs": ["PMID:1"]},
                comments=["not a definition"],
                subsets=[OBO + "x#slim"],
                xrefs=[{"val": "MESH:D009203"}, {"val": "UMLS:C0027051", "meta": {}}],
                synonyms=[
                    {"pred": "hasExactSynonym", "val": "myocardial  infarction", "xrefs": []},
                    {"pred": IN_OWL + "hasBroadSynonym", "val": "heart disease"},
                    {"pred": "hasExactSynonym", "val": "MI", "synonymType": OBO + "OMO_0003012"},
                    {"pred": "hasRelatedSynonym", "val": "HA", "synonymType": OBO + "hp#abbreviation"},
                    {"pred": "hasRelatedSynonym", "val": "Herz", "synonymType": OBO + "bto#GE"},
                ],
                basicPropertyValues=[
                    value(IN_OWL + "hasAlternativeId", "X:10"),
                    value(IN_OWL + "hasOBONamespace", "disease"),
                    value("http://www.w3.org/2000/01/rdf-schema#seeAlso", "elsewhere"),
                ],
            ),
            node("X_2", "heart disease"),
            node(
                "X_3",
                "apoplexy",
                deprecated=True,
                basicPropertyValues=[value(OBO + "IAO_0100001", OBO + "X_2")],
            ),
            {"id": OBO + "bto#GE", "type": "PROPERTY", "lbl": "LANGUAGE GERMAN"},
            {"id": OBO + "X_individual", "type": "INDIVIDUAL", "lbl": "somebody"},
            edges=[
                {"sub": OBO + "X_1", "pred": "is_a", "obj": OBO + "X_2"},
                {
                    "sub": OBO + "X_1",
                    "pred": "http://www.w3.org/2000/01/rdf-schema#subClassOf",
                    "obj": OBO + "Y_3",
                },
                {"sub": OBO + "X_1", "pred": OBO + "BFO_0000050", "obj": OBO + "X_4"},
                {"sub": OBO + "X_2", "pred": "is_a", "obj": "http://www.w3.org/2002/07/owl#Thing"},
            ],
            equivalentNodesSets=[{"representativeNodeId": OBO + "X_2", "nodeIds": [OBO + "X_2", OBO + "Y_2"]}],
            meta={
                "version": OBO + "x/releases/2024/x.owl",
                "basicPropertyValues": [
                    value("http://purl.org/dc/terms/license", "https://creativecommons.org/licenses/by/4.0/"),
                    value(IN_OWL + "default-namespace", "anything"),
                ],
            },
        ),
    )
    assert concepts(tables)["X:1"] == {
        "id": "X:1",
        "definition": "Death of muscle.",
        "semantic_types": ["disease"],
        "xrefs": ["MESH:D009203", "UMLS:C0027051"],
        "parents": ["X:2", "Y:3"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert concepts(tables)["X:2"]["parents"] == []
    assert concepts(tables)["X:2"]["xrefs"] == ["Y:2"]
    assert concepts(tables)["X:2"]["semantic_types"] == ["anything"]
    assert concepts(tables)["X:3"]["obsolete"]
    assert concepts(tables)["X:3"]["replaced_by"] == ["X:2"]
    assert names(tables) == [
        ("X:1", "heart attack", "en", "preferred"),
        ("X:1", "myocardial infarction", "en", "exact"),
        ("X:1", "heart disease", "en", "broad"),
        ("X:1", "MI", "en", "abbreviation"),
        ("X:1", "HA", "en", "abbreviation"),
        ("X:1", "Herz", "de", "related"),
        ("X:2", "heart disease", "en", "preferred"),
        ("X:3", "apoplexy", "en", "preferred"),
    ]
    assert tables.redirects.to_pylist() == [{"old": "X:10", "new": "X:1"}]
    assert tables.version == OBO + "x/releases/2024/x.owl"
    assert tables.licence == "https://creativecommons.org/licenses/by/4.0/"


def test_owl_version_is_preferred_to_its_iri(tmp_path: Path) -> None:
    meta = {
        "version": OBO + "x.owl",
        "basicPropertyValues": [value("http://www.w3.org/2002/07/owl#versionInfo", "2.6")],
    }
    assert read(tmp_path, graph(node("X_1", "x"), meta=meta)).version == "2.6"


def test_graphs_without_node_types(tmp_path: Path) -> None:
    def untyped(local: str) -> dict[str, str]:
        return {"id": OBO + local, "lbl": local}

    edges = [
        {"sub": OBO + "X_1", "pred": OBO + "RO_1", "obj": OBO + "X_2"},
        {"sub": OBO + "RO_2", "pred": "subPropertyOf", "obj": OBO + "RO_3"},
    ]
    tables = read(tmp_path, graph(*map(untyped, ("X_1", "X_2", "RO_1", "RO_2", "RO_3")), edges=edges))
    assert list(concepts(tables)) == ["X:1", "X:2"]


def test_a_node_without_a_type_is_a_class_where_its_place_says_so(tmp_path: Path) -> None:
    untyped = [{"id": OBO + f"X_{number}", "lbl": f"name {number}"} for number in range(2, 9)]
    edges = [
        {"sub": OBO + "X_2", "pred": "is_a", "obj": OBO + "X_3"},
        {"sub": OBO + "X_1", "pred": OBO + "RO_1", "obj": OBO + "X_4"},
        {"sub": OBO + "X_5", "pred": "subPropertyOf", "obj": OBO + "RO_1"},
    ]
    one = graph(
        node("X_1", "one"),
        *untyped,
        edges=edges,
        equivalentNodesSets=[{"nodeIds": [OBO + "X_1", OBO + "X_6"]}],
        logicalDefinitionAxioms=[
            {"definedClassId": OBO + "X_1", "genusIds": [OBO + "X_7"]},
            {"definedClassId": None, "genusIds": [None, 7]},
        ],
    )
    problems = Problems()
    tables = read(tmp_path, one, graph(node("X_8", "eight")), problems=problems)
    assert list(concepts(tables)) == ["X:1", "X:2", "X:3", "X:6", "X:7", "X:8"]
    assert problems.count == 0


def test_references_to_other_ontologies_are_no_concepts(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        graph(node("X_1", "one"), node("Y_2"), {"id": "http://www.w3.org/2002/07/owl#Thing", "lbl": "Thing"}),
    )
    assert list(concepts(tables)) == ["X:1"]


def test_all_graphs_are_read_and_one_id_is_one_concept(tmp_path: Path) -> None:
    problems = Problems()
    other = graph(node("X_1", "uno"), node("Y_1", "imported"), edges=[])
    edges = [{"sub": OBO + "Y_1", "pred": "is_a", "obj": OBO + "X_1"}]
    tables = read(tmp_path, graph(node("X_1", "one"), edges=edges), other, problems=problems)
    assert [name[:2] for name in names(tables)] == [("X:1", "one"), ("X:1", "uno"), ("Y:1", "imported")]
    assert concepts(tables)["Y:1"]["parents"] == ["X:1"]
    assert problems.count == 0


def test_a_node_that_only_says_it_was_merged_is_a_redirect(tmp_path: Path) -> None:
    merged = node("X_9", deprecated=True, basicPropertyValues=[value(OBO + "IAO_0100001", OBO + "X_1")])
    retired = node("X_8", deprecated=True)
    alternate = value(IN_OWL + "hasAlternativeId", "X:9")
    tables = read(tmp_path, graph(node("X_1", "one", basicPropertyValues=[alternate]), merged, retired))
    assert list(concepts(tables)) == ["X:1", "X:8"]
    assert tables.redirects.to_pylist() == [{"old": "X:9", "new": "X:1"}]


def test_what_is_broken_is_left_out(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path,
        graph(
            "no node",
            {"lbl": "no id"},
            node("X_1", "one", synonyms=[{"pred": "hasExactSynonym"}, {"pred": "hasExactSynonym", "val": "uno"}]),
            node("X_2", "two", synonyms=[{"val": "no scope"}], xrefs=[{"value": "x"}, {"val": "Y:2"}]),
            node("X_2", "duo"),
            edges=[{"sub": OBO + "X_1"}, {"sub": OBO + "X_1", "pred": "is_a", "obj": OBO + "X_2"}],
            equivalentNodesSets=[{}],
        ),
        problems=problems,
    )
    assert [name[1] for name in names(tables)] == ["one", "uno", "two", "duo"]
    assert concepts(tables)["X:1"]["parents"] == ["X:2"]
    assert concepts(tables)["X:2"]["xrefs"] == ["Y:2"]
    places = [problem.message.split(" ")[0] for problem in problems.first]
    assert places == [
        "graphs[0].nodes[0]",
        "graphs[0].nodes[1]",
        "graphs[0].nodes[2].meta.synonyms[0]",
        "graphs[0].nodes[3].meta.synonyms[0]",
        "graphs[0].nodes[3].meta.xrefs[0]",
        "graphs[0].nodes[4]",
        "graphs[0].edges[0]",
        "graphs[0].equivalentNodesSets[0]",
    ]
    assert (problems.rejected, problems.repaired) == (7, 1)


def test_malformed_json_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"graphs": [\n {"nodes": [}\n]}', encoding="utf-8")
    with pytest.raises(InputError, match="malformed JSON") as caught:
        FORMAT.read(path, options=ReadOptions(), problems=Problems())
    assert caught.value.line == 2


@pytest.mark.parametrize("content", ["[]", "{}", '{"graphs": {}}', '{"graphs": []}', "1", "[" * 100_000])
def test_other_json_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        FORMAT.read(path, options=ReadOptions(), problems=Problems())


def test_what_is_too_large_to_be_held_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b" " * (3 << 20)))
    monkeypatch.setattr(json_files, "_MAX_BYTES", 2 << 20)
    with pytest.raises(InputError, match=r"more than 2 MB of JSON.*OBO or OWL"):
        FORMAT.read(path, options=ReadOptions(), problems=Problems())


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"graphs":' * 100_000, "[" * 900 + "]" * 900])
def test_depth_does_no_harm(tmp_path: Path, deep: str) -> None:
    path = tmp_path / "x.json"
    graph_ = '{"id": %s, "nodes": [{"id": "X:1", "lbl": "one", "meta": {"synonyms": [{"pred": %s, "val": ""}]}}]}'
    path.write_text(f'{{"graphs": [{graph_ % (deep, deep)}, {deep}]}}', encoding="utf-8")
    with contextlib.suppress(InputError):
        assert names(FORMAT.read(path, options=ReadOptions(), problems=Problems())) == [
            ("X:1", "one", "en", "preferred")
        ]


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    text = json.dumps({"graphs": [graph(node("X_1", "a\U0001f9ecb \\ud800 ..."), node("X_2", "c?d"))]}, indent=1)
    path.write_text(text.replace("c?d", "c\\ud83dd"), encoding="utf-8")
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert [name[1] for name in names(tables)] == ["a\U0001f9ecb \\ud800 ...", "c\ufffdd"]
    assert [problem.line for problem in problems.first] == [text.count("\n", 0, text.index("c?d")) + 1]


REAL = {
    "cl/general_cell_types_upper_slim": (705, 0, 0),
    "cvx/cvx": (287, 4, 0),
    "doid/DO_cancer_slim": (730, 1, 209),
    "doid/doid-2018-07-05": (17_343, 2_399, 1_630),
    "maxo/maxo-base": (1_963, 60, 0),
    "ncit/ncit-disease-2018-06-08": (20_324, 0, 0),
    "ordo/ordo-2_6-2018-07-12": (13_871, 0, 0),
    "pato/pato-base": (2_785, 898, 84),
    "symp/symp": (1_020, 125, 11),
}


@cache
def _real(path: Path) -> Tables:
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    return tables


def _nodes(path: Path) -> list[dict[str, Any]]:
    return [node for graph in json.loads(gzip.decompress(path.read_bytes()))["graphs"] for node in graph["nodes"]]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.large) if REAL[name][0] > 5000 else name for name in REAL]
)
def test_real_files_hold_what_their_nodes_say(data: Path, name: str) -> None:
    path = data / f"native/{name}.json.gz"
    tables, nodes = _real(path), _nodes(path)
    labelled = {node["id"] for node in nodes if "lbl" in node and node.get("type", "CLASS") == "CLASS"}
    retired = {node["id"] for node in nodes if node["id"] in labelled and node.get("meta", {}).get("deprecated")}
    expected = {
        (node["id"].rpartition("/")[2].rpartition("_")[2], " ".join(text.split()))
        for node in nodes
        if node["id"] in labelled
        for text in [node["lbl"], *(synonym["val"] for synonym in node.get("meta", {}).get("synonyms", ()))]
    }
    found = {
        (row["concept_id"].rpartition("/")[2].rpartition(":")[2], row["text"]) for row in tables.names.to_pylist()
    }
    assert (len(labelled), len(retired)) == REAL[name][:2]
    assert (len(tables.concepts), sum(tables.concepts["obsolete"].to_pylist())) == REAL[name][:2]
    assert found == expected
    alternates = sum(
        value["pred"] == IN_OWL + "hasAlternativeId"
        for node in nodes
        if node["id"] in labelled
        for value in node.get("meta", {}).get("basicPropertyValues", ())
    )
    assert len(tables.redirects) == alternates == REAL[name][2]


PAIRS = {
    "symp/symp.obo.gz": "symp/symp",
    "cvx/cvx.obo": "cvx/cvx",
    "doid/DO_cancer_slim.obo.gz": "doid/DO_cancer_slim",
    "maxo/maxo-base.obo.gz": "maxo/maxo-base",
    "cl/general_cell_types_upper_slim.obo.gz": "cl/general_cell_types_upper_slim",
    "pato/pato.obo.gz": "pato/pato-base",
}
# OBO has stanzas for terms that JSON only refers to.
ONLY_IN_OBO = {
    "cl/general_cell_types_upper_slim.obo.gz": "BFO:0000002 BFO:0000003 BFO:0000004 BFO:0000019 BFO:0000020 "
    "CHEBI:36080 COB:0000021 COB:0000022",
}
DIFFERENCES = {
    # The first of two definitions is not the same one; JSON says of both terms that they are equivalent.
    "cl/general_cell_types_upper_slim.obo.gz": [("GO:0110165", "definition"), ("PR:000000001", "xrefs")],
    # The base file keeps the parent that the root has in another ontology.
    "pato/pato.obo.gz": [("PATO:0000001", "parents")],
}


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    return {field: sorted(value) if isinstance(value, list) else value for field, value in row.items()}


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_ontology_in_obo_and_json_is_the_same(data: Path, name: str) -> None:
    as_obo = obo.FORMAT.read(data / "native" / name, options=ReadOptions(), problems=Problems())
    as_json = _real(data / f"native/{PAIRS[name]}.json.gz")
    in_obo, in_json = concepts(as_obo), concepts(as_json)
    assert in_obo.keys() - in_json.keys() == set(ONLY_IN_OBO.get(name, "").split())
    assert in_json.keys() <= in_obo.keys()
    differences = [
        (id_, field)
        for id_, row in sorted(in_json.items())
        for field, value in _comparable(row).items()
        if value != _comparable(in_obo[id_])[field]
    ]
    assert differences == DIFFERENCES.get(name, [])
    assert sorted(names(as_obo)) == sorted(names(as_json))
    assert sorted(as_obo.redirects.to_pylist(), key=str) == sorted(as_json.redirects.to_pylist(), key=str)
    assert as_obo.licence == as_json.licence


@pytest.mark.large
def test_old_imports_are_concepts_with_their_own_namespace(data: Path) -> None:
    tables = _real(data / "native/doid/doid-2018-07-05.json.gz")
    prefixes = [id_.partition(":")[0] for id_ in tables.concepts["id"].to_pylist()]
    assert (prefixes.count("DOID"), prefixes.count("SYMP")) == (11_305, 848)
    assert concepts(tables)["DOID:8718"]["semantic_types"] == ["disease_ontology"]
    assert concepts(tables)["SYMP:0000462"]["semantic_types"] == ["symptoms"]


@pytest.mark.large
def test_orphanet(data: Path) -> None:
    tables = _real(data / "native/ordo/ordo-2_6-2018-07-12.json.gz")
    anaemia = concepts(tables)["Orphanet:124"]
    assert "OMIM:105650" in anaemia["xrefs"]
    assert ("Orphanet:124", "Blackfan-Diamond anemia", "en", "preferred") in names(tables)
    assert tables.version == "2.6"
