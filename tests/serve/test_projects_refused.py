"""Projects over HTTP: what is refused, and what goes wrong without losing anything."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.index.index import Index
from nymlink.serve import served_projects
from nymlink.serve.routes import project_files
from nymlink.serve.serve_settings import Limits
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.serve.projects import FILE, HEART, SEIZURE, TABLE, decided, make, wait_for_links
from tests.serve.toy import plain_index, serving


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a server that has a project `a`, and is asked for what it refuses."""
    with serving(projects=tmp_path_factory.mktemp("refusing")) as client:
        make(client)
        yield client


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
    assert set(answer.json()) == {"status", "code", "what", "what_to_do", "request_id"}


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


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        ("https://names.example.org", 200),
        ("https://good.example", 200),
        ("http://testserver:1", 403),
        ("https://a.example", 403),
        ("null", 403),
    ],
)
def test_the_pages_of_other_sites_are_known_in_older_browsers_too(folder: Path, origin: str, status: int) -> None:
    served = {"origins": ("https://good.example",), "public_url": "https://names.example.org/nymlink/"}
    with serving(projects=folder, **served) as client:
        make(client)
        assert client.post("/projects/a/cancel", headers={"Origin": origin}).status_code == status


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
    (folder / "none.nymlink").write_text("a note", encoding="utf-8")
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
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_project")


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
    with serving(projects=folder, indexes={"renamed": other, "toy": plain_index()}) as client:
        assert client.get("/projects/a").json()["index"]["served_as"] == "renamed"


def test_what_is_added_while_a_project_is_rebased_is_linked_to_the_new_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = TableBuilder()
    builder.concept("T:99")
    builder.name("T:99", "Heart attack", lang="en", kind="preferred")
    other = Index.build(Vocabulary.of((Source("toy", "table", version="2"), builder.build())), encoder=None)
    table = "".join(f"heart attack {number}\n" for number in range(300)).encode()
    rebase, linked = project_files.rebase, served_projects.link_waiting

    def slowly(*given: Any, **more: Any) -> None:
        time.sleep(0.3)
        linked(*given, **more)

    def rebase_later(*given: Any) -> dict[str, int]:
        # The request that adds a table has seen the old index.
        assert client.post("/projects/a/files", content=b"diagnosis\n" + table, headers=FILE).status_code == 200
        return rebase(*given)

    monkeypatch.setattr(served_projects, "link_waiting", slowly)
    monkeypatch.setattr(project_files, "rebase", rebase_later)
    with serving(projects=tmp_path, indexes={"toy": plain_index(), "other": other}) as client:
        make(client)
        client.post("/projects/a/rebase", json={"index": "other"})
        wait_for_links(client)
        terms = client.get("/projects/a/terms?limit=200").json()["terms"]
        found = {candidate["id"] for term in terms for candidate in term["candidates"]}
        assert found == {"T:99"}


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
