"""Projects over HTTP: made, filled, reviewed, exported; and everything that may go wrong."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.errors import NotSavedError
from nymlink.project.project import Project
from nymlink.serve.batching import BatchingLinker
from nymlink.serve.settings import Limits
from nymlink.vocabulary.model import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.serve.toy import INDEX, PLAIN, serving

TABLE = b"code;diagnosis;n\n1;heart attack;3\n2;siezure;1\n3;Heart disease;7\n4;heart attack;1\n"
FILE = {"X-File-Name": "visits.csv"}
HEART, SEIZURE, DISEASE = 1, 2, 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def api(folder: Path) -> Iterator[TestClient]:
    with serving(projects=folder) as client:
        yield client


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server that has a project `a`, and is asked for what it refuses."""
    with serving(projects=tmp_path_factory.mktemp("refusing")) as client:
        make(client)
        yield client


def wait_for_links(client: TestClient, name: str = "a") -> None:
    for _ in range(200):
        if client.get(f"/projects/{name}").json()["progress"]["state"] == "done":
            return
        time.sleep(0.02)
    raise AssertionError("not linked")


def make(client: TestClient, name: str = "a", table: bytes = TABLE) -> None:
    assert client.post("/projects", json={"name": name, "title": "Visits"}).status_code == 201
    answer = client.post(f"/projects/{name}/files?code=code", content=table, headers=FILE)
    assert answer.status_code == 200, answer.text
    wait_for_links(client, name)


def decided(client: TestClient, term: int, verdict: str, *targets: str, name: str = "a", **more: Any) -> Any:
    given = [{"concept_id": each} for each in targets]
    body = {"reviewer": "Ann", "term": term, "verdict": verdict, "targets": given, **more}
    return client.post(f"/projects/{name}/decisions", json=body)


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
    assert api.get("/projects/a/concepts/T:3").json()["terms"][0]["id"] == HEART
    exported = api.get("/projects/a/export", params={"format": "csv", "decided": "true"})
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


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/projects", {"name": "../x"}, 422, "invalid_name"),
        ("/projects", {"name": ".x"}, 422, "invalid_name"),
        ("/projects", {"name": "a/b"}, 422, "invalid_name"),
        ("/projects", {"name": "x\0"}, 422, "invalid_name"),
        ("/projects", {"name": "a"}, 409, "project_exists"),
        ("/projects", {"name": "b", "index": "none"}, 404, "unknown_index"),
        ("/projects/b/undo", {"reviewer": "Ann"}, 404, "unknown_project"),
        ("/projects/%2e%2e%2fa/undo", {"reviewer": "Ann"}, 404, "not_found"),
        ("/projects/a/undo", {"reviewer": ""}, 422, "invalid_input"),
        ("/projects/a/decisions", {"reviewer": "A", "term": 9, "verdict": "nil"}, 404, "not_found"),
        ("/projects/a/decisions", {"reviewer": "A", "term": 1e300, "verdict": "nil"}, 422, "invalid_request"),
        ("/projects/a/decisions", {"reviewer": "A", "term": 1, "verdict": "concept"}, 422, "invalid_input"),
        (
            "/projects/a/decisions",
            {"reviewer": "A", "term": 1, "verdict": "concept", "targets": [{"concept_id": "T:99"}]},
            422,
            "unknown_concept",
        ),
        ("/projects/a/accept", {"reviewer": "A", "above": 2}, 422, "invalid_request"),
        ("/projects/a/rebase", {"index": "none"}, 404, "unknown_index"),
    ],
)
def test_bad_requests_are_refused(refusing: TestClient, path: str, body: Any, status: int, code: str) -> None:
    answer = refusing.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert set(answer.json()) == {"status", "code", "what", "what_to_do"}


@pytest.mark.parametrize(
    "path",
    [
        "/projects/..%2f..%2fetc%2fpasswd",
        "/projects/../a",
        "/projects/a.nymlink",
        "/projects/a%00",
        "/projects/.a.nymlink.lock",
        "/projects/a/export?format=../x",
        "/projects/a/export?format=brat",
        "/projects/a/terms?status=x",
        "/projects/a/terms?limit=100000",
        "/projects/a/terms?offset=99999999999999999999999",
        "/projects/a/terms/99999999999999999999999",
        "/projects/a/changes?after=-1",
    ],
)
def test_bad_addresses_are_refused(refusing: TestClient, path: str) -> None:
    assert refusing.get(path).status_code in (404, 422)


