"""One budget of memory for all requests: what does not fit is refused, and small requests pass."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from fastapi.testclient import TestClient

from nymlink.linking.linker import Linker
from nymlink.serve.guards.memory import Claim, MemoryBudget, TooLargeError, usual_budget
from nymlink.serve.serve_settings import Limits
from tests.serve.projects import FILE, make
from tests.serve.toy import serving

MB = 2**20
BUDGET = 64 * MB
HEADER = ",".join(f"column {number}" for number in range(1000)).encode()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a server with projects and 64 MB for all requests."""
    with serving(limits=Limits(memory_bytes=BUDGET), projects=tmp_path / "projects") as client:
        yield client


def claimed(client: TestClient) -> float:
    lines = client.get("/metrics").text.splitlines()
    [value] = [line.split()[1] for line in lines if line.startswith("nymlink_claimed_bytes ")]
    return float(value)


def preview(client: TestClient, body: bytes, name: str = "a.csv", **said: str) -> Any:
    return client.post("/projects/preview", content=body, headers={"X-File-Name": name}, params=said)


def workbook(rows: list[list[Any]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("a")
    for row in rows:
        sheet.append(row)
    book.save(file := io.BytesIO())
    return file.getvalue()


def test_the_usual_budget_is_a_part_of_the_memory_of_the_machine() -> None:
    assert 64 * MB < usual_budget() <= 2048 * MB


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"term\n" + b"a\n" * 200_000, id="short rows"),
        pytest.param(b"term\n" + b"a long name of a disease " * 200_000, id="one long row"),
        pytest.param(gzip.compress(b"term\n" + b"a\n" * 1_000_000), id="rows, compressed"),
        pytest.param(HEADER + b"\n" + b"a\n" * 5000, id="rows that are filled to a thousand columns"),
        pytest.param(
            b'{"' + HEADER.replace(b",", b'": 0, "') + b'": 0}' + b'\n{"column 0": 0}' * 5000, id="objects"
        ),
    ],
)
def test_a_table_that_needs_more_than_there_is_is_refused(api: TestClient, body: bytes) -> None:
    answer = preview(api, body, **({} if body.startswith(b"{") else {"delimiter": "comma"}))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), answer.text
    assert "--memory" in answer.json()["what_to_do"]
    assert claimed(api) == 0
    assert preview(api, b"term\nheart attack\n").status_code == 200


def test_a_workbook_that_needs_more_than_there_is_is_refused(api: TestClient) -> None:
    wide = workbook([[f"column {number}" for number in range(1000)], *[["a"]] * 4000])
    assert preview(api, wide, "a.xlsx").json()["code"] == "too_large"
    assert preview(api, workbook([["term"], ["a"]]), "a.xlsx").status_code == 200
    assert claimed(api) == 0


def test_a_table_that_is_refused_changes_nothing(api: TestClient) -> None:
    make(api)
    before = api.get("/projects/a").json()
    answer = api.post("/projects/a/files", content=b"term\n" + b"a\n" * 200_000, headers=FILE)
    assert answer.status_code == 413
    assert api.get("/projects/a").json() == before


def test_what_does_not_fit_now_is_told_to_come_back_and_small_requests_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go = Event(), Event()
    link = Linker.link_documents

    def wait_and_link(self: Linker, documents: Any, **settings: Any) -> Any:
        begun.set()
        assert go.wait(30)
        return link(self, documents, **settings)

    # As many mentions as fit beside what is kept for small requests, but not twice.
    many = {"mentions": ["heart attack"] * 1000, "top_k": 10}
    with serving(limits=Limits(memory_bytes=32 * MB)) as client:
        assert client.post("/link", json=many).status_code == 200
        monkeypatch.setattr(Linker, "link_documents", wait_and_link)
        answers: list[Any] = []
        thread = Thread(target=lambda: answers.append(client.post("/link", json=many)))
        thread.start()
        assert begun.wait(30)
        refused = client.post("/link", json=many)
        small = Thread(target=lambda: answers.append(client.post("/link", json={"mentions": ["MI"]})))
        small.start()
        go.set()
        thread.join(30)
        small.join(30)
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert refused.headers["Retry-After"] == "1"
        assert "memory" in refused.json()["what"]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert claimed(client) == 0


def test_large_requests_leave_room_for_small_ones() -> None:
    budget = MemoryBudget(1000 * MB)
    with Claim(budget) as large, Claim(budget) as small:
        large.add(875 * MB)
        with pytest.raises(TooLargeError):
            large.add(1)
        small.add(3 * MB)
        assert budget.claimed == 878 * MB
    assert budget.claimed == 0


@pytest.mark.parametrize(
    "make_body",
    [
        pytest.param(lambda: {"mentions": [1] * 1_000_000}, id="mentions that are none"),
        pytest.param(lambda: {"mentions": [{}] * 500_000}, id="mentions without text"),
        pytest.param(lambda: {f"f{number}": 0 for number in range(100_000)}, id="unknown fields"),
        pytest.param(lambda: {"mentions": [{f"f{number}": 0 for number in range(100_000)}]}, id="of a mention"),
    ],
)
def test_a_million_faults_are_refused_at_the_first(client: TestClient, make_body: Callable[[], Any]) -> None:
    answer = client.post("/link", json=make_body())
    assert answer.status_code == 422
    assert len(answer.content) < 2000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("match", {"queries": [0] * 500_000}),
        ("match", {"queries": [{"conditions": [{"matchType": "id", "propertyValue": ["a"] * 500_000}]}]}),
        ("match", {"queries": [{"conditions": [{"matchType": "id", "propertyValue": "a"}] * 1000}]}),
        ("extend", {"ids": ["T:3"] * 1000, "properties": [{"id": "xrefs"}] * 100_000}),
    ],
)
def test_reconciliation_asks_for_a_few_things_at_a_time(client: TestClient, path: str, body: Any) -> None:
    answer = client.post(f"/reconcile/toy/{path}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_query")
    assert len(answer.content) < 2000


@pytest.mark.parametrize("path", ["/reconcile/toy/extend", "/reconcile/toy"])
def test_data_extension_has_a_limit(client: TestClient, path: str) -> None:
    wanted = {"ids": ["T:3"] * 1000, "properties": [{"id": "xrefs"}] * 11}
    asked = {"json": wanted} if path.endswith("extend") else {"data": {"extend": json.dumps(wanted)}}
    answer = client.post(path, **asked)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_values")


def test_an_archive_of_nothing_is_refused_before_it_is_unpacked(api: TestClient) -> None:
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * 50 * MB)
    assert preview(api, file.getvalue(), "a.xlsx").status_code in (413, 422)
    assert claimed(api) == 0
