"""Looking concepts up, what the server says of itself, and the pages."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink import __version__
from tests.serve.toy import built_index


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_search_completes_names_and_ids(client: TestClient) -> None:
    [first, *_] = get(client, "/search", q="infar")["results"]
    assert (first["concept_id"], first["matched"]["text"], first["matched"]["lang"]) == (
        "T:3",
        "infarto de miocardio",
        "es",
    )
    assert get(client, "/search", q="T:6", index="plain")["results"][0]["matched"] is None
    assert len(get(client, "/search", q="T:", limit=3)["results"]) == 3
    assert get(client, "/search", q="")["results"] == []
    for parameters in ({}, {"q": "a", "limit": 0}, {"q": "a", "limit": "x"}):
        assert client.get("/search", params=parameters).json()["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("typed", "within", "concept_id"),
    [
        ("nfarct", "", "T:3"),
        ("siezure", "", "T:6"),
        ("attack of the heart", "", "T:3"),
        ("t_6", "", "T:6"),
        ("6", "", "T:6"),
        ("T8", "", "T:6"),
        ("i", "disease", "T:3"),
        ("s", "T:6", "T:6"),
    ],
)
def test_concepts_are_searched_in_all_ways(client: TestClient, typed: str, within: str, concept_id: str) -> None:
    results = get(client, "/search", q=typed, within=within)["results"]
    assert concept_id in [each["concept_id"] for each in results[:2]]


def test_a_search_stays_in_its_branch(client: TestClient) -> None:
    below = {"T:2", "T:3", "T:4"}
    for typed in ("e", "seizure", "myocardial"):
        found = {each["concept_id"] for each in get(client, "/search", q=typed, within="T:2", limit=50)["results"]}
        assert found <= below, typed
    assert {part["id"] for part in get(client, "/indexes")["indexes"][0]["parts"]} >= {"disease", "T:1"}
    assert client.get("/search", params={"q": "e", "within": "nothing"}).json()["code"] == "unknown_type"


def test_a_concept_is_described(client: TestClient) -> None:
    concept = get(client, "/concepts/T:3")
    assert concept["names"]["es"] == [{"text": "infarto de miocardio", "kind": "exact"}]
    assert concept["names"]["en"][0] == {"text": "Myocardial infarction", "kind": "preferred"}
    assert concept["parents"] == [{"id": "T:2", "name": "Heart disease"}]
    assert (concept["xrefs"], concept["semantic_types"]) == (["ICD10:I21", "UMLS:C0027051"], ["disease"])
    children = get(client, "/concepts/T:2")
    assert children["children"] == [
        {"id": "T:3", "name": "Myocardial infarction"},
        {"id": "T:4", "name": "Mitral insufficiency"},
    ]
    assert children["children_count"] == 2


def test_former_ids_lead_to_what_they_stand_for(client: TestClient) -> None:
    assert get(client, "/concepts/T:8")["id"] == "T:8"
    answer = client.get("/concepts/T:none")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert client.get("/concepts/a/../../etc/passwd").status_code == 404


def test_the_server_says_what_it_serves(client: TestClient) -> None:
    health = get(client, "/health")
    assert health == {"status": "ok", "version": __version__, "indexes": ["toy", "plain"]}
    toy, plain = get(client, "/indexes")["indexes"]
    assert (toy["concepts"], toy["names"]) == (len(built_index().vocabulary), built_index().vocabulary.name_count)
    assert toy["semantic_types"]["disease"] == 4
    assert toy["languages"]["es"] == 1
    assert (toy["match_confidence"], plain["match_confidence"]) == (0.9, None)


def test_metrics_count_requests_and_mentions(client: TestClient) -> None:
    def count(line: str) -> float:
        found = re.search(rf"^{re.escape(line)} (\S+)$", client.get("/metrics").text, re.M)
        return float(found[1]) if found else 0

    requests = 'nymlink_requests_total{method="POST",route="/link",status="200"}'
    before = count(requests), count('nymlink_mentions_total{index="toy"}')
    client.post("/link", json={"mentions": ["a", "b", "c"]})
    client.post("/reconcile/toy", data={"queries": '{"q": {"query": "MI"}}'})
    assert (count(requests), count('nymlink_mentions_total{index="toy"}')) == (before[0] + 1, before[1] + 4)
    # Whatever path was asked for, it is not in the metrics.
    client.get("/patients/john-doe")
    text = client.get("/metrics").text
    assert "john-doe" not in text
    assert 'route="other",status="404"' in text
    assert 'nymlink_waiting_mentions{index="toy"} 0.0' in text
    if sys.platform == "linux":
        assert "process_resident_memory_bytes" in text


def test_every_route_is_described_with_an_example(client: TestClient) -> None:
    api = get(client, "/openapi.json")
    paths = {f"/v1{path}" for path in ("/link", "/annotate", "/search", "/concepts/{concept_id}", "/indexes")}
    assert paths | {"/health", "/metrics", "/reconcile/{name}"} <= set(api["paths"])
    example = api["components"]["schemas"]["LinkRequest"]["examples"][0]
    answer = client.post("/link", json=example)
    shown = api["paths"]["/v1/link"]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert answer.json()["links"][0].keys() == shown["links"][0].keys()
    docs = client.get("/docs").text
    assert "POST /v1/link" in docs
    assert "siezures" in docs


PAGES = ["/", "/names", "/table", "/docs", "/concept/toy/T:3", "/reconcile/toy/preview?id=T:3"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_nothing_from_elsewhere(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r'<script(?![^>]*\ssrc=| type="application/json")|<style|\son\w+=|\sstyle=', answer.text)
    for place in re.findall(r'(?:src|href)="([^"]*)"', answer.text):
        assert place.startswith(("/", "#", "http://testserver/")), place
        if "/static/" in place:
            assert client.get(place).status_code == 200


def test_pages_escape_what_they_show(client: TestClient) -> None:
    text = client.get("/concept/toy/T:3").text
    assert "&lt;b&gt;cells" in text
    assert "<b>cells" not in text
    assert client.get("/concept/toy/<script>").status_code == 404
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/%2e%2e/templates.py").status_code == 404


@pytest.mark.parametrize("path", PAGES[:-1])
def test_pages_answer_what_only_asks_for_their_headers(client: TestClient, path: str) -> None:
    answer = client.head(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/concept/toy/T:99", "/concept/nowhere/T:3", "/concept/toy/%3Cb%3E"])
def test_a_concept_that_nobody_knows_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1" in answer.text
    assert 'href="/names"' in answer.text
    assert "<b>" not in answer.text


def test_a_browser_gets_a_page_at_an_unknown_address_and_a_program_json(client: TestClient) -> None:
    for path in ("/nowhere", "/table/none", "/projects/none/terms", "/concepts/nobody:1"):
        page = client.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8"), path
        assert "<h1" in page.text
        assert client.get(path).json()["status"] == 404


def test_the_api_has_a_version_and_answers_without_it(client: TestClient) -> None:
    for path, body in (("/link", {"mentions": ["heart attack"]}), ("/annotate", {"text": "No seizure."})):
        versioned = client.post(f"/v1{path}", json=body)
        assert versioned.status_code == 200
        assert versioned.json() == client.post(path, json=body).json()
    for path in ("/search?q=heart", "/concepts/T:3", "/indexes"):
        assert client.get(f"/v1{path}").json() == client.get(path).json()
    assert client.get("/v1/projects").json()["code"] == "no_projects"
    for path in ("/v1/health", "/v1/reconcile/toy", "/v2/link"):
        assert client.get(path).status_code == 404