@pytest.mark.parametrize(
    ("raw", "query", "said"),
    [
        (b"", "", "empty"),
        (bytes(range(256)) * 100, "", "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "", "binary"),
        (TABLE, "?column=nothing", "no column"),
        (TABLE, "?encoding=latin-99", "unknown encoding"),
        (TABLE, "?delimiter=x", "a delimiter is one of"),
        (b"PK\x03\x04", "", "archive"),
    ],
)
def test_files_that_are_no_tables_are_refused(refusing: TestClient, raw: bytes, query: str, said: str) -> None:
    for path in ("/projects/preview", "/projects/a/files"):
        answer = refusing.post(path + query, content=raw, headers=FILE)
        assert answer.status_code == 422
        assert said in answer.json()["what"]
    assert len(refusing.get("/projects/a").json()["files"]) == 1


def test_files_may_be_large_but_not_endless(folder: Path) -> None:
    with serving(projects=folder, limits=Limits(body_bytes=1000, file_bytes=20_000)) as client:
        client.post("/projects", json={"name": "a"})
        rows = b"term\n" + b"heart attack\n" * 1000
        assert client.post("/projects/a/files", content=rows, headers=FILE).json()["rows"] == 1000
        answer = client.post("/projects/a/files", content=rows * 2, headers=FILE)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert "20,000 bytes" in answer.json()["what"]
        long = {"reviewer": "A", "term": 1, "verdict": "nil", "comment": "x" * 2000}
        assert client.post("/projects/a/decisions", json=long).status_code == 413


def test_other_sites_cannot_change_projects(folder: Path) -> None:
    with serving(projects=folder, origins=("https://a.example",)) as client:
        client.post("/projects", json={"name": "a"})
        assert client.post("/projects/a/files", content=TABLE).json()["code"] == "no_file_name"
        for site, origin, status in (
            ("cross-site", "https://b.example", 403),
            ("same-site", "http://localhost:3000", 403),
            ("cross-site", "https://a.example", 200),
            ("same-origin", "http://testserver", 200),
        ):
            headers = {"Sec-Fetch-Site": site, "Origin": origin}
            assert client.post("/projects/a/cancel", headers=headers).status_code == status
            assert client.get("/projects/a", headers=headers).status_code == 200


def test_a_server_without_projects_says_so() -> None:
    with serving() as client:
        answer = client.get("/projects")
        assert (answer.status_code, answer.json()["code"]) == (404, "no_projects")


def test_two_servers_do_not_share_a_project(folder: Path) -> None:
    with serving(projects=folder) as first, serving(projects=folder) as second:
        make(first)
        decided(first, HEART, "nil")
        answer = second.get("/projects/a")
        assert (answer.status_code, answer.json()["code"]) == (423, "locked")
        [line] = second.get("/projects").json()["projects"]
        assert "another nymlink" in line["problem"]
        assert (line["terms"], line["decided"]) == (3, 1)


def test_damaged_and_newer_files_are_said(api: TestClient, folder: Path) -> None:
    make(api)
    (folder / "damaged.nymlink").write_bytes(b"SQLite format 3\0" + b"\xa5" * 5000)
    (folder / "none.nymlink").write_text("a note")
    shutil.copy(folder / "a.nymlink", folder / "newer.nymlink")
    connection = sqlite3.connect(folder / "newer.nymlink")
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    problems = {line["name"]: line["problem"] for line in api.get("/projects").json()["projects"]}
    assert problems["a"] is None
    assert "damaged" in problems["damaged"]
    assert "no project file" in problems["none"]
    assert "format 9" in problems["newer"]
    answer = api.get("/projects/newer")
    assert (answer.status_code, answer.json()["code"]) == (500, "unusable_project")


def test_a_project_without_its_index_can_be_read(folder: Path) -> None:
    with serving(projects=folder) as client:
        make(client)
        decided(client, HEART, "concept", "T:3")
    builder = TableBuilder()
    for concept_id, name in (("T:3", "Myocardial infarction"), ("T:9", "Seizure")):
        builder.concept(concept_id)
        builder.name(concept_id, name, lang="en", kind="preferred")
    other = Index.build(Vocabulary.of((Source("toy", "table", version="2"), builder.build())), encoder=None)
    for name, state in (("other", "gone"), ("toy", "changed")):
        with serving(projects=folder, indexes={name: other}) as client:
            assert client.get("/projects").json()["projects"][0]["problem"] is not None
            assert client.get("/projects/a").json()["index"]["state"] == state
            term = client.get(f"/projects/a/terms/{HEART}").json()
            assert term["decisions"]["Ann"]["targets"][0]["concept_id"] == "T:3"
            assert client.get("/projects/a/export?format=tsv").status_code == 200
            for path, body in (
                ("decisions", {"reviewer": "Ann", "term": HEART, "verdict": "nil"}),
                ("undo", {"reviewer": "Ann"}),
                ("accept", {"reviewer": "Ann", "above": 0}),
                ("assign", {"reviewer": "Ann"}),
                ("continue", {}),
            ):
                answer = client.post(f"/projects/a/{path}", json=body)
                assert (answer.status_code, answer.json()["code"]) == (409, "read_only"), path
                assert "rebase" in answer.json()["what"]
    with serving(projects=folder, indexes={"other": other}) as client:
        changed = client.post("/projects/a/rebase", json={"index": "other"}).json()["changed"]
        assert changed == {"gone": 0, "obsolete": 0, "replaced": 0, "renamed": 0, "better": 0}
        wait_for_links(client)
        assert decided(client, SEIZURE, "concept", "T:9").status_code == 200
    # The same vocabulary under another name is the same.
    with serving(projects=folder, indexes={"renamed": other, "toy": PLAIN}) as client:
        assert client.get("/projects/a").json()["index"]["served_as"] == "renamed"


def test_a_full_disk_is_said_and_loses_nothing(api: TestClient) -> None:
    make(api)
    kept = decided(api, HEART, "nil").json()["decision"]
    opened = api.app.state.projects.named("a").project  # type: ignore[attr-defined]
    with opened.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    answers = [decided(api, SEIZURE, "flag", reviewer=f"Bob {n}", comment="x" * 9000) for n in range(20)]
    full = [answer for answer in answers if answer.status_code != 200]
    assert {(answer.status_code, answer.json()["code"]) for answer in full} == {(507, "not_saved")}
    assert "the disk is full" in full[0].json()["what"]
    assert api.post("/projects/a/files", content=b"term\n" * 50_000, headers=FILE).status_code == 507
    with opened.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert api.get(f"/projects/a/terms/{HEART}").json()["decisions"]["Ann"] == kept
    assert decided(api, SEIZURE, "nil").status_code == 200


def test_linking_is_cancelled_continued_and_resumed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = BatchingLinker.link

    def slowly(self: BatchingLinker, document: Any, **more: Any) -> Any:
        time.sleep(0.05)
        return link(self, document, **more)

    monkeypatch.setattr(BatchingLinker, "link", slowly)
    table = b"term\n" + b"".join(b"seizure number %d\n" % number for number in range(640))
    with serving(projects=folder) as client:
        client.post("/projects", json={"name": "a"})
        client.post("/projects/a/files", content=table, headers=FILE)
        progress = client.get("/projects/a/changes").json()["progress"]
        assert progress["state"] == "linking"
        # What is not linked yet can be seen and decided.
        assert decided(client, 640, "concept", "T:6").status_code == 200
        stopped = client.post("/projects/a/cancel").json()["progress"]
        assert stopped["state"] == "stopped"
        assert 0 < stopped["done"] < 640
    with serving(projects=folder) as client:
        # It was stopped on demand.
        time.sleep(0.2)
        assert client.get("/projects/a").json()["progress"]["done"] == stopped["done"]
        client.post("/projects/a/continue")
        time.sleep(0.1)
        assert client.get("/projects/a").json()["progress"]["state"] == "linking"
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
        patched.setattr("nymlink.project.linking.store_links", fail)
        api.post("/projects/a/files", content=TABLE, headers=FILE)
        for _ in range(100):
            progress = api.get("/projects/a").json()["progress"]
            if progress["state"] == "waiting":
                break
            time.sleep(0.02)
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
    lines = [json.loads(each.getMessage()) for each in caplog.records if each.name == "nymlink.access"]
    assert "/projects/{name}/decisions" in {line["route"] for line in lines}
    assert not any("Jane" in each.getMessage() for each in caplog.records if not each.name.startswith("httpx"))


def test_links_are_those_of_a_linker(api: TestClient) -> None:
    make(api)
    [expected] = Linker(INDEX, top_k=10).link(["siezure"])
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
    assert [term["candidates"][0]["id"] for term in found] == ["T:4"] * 3 or found[0]["text"] == "siezure"
    assert {term["text"]: term["candidates"][0]["id"] for term in found if term["text"] != "siezure"} == {
        "Siezure!": "T:4",
        "siezure of old": "T:4",
    }
    table = api.get("/projects/a/names")
    assert table.headers["content-disposition"] == 'attachment; filename="a-names.tsv"'
    assert table.text.splitlines()[1] == "T:4\tsiezure\tund\texact\t\t"
    assert api.post("/projects/a/learn", json={"forget": True}).json()["learned"] is None
    wait_for_links(api)
    found = api.get("/projects/a/terms", params={"q": "siezure!"}).json()["terms"]
    assert found[0]["candidates"][0]["id"] == "T:6"
