"""FHIR terminology: resources that the models of fhir.resources accept, and what is read of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

SNOMED = "http://snomed.info/sct"
CODE_SYSTEM: dict[str, Any] = {
    "resourceType": "CodeSystem",
    "url": "http://example.org/fhir/CodeSystem/lab-kinds",
    "version": "2.1",
    "name": "LabKinds",
    "language": "en",
    "status": "active",
    "content": "complete",
    "hierarchyMeaning": "is-a",
    "property": [
        {"code": "above", "uri": "http://hl7.org/fhir/concept-properties#parent", "type": "code"},
        {"code": "status", "uri": "http://hl7.org/fhir/concept-properties#status", "type": "code"},
        {"code": "inactive", "uri": "http://hl7.org/fhir/concept-properties#inactive", "type": "boolean"},
        {"code": "replacedBy", "type": "code"},
    ],
    "concept": [
        {
            "code": "blood",
            "display": "Blood test",
            "definition": "A test of blood.",
            "designation": [
                {"language": "de-AT", "value": "Bluttest"},
                {"use": {"system": "http://example.org/use", "code": "abbreviation"}, "value": "BT"},
                {"use": {"system": SNOMED, "code": "900000000000003001"}, "value": "Blood test (procedure)"},
            ],
            "concept": [
                {
                    "code": "cbc",
                    "display": "Complete blood count",
                    "concept": [{"code": "wbc", "display": "White cells"}],
                }
            ],
        },
        {"code": "esr", "display": "Sedimentation rate", "property": [{"code": "above", "valueCode": "blood"}]},
        {
            "code": "old",
            "display": "Old test",
            "property": [{"code": "status", "valueCode": "retired"}, {"code": "replacedBy", "valueCode": "esr"}],
        },
        {"code": "gone", "display": "Gone test", "property": [{"code": "inactive", "valueBoolean": True}]},
    ],
}
VALUE_SET: dict[str, Any] = {
    "resourceType": "ValueSet",
    "url": "http://example.org/fhir/ValueSet/findings",
    "status": "active",
    "compose": {
        "include": [
            {
                "system": SNOMED,
                "concept": [
                    {
                        "code": "22298006",
                        "display": "Myocardial infarction",
                        "designation": [{"language": "es", "value": "infarto de miocardio"}],
                    }
                ],
            },
            {"system": "http://loinc.org", "concept": [{"code": "718-7", "display": "Hemoglobin"}]},
        ]
    },
    "expansion": {
        "timestamp": "2024-01-01T00:00:00Z",
        "contains": [
            {
                "system": SNOMED,
                "code": "22298006",
                "display": "Heart attack",
                "contains": [
                    {
                        "system": SNOMED,
                        "code": "57054005",
                        "display": "Acute myocardial infarction",
                        "inactive": True,
                    }
                ],
            },
            {
                "abstract": True,
                "display": "a heading",
                "contains": [{"system": "urn:oid:1.2.3", "code": "A", "display": "a"}],
            },
        ],
    },
}


def concept_map(release: str) -> dict[str, Any]:
    r5 = release == "R5"
    same = {"relationship": "equivalent"} if r5 else {"equivalence": "equivalent"}
    wider = {"relationship": "source-is-narrower-than-target"} if r5 else {"equivalence": "wider"}
    nothing = {"noMap": True} if r5 else {"target": [{"equivalence": "unmatched"}]}
    return {
        "resourceType": "ConceptMap",
        "url": "http://example.org/fhir/ConceptMap/x",
        "status": "active",
        "group": [
            {
                "source": "http://example.org/fhir/CodeSystem/lab-kinds",
                "target": "http://hl7.org/fhir/sid/icd-10-cm|2025",
                "element": [
                    {"code": "ami", "display": "acute MI", "target": [{"code": "I21", "display": "AMI", **same}]},
                    {"code": "mi", "display": "MI", "target": [{"code": "I21", "display": "AMI", **wider}]},
                    {"code": "no", "display": "nothing", **nothing},
                ],
            }
        ],
    }


def read(folder: Path, resource: Any, problems: Problems | None = None) -> Tables:
    path = folder / "anything"
    path.write_text(json.dumps(resource), encoding="utf-8")
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == "fhir"
    return reader.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def names(tables: Tables) -> set[tuple[str, str, str, str]]:
    return {(row["concept_id"], row["text"], row["lang"], row["kind"]) for row in tables.names.to_pylist()}


def concepts(tables: Tables) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in tables.concepts.to_pylist()}


@pytest.mark.parametrize("release", ["R4B", "R5"])
def test_the_fixtures_are_valid_fhir(release: str) -> None:
    pytest.importorskip("fhir.resources")
    base = "fhir.resources.R4B" if release == "R4B" else "fhir.resources"
    for resource in (CODE_SYSTEM, VALUE_SET, concept_map(release)):
        module = pytest.importorskip(f"{base}.{resource['resourceType'].lower()}")
        getattr(module, resource["resourceType"]).model_validate(resource)


def test_code_system(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, CODE_SYSTEM, problems)
    assert (problems.count, tables.version) == (0, "2.1")
    read_concepts = concepts(tables)
    assert len(read_concepts) == json.dumps(CODE_SYSTEM).count('"display"')
    assert read_concepts["lab-kinds:wbc"]["parents"] == ["lab-kinds:cbc"]
    assert read_concepts["lab-kinds:esr"]["parents"] == ["lab-kinds:blood"]
    assert read_concepts["lab-kinds:blood"]["definition"] == "A test of blood."
    assert read_concepts["lab-kinds:blood"]["semantic_types"] == ["procedure"]
    assert {id_: row["replaced_by"] for id_, row in read_concepts.items() if row["obsolete"]} == {
        "lab-kinds:old": ["lab-kinds:esr"],
        "lab-kinds:gone": [],
    }
    assert names(tables) >= {
        ("lab-kinds:blood", "Blood test", "en", "preferred"),
        ("lab-kinds:blood", "Bluttest", "de-AT", "exact"),
        ("lab-kinds:blood", "BT", "en", "abbreviation"),
    }


def test_a_supplement_adds_names_to_the_system_it_supplements(tmp_path: Path) -> None:
    supplement = {
        "resourceType": "CodeSystem",
        "url": "http://example.org/german",
        "content": "supplement",
        "supplements": "http://loinc.org|2.78",
        "concept": [{"code": "718-7", "designation": [{"language": "de", "value": "Hämoglobin"}]}],
    }
    assert names(read(tmp_path, supplement)) == {("LOINC:718-7", "Hämoglobin", "de", "exact")}


def test_value_set(tmp_path: Path) -> None:
    tables = read(tmp_path, VALUE_SET)
    assert names(tables) == {
        ("SNOMEDCT:22298006", "Heart attack", "en", "preferred"),
        ("SNOMEDCT:22298006", "Myocardial infarction", "en", "exact"),
        ("SNOMEDCT:22298006", "infarto de miocardio", "es", "exact"),
        ("SNOMEDCT:57054005", "Acute myocardial infarction", "en", "preferred"),
        ("LOINC:718-7", "Hemoglobin", "en", "preferred"),
        ("urn:oid:1.2.3:A", "a", "en", "preferred"),
    }
    inactive = concepts(tables)["SNOMEDCT:57054005"]
    assert (inactive["obsolete"], inactive["parents"]) == (True, ["SNOMEDCT:22298006"])


def test_concepts_that_a_value_set_does_not_list_are_reported(tmp_path: Path) -> None:
    problems = Problems()
    include = [{"system": SNOMED, "filter": []}, {"system": SNOMED, "concept": [{"code": "1", "display": "one"}]}]
    read(tmp_path, {"resourceType": "ValueSet", "compose": {"include": include}}, problems)
    [problem] = problems.first
    assert "include[0]" in problem.message
    assert "$expand" in problem.message


@pytest.mark.parametrize("release", ["R4B", "R5"])
def test_concept_map(tmp_path: Path, release: str) -> None:
    problems = Problems()
    tables = read(tmp_path, concept_map(release), problems)
    assert problems.count == 0
    assert {id_: row["xrefs"] for id_, row in concepts(tables).items()} == {
        "lab-kinds:ami": ["ICD10CM:I21"],
        "lab-kinds:mi": [],
        "lab-kinds:no": [],
        "ICD10CM:I21": [],
    }


def test_bundles_and_lines_of_resources(tmp_path: Path) -> None:
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [{"resource": {"resourceType": "Patient"}}, {"resource": CODE_SYSTEM}, {"resource": VALUE_SET}],
    }
    together = names(read(tmp_path, bundle))
    assert together == names(read(tmp_path, CODE_SYSTEM)) | names(read(tmp_path, VALUE_SET))
    path = tmp_path / "lines"
    path.write_text(f"{json.dumps(CODE_SYSTEM)}\n{json.dumps(VALUE_SET)}\n", encoding="utf-8")
    lines = find_format(VOCABULARY_FORMATS, path).read(path, options=ReadOptions(), problems=Problems())
    assert names(lines) == together
    with pytest.raises(InputError, match="no CodeSystem"):
        read(tmp_path, {"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient"}}]})


def test_systems_with_the_same_last_part_stay_apart(tmp_path: Path) -> None:
    groups = [
        {"source": f"http://{host}/CodeSystem/kinds", "element": [{"code": "1", "display": name}]}
        for host, name in (("one.org", "Maize"), ("two.org", "Gout"))
    ]
    tables = read(tmp_path, {"resourceType": "ConceptMap", "status": "active", "group": groups})
    assert list(zip(tables.names["concept_id"].to_pylist(), tables.names["text"].to_pylist(), strict=True)) == [
        ("kinds:1", "Maize"),
        ("http://two.org/CodeSystem/kinds#1", "Gout"),
    ]
    assert tables.prefixes == {"kinds": "http://one.org/CodeSystem/kinds#"}
