"""Projects over HTTP: made, filled, linked, reviewed, exported, learned from."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from pathlib import Path
from threading import Semaphore
from typing import Any, TextIO
from urllib.parse import unquote

import pytest
from fastapi.testclient import TestClient

from nymlink.core.errors import InputError
from nymlink.linking.linker import Linker
from nymlink.project.project import Project
from nymlink.project.rows import NotSavedError
from nymlink.serve.batching import BatchingLinker, OverloadedError
from tests.serve.projects import FILE, HEART, SEIZURE, TABLE, decided, make, wait_for, wait_for_links
from tests.serve.toy import built_index, serving


def test_a_review_from_beginning_to_end(api: TestClient) -> None:
    assert api.get("/projects").json() == {"projects": []}
    shown = api.post("/projects/preview", content=TABLE, headers=FILE).json()
    assert (shown["column"], shown["delimiter"], shown["frequency"]) == ("diagnosis", ";", "n")
    make(api)
    listed = api.get("/projects/a/terms", params={"sort": "frequency", "descending": True}).json()
    assert [(term["text"], term["frequency"]) for term in listed["terms"]] == [
        ("Heart disease", 7),
        ("heart attack", 4),
        ("siezure", 1),
    ]
    details = api.get(f"/projects/a/terms/{HEART}").json()
    first = details["candidates"][0]
    assert (first["id"], first["matched"], first["parents"]) == (
        "T:3",
        "heart attack",
        [{"id": "T:2", "name": "Heart disease"}],
    )
    assert first["definition"].startswith("Death of heart muscle")
    assert [row["number"] for row in details["rows"]] == [2, 5]
    made = decided(api, HEART, "concept", "T:3", comment="sure").json()["decision"]
    assert (made["targets"], made["reviewer"]) == (
        [{"concept_id": "T:3", "name": "Myocardial infarction", "relation": "exact"}],
        "Ann",
    )
    assert api.get("/projects/a/changes", params={"after": made["id"] - 1}).json()["decisions"][0]["term"] == HEART
    accepted = api.post("/projects/a/accept", json={"reviewer": "Bob", "above": 0.1}).json()
    assert accepted["terms"] == 2
    assert len(api.post("/projects/a/undo", json={"reviewer": "Bob"}).json()["undone"]) == 2
    assert api.post("/projects/a/assign", json={"reviewer": "Bob", "filter": {"status": "open"}}).json() == {
        "assigned": 2
    }
    few = {"status": "open", "max_margin": 1.0, "min_frequency": 1000}
    assert api.post("/projects/a/assign", json={"reviewer": "Bob", "filter": few}).json() == {"assigned": 0}
    assert api.get("/projects/a/concepts/T:3").json()["terms"][0]["id"] == HEART
    exported = api.get("/projects/a/export", params={"format": "csv"})
    assert exported.headers["content-disposition"] == 'attachment; filename="a.csv"'
    assert exported.text.count("Myocardial infarction") == 2
    make(api, "b")
    found = api.post("/projects/b/import", content=exported.content, headers=FILE).json()
    assert (found["stated"], found["new"]) == (1, 1)
    [line, other] = api.get("/projects").json()["projects"]
    assert (line["name"], line["terms"], line["rows"], line["decided"], line["rows_decided"]) == ("a", 3, 4, 1, 2)
    assert (other["title"], other["problem"]) == ("Visits", None)


def test_a_decision_on_what_is_no_longer_so_is_refused(api: TestClient) -> None:
    make(api)
    first = decided(api, HEART, "nil").json()["decision"]
    answer = decided(api, HEART, "concept", "T:3")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert answer.json()["present"] == first
    assert decided(api, HEART, "concept", "T:3", expects=first["id"]).status_code == 200


def test_linking_is_cancelled_continued_and_resumed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, parts = BatchingLinker.link, Semaphore(1)

    def in_parts(self: BatchingLinker, document: Any, **more: Any) -> Any:
        """Link as many parts of the table as are let through."""
        of_table = document.mentions[0].text.startswith("seizure number")
        if of_table and not parts.acquire(timeout=0.02):
            raise OverloadedError("wait")
        return link(self, document, **more)

    monkeypatch.setattr(BatchingLinker, "link", in_parts)
    table = b"term\n" + b"".join(b"seizure number %d\n" % number for number in range(640))
    with serving(projects=folder) as client:
        client.post("/projects", json={"name": "a"})
        client.post("/projects/a/files", content=table, headers=FILE)
        progress = client.get("/projects/a/changes").json()["progress"]
        assert progress["state"] == "linking"
        wait_for(client, lambda progress: progress["done"] > 0)
        # What is not linked yet can be seen and decided.
        assert decided(client, 640, "concept", "T:6").status_code == 200
        stopped = client.post("/projects/a/cancel").json()["progress"]
        assert stopped["state"] == "stopped"
        assert 0 < stopped["done"] < 640
    with serving(projects=folder) as client:
        # It was stopped on demand.
        parts.release()
        time.sleep(0.2)
        assert client.get("/projects/a").json()["progress"]["done"] == stopped["done"]
        client.post("/projects/a/continue")
        progress = wait_for(client, lambda progress: progress["done"] > stopped["done"])
        assert progress["state"] == "linking"
    with Project(folder / "a.nymlink", writes=False) as project, project.reading() as connection:
        (waiting,) = connection.execute("SELECT count(*) FROM term WHERE state = 'waiting'").fetchone()
        assert 0 < waiting < 640
    monkeypatch.undo()
    with serving(projects=folder) as client:
        # This was an end of the server: it goes on by itself.
        wait_for_links(client)
        progress = client.get("/projects/a").json()["progress"]
        assert (progress["done"], progress["total"], progress["failed"]) == (640, 640, 0)


def test_why_linking_stopped_is_said(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise NotSavedError("the disk is full")

    def refuse(*_: Any, **__: Any) -> Any:
        raise InputError("no such thing")

    api.post("/projects", json={"name": "a"})
    with monkeypatch.context() as patched:
        patched.setattr("nymlink.project.links.store_links", fail)
        api.post("/projects/a/files", content=TABLE, headers=FILE)
        progress = wait_for(api, lambda progress: progress["state"] == "waiting")
        assert progress["problem"] == "the disk is full"
    monkeypatch.setattr(BatchingLinker, "link", refuse)
    api.post("/projects/a/continue")
    wait_for_links(api)
    progress = api.get("/projects/a").json()["progress"]
    assert (progress["failed"], progress["problem"]) == (3, None)


def test_text_of_projects_is_not_logged(api: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "Jane Roe has a heart attack"
    make(api, table=f"code,term\n1,{secret}\n".encode())
    decided(api, 1, "nil", reviewer=secret, comment=secret)
    api.get("/projects/a/terms", params={"q": secret})
    api.get(f"/projects/a/concepts/{secret}")
    api.get(f"/projects/{secret}")
    api.get("/projects/a/export", params={"format": "source-to-concept-map"})
    lines = [each.fields for each in caplog.records if each.name == "nymlink.access"]
    assert "/projects/{name}/decisions" in {line["route"] for line in lines}
    assert not any("Jane" in each.getMessage() for each in caplog.records if not each.name.startswith("httpx"))


def test_links_are_those_of_a_linker(api: TestClient) -> None:
    make(api)
    [expected] = Linker(built_index(), top_k=10).link(["siezure"])
    found = api.get(f"/projects/a/terms/{SEIZURE}").json()
    assert [each["id"] for each in found["candidates"]] == [each.concept_id for each in expected.candidates]
    assert (found["confidence"], found["query"], found["notes"]) == (
        expected.confidence,
        expected.query,
        list(expected.notes),
    )


def test_learning_from_decisions(api: TestClient) -> None:
    make(api)
    refused = api.post("/projects/a/learn", json={})
    assert (refused.status_code, refused.json()["what"]) == (
        422,
        "nothing is decided yet that could be learned from: decide some terms",
    )
    assert decided(api, SEIZURE, "concept", "T:4").status_code == 200
    learned = api.post("/projects/a/learn", json={}).json()["learned"]
    assert (learned["terms"], learned["names"], learned["ranker"]) == (1, 1, None)
    assert api.get("/projects/a").json()["learned"] == learned
    wait_for_links(api)
    api.post("/projects/a/files", content=b"diagnosis\nSiezure!\nsiezure of old\n", headers=FILE)
    wait_for_links(api)
    found = api.get("/projects/a/terms", params={"q": "siezure"}).json()["terms"]
    assert [(term["text"], [form["text"] for form in term["forms"]]) for term in found] == [
        ("siezure", ["Siezure!"]),
        ("siezure of old", []),
    ]
    assert found[1]["candidates"][0]["id"] == "T:4"
    table = api.get("/projects/a/names")
    assert table.headers["content-disposition"] == 'attachment; filename="a-names.tsv"'
    assert table.text.splitlines()[1] == "T:4\tsiezure\tund\texact\t\t"
    assert api.post("/projects/a/learn", json={"forget": True}).json()["learned"] is None
    wait_for_links(api)
    found = api.get("/projects/a/terms", params={"q": "siezure of old"}).json()["terms"]
    assert found[0]["candidates"][0]["id"] == "T:6"


def test_warnings_of_one_request_are_in_no_other_answer(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    make(api)

    def export(_: Project, file: TextIO, **__: Any) -> None:
        warnings.warn("of this request", stacklevel=1)
        other = threading.Thread(target=warnings.warn, args=("of another request",))
        other.start()
        other.join(30)
        file.write("x")

    monkeypatch.setattr("nymlink.serve.routes.project_files.export_project", export)
    with pytest.warns(UserWarning, match="of another request"):
        answer = api.get("/projects/a/export?format=csv")
    assert unquote(answer.headers["X-Warnings"]) == "of this request"


def test_a_blind_review_over_http(api: TestClient) -> None:
    make(api)
    how = api.post("/projects/a/reviewers", json={"blind": True, "adjudicator": "Cara"}).json()
    assert (how["blind"], how["adjudicator"], how["disagreements"]) == (True, "Cara", 0)
    decided(api, HEART, "concept", "T:3")
    decided(api, HEART, "nil", reviewer="Bob")

    def seen(viewer: str) -> list[set[str]]:
        asked = {"viewer": viewer}
        listed = api.get("/projects/a/terms", params={**asked, "q": "heart attack"}).json()["terms"][0]
        shown = api.get(f"/projects/a/terms/{HEART}", params=asked).json()
        changed = api.get("/projects/a/changes", params=asked).json()["decisions"]
        waiting = api.get("/projects/a/disagreements", params=asked).json()["terms"]
        concept = api.get("/projects/a/concepts/T:3", params=asked).json()["terms"]
        return [
            set(listed["decisions"]),
            {each["reviewer"] for each in shown["history"]},
            {each["reviewer"] for each in changed},
            {who for each in waiting for who in each["decisions"]},
            {who for each in concept for who in each["decisions"]},
        ]

    assert seen("Ann") == [{"Ann"}, {"Ann"}, {"Ann"}, set(), {"Ann"}]
    assert seen("Bob") == [{"Bob"}, {"Bob"}, {"Bob"}, set(), set()]
    assert seen("") == [set()] * 5
    assert seen("Cara") == [{"Ann", "Bob"}] * 5
    found = api.get("/projects/a/search", params={"q": "heart att"}).json()["results"]
    assert not [each for each in found if each["matched"] and each["matched"]["source"] == "decisions"]
    queue = {"status": "disagreement", "viewer": "Cara"}
    assert api.get("/projects/a/terms", params=queue).json()["total"] == 1
    assert api.get("/projects/a").json()["decided"] == 0
    decided(api, HEART, "concept", "T:3", reviewer="Cara")
    assert api.get("/projects/a/terms", params=queue).json()["total"] == 0
    assert api.get("/projects/a").json()["decided"] == 1
    report = api.get("/projects/a/report")
    assert "Ann and Bob" in report.text
    assert "style-src 'sha256-" in report.headers["Content-Security-Policy"]


def test_forms_and_parts_over_http(api: TestClient) -> None:
    table = b'diagnosis\nseizure\nSeizures\n"focal seizure; no heart attack"\n'
    api.post("/projects", json={"name": "a"})
    assert api.post("/projects/a/files?composites=always", content=table, headers=FILE).status_code == 200
    wait_for_links(api)
    listed = api.get("/projects/a/terms").json()["terms"]
    assert [(term["text"], [form["text"] for form in term["forms"]]) for term in listed] == [
        ("seizure", ["Seizures"]),
        ("focal seizure; no heart attack", []),
    ]
    suggested = listed[1]["suggested"]
    assert [(each["concept_id"], each["relation"], each.get("denied", False)) for each in suggested] == [
        ("T:7", "part", False),
        ("T:3", "part", True),
    ]
    body = {"reviewer": "Ann", "term": listed[1]["id"], "verdict": "concept", "targets": suggested}
    assert api.post("/projects/a/decisions", json=body).json()["decision"]["targets"] == suggested
    exported = api.get("/projects/a/export", params={"format": "sssom"}).text
    assert "Not" in exported
    assert api.post("/projects/a/split", json={"term": 2}).json() == {"terms": [2]}
    assert api.get("/projects/a/terms").json()["total"] == 3
    assert api.post("/projects/a/split", json={"term": 77}).status_code == 404


def test_a_concept_of_the_project_is_added_and_decided(api: TestClient) -> None:
    make(api)
    new = {"name": "Broken heart", "parents": ["T:2"], "synonyms": ["heart, broken"], "reviewer": "Ann"}
    added = api.post("/projects/a/concepts", json=new)
    assert added.status_code == 201
    assert added.json()["id"] == "LOCAL:0000001"
    assert api.get("/projects/a/concepts").json() == {"concepts": [added.json()]}
    made = decided(api, HEART, "concept", "LOCAL:0000001").json()["decision"]
    assert made["targets"][0]["name"] == "Broken heart"
    assert decided(api, SEIZURE, "concept", "LOCAL:0000002").status_code == 422
    for typed, matched in (
        ("BROKEN heart", "Broken heart"),
        ("t, broken", "heart, broken"),
        ("local:0000001", None),
    ):
        found = {
            each["concept_id"]: each["matched"]
            for each in api.get("/projects/a/search", params={"q": typed}).json()["results"]
        }
        assert (found["LOCAL:0000001"] or {"text": None})["text"] == matched
    within = api.get("/projects/a/search", params={"q": "broken", "within": "disease"}).json()["results"]
    assert "LOCAL:0000001" not in {each["concept_id"] for each in within}
    again = api.post("/projects/a/concepts", json=new)
    assert (again.status_code, "already" in again.text) == (422, True)
    asked = api.get("/projects/a/concept-requests", params={"template": "issue"})
    assert asked.headers["content-type"].startswith("text/plain")
    assert "**Parent:** T:2 (Heart disease)" in asked.text
    assert api.get("/projects/a/concept-requests", params={"template": "robot"}).text.startswith("ID\tLabel")
