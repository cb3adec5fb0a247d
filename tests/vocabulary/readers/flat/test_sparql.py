"""Results of queries in all forms of Wikidata's query service hold the same vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

WIKI = "http://www.wikidata.org/entity/"
ROWS = [
    ("Q12152", "myocardial infarction", "heart attack, MI", "interruption of blood, to the heart", "Q389735"),
    ("Q12202", "stroke", "", "", ""),
]
VARIABLES = ("item", "itemLabel", "itemAltLabel", "itemDescription", "parent")


def _json() -> str:
    bindings = []
    for item, label, alternatives, description, parent in ROWS:
        texts = {"itemLabel": label, "itemAltLabel": alternatives, "itemDescription": description}
        bindings.append(
            {"item": {"type": "uri", "value": WIKI + item}}
            | {key: {"xml:lang": "en", "type": "literal", "value": value} for key, value in texts.items() if value}
            | ({"parent": {"type": "uri", "value": WIKI + parent}} if parent else {})
        )
    return json.dumps({"head": {"vars": VARIABLES}, "results": {"bindings": bindings}}, indent=1)


def _plain_json() -> str:
    rows = [(WIKI + item, label, alt, about, parent and WIKI + parent) for item, label, alt, about, parent in ROWS]
    return json.dumps([{key: value for key, value in zip(VARIABLES, row, strict=True) if value} for row in rows])


def _marked() -> str:
    lines = ["\t".join(f"?{name}" for name in VARIABLES)]
    for item, *texts, parent in ROWS:
        cells = [f'"{text}"@en' if text else "" for text in texts]
        lines.append("\t".join([f"<{WIKI}{item}>", *cells, f"<{WIKI}{parent}>" if parent else ""]))
    return "\n".join(lines)


def _plain(delimiter: str) -> str:
    lines = [delimiter.join(VARIABLES)]
    for item, *texts, parent in ROWS:
        cells = [f'"{text}"' if delimiter in text else text for text in texts]
        lines.append(delimiter.join([WIKI + item, *cells, parent and WIKI + parent]))
    return "\r\n".join(lines)


def read(folder: Path, text: str) -> Tables:
    path = folder / "query"
    path.write_text(text, encoding="utf-8", newline="")
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == "sparql"
    problems = Problems()
    tables = reader.read(path, options=ReadOptions(), problems=problems)
    assert problems.to_dict()["first"] == []
    return tables


@pytest.mark.parametrize("text", [_json(), _plain_json(), _marked(), _plain("\t"), _plain(",")])
def test_all_forms(tmp_path: Path, text: str) -> None:
    tables = read(tmp_path, text)
    assert [(row["id"], row["definition"], row["parents"]) for row in tables.concepts.to_pylist()] == [
        ("Wikidata:Q12152", "interruption of blood, to the heart", ["Wikidata:Q389735"]),
        ("Wikidata:Q12202", None, []),
    ]
    assert [tuple(row.values()) for row in tables.names.to_pylist()] == [
        ("Wikidata:Q12152", "myocardial infarction", "en", "preferred"),
        ("Wikidata:Q12152", "heart attack", "en", "exact"),
        ("Wikidata:Q12152", "MI", "en", "exact"),
        ("Wikidata:Q12202", "stroke", "en", "preferred"),
    ]


def test_the_variable_of_concepts_may_have_an_underscore(tmp_path: Path) -> None:
    text = f'?drug_class\t?drug_classLabel\n<{WIKI}Q1>\t"statin"@en\n'
    assert read(tmp_path, text).names["text"].to_pylist() == ["statin"]


def test_a_row_for_each_label_with_its_language(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        "?item\t?label\t?altLabel\n"
        f'<{WIKI}Q1>\t"heart attack"@en\t"MI, acute"@en\n<{WIKI}Q1>\t"Herzinfarkt"@de\t\n<{WIKI}Q2>\t"Q2"\t\n'
        f'<http://purl.obolibrary.org/obo/HP_3>\t"a \\"b\\""@pt-BR\t\n',
    )
    assert tables.concepts["id"].to_pylist() == ["Wikidata:Q1", "Wikidata:Q2", "HP:3"]
    assert [tuple(row.values()) for row in tables.names.to_pylist()] == [
        ("Wikidata:Q1", "heart attack", "en", "preferred"),
        ("Wikidata:Q1", "MI, acute", "en", "exact"),
        ("Wikidata:Q1", "Herzinfarkt", "de", "preferred"),
        ("HP:3", 'a "b"', "pt-BR", "preferred"),
    ]


def test_sssom_in_json(tmp_path: Path) -> None:
    path = tmp_path / "mappings"
    mapping = {"subject_label": "heart attack", "predicate_id": "skos:exactMatch", "object_id": "MESH:D009203"}
    document = {
        "mapping_set_id": "https://example.org/m",
        "license": "CC0",
        "mapping_set_version": "2",
        "mappings": [
            {"subject_id": "X:1", "confidence": 0.9, **mapping},
            {"subject_id": "X:2", "predicate_id": "skos:exactMatch"},
        ],
        "@context": {"X": "http://example.org/X_"},
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == "sssom"
    problems = Problems()
    tables = reader.read(path, options=ReadOptions(), problems=problems)
    assert [problem.message for problem in problems.first] == ["a mapping without object_id"]
    assert [(row["id"], row["xrefs"]) for row in tables.concepts.to_pylist()] == [
        ("X:1", ["MESH:D009203"]),
        ("MESH:D009203", ["X:1"]),
    ]
    assert (tables.version, tables.licence) == ("2", "CC0")
