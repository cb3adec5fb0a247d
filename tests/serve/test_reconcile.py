"""Reconciliation: what is matched and why, in both versions; every answer is valid by the official schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.linking.linker import Linker
from nymlink.serve.serve_settings import Limits
from tests.serve.toy import built_index, serving

Valid = Callable[[str, str, Any], None]
VERSIONS = ("0.2", "1.0-draft")


def classic(client: TestClient, index: str = "toy", **query: Any) -> list[dict[str, Any]]:
    answer = client.post(f"/reconcile/{index}", data={"queries": json.dumps({"q0": query})})
    assert answer.status_code == 200, answer.text
    result: list[dict[str, Any]] = answer.json()["q0"]["result"]
    return result


def draft(client: TestClient, *conditions: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    answer = client.post("/reconcile/toy/match", json={"queries": [{"conditions": conditions, **query}]})
    assert answer.status_code == 200, answer.text
    candidates: list[dict[str, Any]] = answer.json()["results"][0]["candidates"]
    return candidates


def name(value: Any, **more: Any) -> dict[str, Any]:
    return {"matchType": "name", "propertyValue": value, **more}


def prop(property_id: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"matchType": "property", "propertyId": property_id, "propertyValue": value, **more}


def ids(candidates: list[dict[str, Any]]) -> list[str]:
    return [candidate["id"] for candidate in candidates]


def features(candidate: dict[str, Any]) -> dict[str, Any]:
    return {feature["id"]: feature["value"] for feature in candidate["features"]}


def test_candidates_are_those_of_a_linker(client: TestClient) -> None:
    link = Linker(built_index(), top_k=3).link("hart attack")
    found = classic(client, query="hart attack", limit=3)
    assert ids(found) == [candidate.concept_id for candidate in link.candidates]
    assert [each["score"] for each in found] == pytest.approx([100 * each.score for each in link.candidates])
    first = features(found[0])
    assert first["confidence"] == link.confidence
    assert first.items() >= link.candidates[0].parts.items()
    assert "confidence" not in features(found[1])
    assert {"id": "T:2", "name": "Heart disease"} in found[0]["type"]
    assert {"id": "disease", "name": "disease"} in found[0]["type"]
    assert found[0]["description"].startswith("Death of heart muscle <b>")


def test_only_what_is_sure_is_matched(client: TestClient) -> None:
    threshold = next(
        confidence for confidence, precision in built_index().calibration["curve"] if precision >= 0.94
    )  # type: ignore[index]
    for query in ("heart attack", "MI", "hart attack", "Seizure", "seizures", "nothing of that kind", "infarto"):
        link = Linker(built_index()).link(query)
        found = classic(client, query=query)
        sure = link.confidence is not None and link.confidence >= threshold
        assert [each["match"] for each in found] == [sure and place == 0 for place in range(len(found))], query
    assert classic(client, query="heart attack")[0]["match"]
    assert not classic(client, query="MI")[0]["match"]
    # Without a calibration nothing is sure.
    assert not classic(client, index="plain", query="heart attack")[0]["match"]


@pytest.mark.parametrize("query", ["T:6", "T:8"])
def test_an_id_is_its_concept(client: TestClient, query: str) -> None:
    for found in (
        classic(client, query=query),
        draft(client, name(query)),
        draft(client, {"matchType": "id", "propertyValue": query}),
    ):
        assert (found[0]["id"], found[0]["score"], found[0]["match"]) == ("T:6", 100, True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"type": "finding"}, ["T:6", "T:7"]),
        ({"type": "T:6"}, ["T:6", "T:7"]),
        ({"type": "T:2"}, []),
        ({"type": "no such type"}, []),
        ({"type": ["T:2", "T:5"]}, ["T:6", "T:7"]),
        ({"type": ["T:2", "T:5"], "type_strict": "all"}, []),
        ({"type": ["T:6", "finding"], "type_strict": "all"}, ["T:6", "T:7"]),
    ],
)
def test_types_choose_among_candidates(client: TestClient, query: dict[str, Any], expected: list[str]) -> None:
    found = ids(classic(client, query="seizure", **query))
    assert [each for each in found if each in ("T:6", "T:7")] == expected
    if isinstance(query["type"], str):
        assert ids(draft(client, name("seizure"), **query)) == found


def test_a_type_that_should_be_counts_as_much_as_the_name(client: TestClient) -> None:
    found = classic(client, query="seizure", type="disease", type_strict="should")
    by_id = {each["id"]: each for each in found}
    assert by_id["T:6"]["score"] == 50
    assert not by_id["T:6"]["match"]
    assert features(by_id["T:6"])["type"] is False
    assert classic(client, query="seizure", type="finding", type_strict="should")[0]["score"] == 100


@pytest.mark.parametrize(
    ("property_id", "value", "met"),
    [
        ("xrefs", "ICD10:I34", ["T:4"]),
        ("xrefs", "icd-10:I34", ["T:4"]),
        ("parents", "T:2", ["T:3", "T:4"]),
        ("parents", "heart disease", ["T:3", "T:4"]),
        ("parents", {"id": "T:2", "name": "Heart disease"}, ["T:3", "T:4"]),
        ("synonyms", "Infarto de Miocardio", ["T:3"]),
        ("language", "es", ["T:3"]),
        ("definition", "heart muscle", ["T:3"]),
        ("children", "T:3", []),
        ("colour", "blue", []),
    ],
)
def test_properties_are_conditions(client: TestClient, property_id: str, value: Any, met: list[str]) -> None:
    queries = [
        classic(client, query="MI", properties=[{"pid": property_id, "v": value}]),
        draft(client, name("MI"), prop(property_id, value)),
    ]
    for found in queries:
        by_id = {each["id"]: features(each)[f"{property_id}_1"] for each in found}
        assert by_id["T:3"] == ("T:3" in met)
        assert by_id["T:4"] == ("T:4" in met)
        if len(met) == 1:
            assert (found[0]["id"], found[0]["score"]) == (met[0], 100)
    required = draft(client, name("MI"), prop(property_id, value, required=True))
    assert sorted(each for each in ids(required) if each in ("T:3", "T:4")) == met


def test_values_are_any_or_all_or_none(client: TestClient) -> None:
    for quantifier, expected in (("any", {"T:3"}), ("all", set()), ("none", {"T:4"})):
        values = ["UMLS:C0027051", 5, True]
        found = draft(client, name("MI"), prop("xrefs", values, matchQuantifier=quantifier, required=True))
        assert set(ids(found)) & {"T:3", "T:4"} == expected


def test_properties_alone_lead_to_concepts(client: TestClient) -> None:
    [found] = classic(client, properties=[{"pid": "xrefs", "v": "UMLS:C0036572"}])
    assert (found["id"], found["score"]) == ("T:6", 100)
    assert set(ids(draft(client, prop("parents", "T:2")))) == {"T:3", "T:4"}
    # A cross-reference leads to its concept even where the name is another's.
    found, *_ = classic(client, query="zzzz", properties=[{"pid": "xrefs", "v": "UMLS:C0036572"}])
    assert (found["id"], found["match"]) == ("T:6", False)
    assert 50 <= found["score"] < 60


def test_ids_restrict_candidates(client: TestClient) -> None:
    assert ids(draft(client, name("MI"), {"matchType": "id", "propertyValue": ["T:4", "nothing"]})) == ["T:4"]


def test_all_answers_are_valid(client: TestClient, valid: Valid) -> None:
    for index in ("toy", "plain"):
        base = f"/reconcile/{index}"
        valid("0.2", "manifest", client.get(base).json())
        valid("1.0-draft", "manifest", client.get(f"{base}/1.0-draft").json())
        queries = {
            "a": {"query": "MI", "type": "disease", "properties": [{"pid": "xrefs", "v": ["ICD10:I21"]}]},
            "b": {"query": "zzzz"},
            "c": {"query": ""},
        }
        valid("0.2", "reconciliation-query-batch", queries)
        valid(
            "0.2", "reconciliation-result-batch", client.get(base, params={"queries": json.dumps(queries)}).json()
        )
        batch = {"queries": [{"conditions": [name("MI"), prop("language", "es")], "lang": "en", "limit": 2}]}
        valid("1.0-draft", "reconciliation-query-batch", batch)
        valid("1.0-draft", "reconciliation-result-batch", client.post(f"{base}/match", json=batch).json())
        wanted = {
            "ids": ["T:3", "T:8", "unknown"],
            "properties": [
                {"id": each, "settings": {"limit": "1"}} if each == "synonyms" else {"id": each}
                for each in ("parents", "children", "xrefs", "synonyms", "language", "definition")
            ],
        }
        extended = client.post(base, data={"extend": json.dumps(wanted)}).json()
        valid("0.2", "data-extension-response", extended)
        assert extended["rows"]["T:3"]["parents"] == [{"id": "T:2", "name": "Heart disease"}]
        assert extended["rows"]["T:3"]["synonyms"] == [{"str": "Myocardial infarction"}]
        assert extended["rows"]["T:8"]["children"] == [{"id": "T:7", "name": "Focal seizure"}]
        assert not any(extended["rows"]["unknown"].values())
        drafted = client.post(f"{base}/extend", json=wanted).json()
        valid("1.0-draft", "data-extension-response", drafted)
        assert {
            row["id"]: {each["id"]: each["values"] for each in row["properties"]} for row in drafted["rows"]
        } == extended["rows"]
        for version, root in (("0.2", base), ("1.0-draft", base), ("1.0-draft", f"{base}/1.0-draft")):
            for what, plural in (("entity", "entities"), ("type", "types"), ("property", "properties")):
                for prefix in ("", "s", "T:3", "parents", "dis"):
                    found = client.get(f"{root}/suggest/{what}", params={"prefix": prefix, "limit": 3}).json()
                    valid(version, f"suggest-{plural}-response", found)
                    assert len(found["result"]) <= 3
            proposed = client.get(f"{root}/extend/propose", params={"type": "disease", "limit": 2}).json()
            valid(version, "data-extension-property-proposal", proposed)
            assert (len(proposed["properties"]), proposed["type"], proposed["limit"]) == (2, "disease", 2)


@pytest.mark.parametrize(
    ("what", "prefix", "expected"),
    [
        ("entity", "T:6", ["T:6"]),
        ("entity", "T:8", ["T:6"]),
        ("entity", "heart", ["T:3", "T:2"]),
        ("entity", "infarto", ["T:3"]),
        ("type", "T:2", ["T:2"]),
        ("type", "T:7", []),
        ("type", "finding", ["finding", "T:5"]),
        ("type", "disord", ["T:1"]),
        ("property", "parents", ["parents"]),
        ("property", "cross", ["xrefs"]),
    ],
)
def test_suggestions_are_completions(client: TestClient, what: str, prefix: str, expected: list[str]) -> None:
    result = client.get(f"/reconcile/toy/suggest/{what}", params={"prefix": prefix}).json()["result"]
    assert ids(result) == expected
    if prefix == "T:2":
        assert result[0]["broader"] == [{"id": "T:1", "name": "Disorder"}]


def test_suggestions_go_on_and_are_of_a_type(client: TestClient) -> None:
    def suggested(**more: Any) -> list[str]:
        return ids(client.get("/reconcile/toy/suggest/entity", params={"prefix": "T:", **more}).json()["result"])

    assert suggested() == [f"T:{number}" for number in range(8)]
    assert suggested(limit=3, offset=2) == suggested(limit=3, cursor=2) == ["T:2", "T:3", "T:4"]
    assert suggested(type="T:5") == ["T:5", "T:6", "T:7"]
    assert suggested(type="nothing") == []


def test_a_bad_query_fails_alone(client: TestClient, valid: Valid) -> None:
    queries: dict[str, Any] = {
        "a": {"query": "Seizure"},
        "b": {"query": 7, "limit": 0},
        "c": ["x"],
        "d": {"query": "MI"},
    }
    answer = client.post("/reconcile/toy", data={"queries": json.dumps(queries)})
    found = answer.json()
    valid("0.2", "reconciliation-result-batch", found)
    alone = client.post("/reconcile/toy", data={"queries": json.dumps({"a": queries["a"]})}).json()
    assert (answer.status_code, list(found), found["a"]) == (200, list(queries), alone["a"])
    assert [key for key, each in found.items() if each["result"]] == ["a", "d"]
    assert [key for key, each in found.items() if "error" in each] == ["b", "c"]
    assert "limit" in found["b"]["error"]
    drafted: dict[str, Any] = {"queries": [{"conditions": []}, {"conditions": [name("MI")]}, None]}
    answered = client.post("/reconcile/toy/match", json=drafted).json()
    valid("1.0-draft", "reconciliation-result-batch", answered)
    assert [each["candidates"] != [] for each in answered["results"]] == [False, True, False]
    for refused in (
        client.post("/reconcile/toy", data={"queries": json.dumps({"b": queries["b"]})}),
        client.post("/reconcile/toy/match", json={"queries": [{"conditions": []}]}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_query")


def test_large_batches_are_refused() -> None:
    with serving(limits=Limits(queries=3)) as small:
        assert small.get("/reconcile/toy").json()["batchSize"] == 3
        four = {str(number): {"query": "MI"} for number in range(4)}
        answers = (
            small.post("/reconcile/toy", data={"queries": json.dumps(four)}),
            small.post("/reconcile/toy/match", json={"queries": [{"conditions": [name("MI")]}] * 4}),
        )
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
            (413, "too_many_queries")
        ] * 2


@pytest.mark.parametrize("query", ["T:6", "T:8"])
def test_previews_and_flyouts_escape_what_they_show(client: TestClient, query: str) -> None:
    answer = client.get("/reconcile/toy/preview", params={"id": "T:3"})
    assert answer.headers["content-type"].startswith("text/html")
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "&lt;b&gt;cells" in answer.text
    flyout = client.get("/reconcile/toy/flyout/entity", params={"id": "T:3"}).json()
    assert flyout["id"] == "T:3"
    assert "&lt;b&gt;cells" in flyout["html"]
    assert client.get("/reconcile/toy/preview", params={"id": query}).status_code == 200
    for what, known in (("type", "disease"), ("type", "T:2"), ("property", "xrefs")):
        assert client.get(f"/reconcile/toy/flyout/{what}", params={"id": known}).json()["id"] == known
        assert client.get(f"/reconcile/toy/flyout/{what}", params={"id": "none"}).status_code == 404


def test_jsonp_clients_get_a_script(client: TestClient) -> None:
    plain = client.get("/reconcile/toy")
    script = client.get("/reconcile/toy", params={"callback": "jQuery1_2"})
    assert script.headers["content-type"].startswith("application/javascript")
    assert script.text == f"/**/jQuery1_2({plain.text});"
    for path in ("suggest/entity", "flyout/entity", "extend/propose"):
        answer = client.get(f"/reconcile/toy/{path}", params={"callback": "f", "prefix": "s", "id": "T:3"})
        assert answer.text.startswith("/**/f({")
    answer = client.get("/reconcile/toy", params={"callback": "alert(1)//"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_callback")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"queries": "{"}, "invalid_json"),
        ({"queries": "[" * 100_000}, "invalid_json"),
        ({"queries": "[]"}, "invalid_query"),
        ({"queries": '{"q": {"query": "a", "limit": -1}}'}, "invalid_query"),
        ({"queries": '{"q": {"query": "a", "limit": 1e999}}'}, "invalid_query"),
        ({"queries": '{"q": {"query": 3}}'}, "invalid_query"),
        ({"extend": '{"ids": 3}'}, "invalid_query"),
        ({"extend": '{"ids": ["T:3"], "properties": [{"id": "colour"}]}'}, "unknown_property"),
        ({"other": "x"}, "no_queries"),
        ({}, "no_queries"),
    ],
)
def test_bad_queries_are_refused(client: TestClient, data: dict[str, str], code: str) -> None:
    answer = client.post("/reconcile/toy", data=data)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_form_that_is_no_text_is_refused(client: TestClient) -> None:
    answer = client.post("/reconcile/toy", content=b"queries=\xff")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_form")
    assert client.get("/reconcile/other").json()["code"] == "unknown_index"
