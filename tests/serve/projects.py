"""Steps of a review over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

TABLE = b"code;diagnosis;n\n1;heart attack;3\n2;siezure;1\n3;Heart disease;7\n4;heart attack;1\n"
FILE = {"X-File-Name": "visits.csv"}
HEART, SEIZURE, DISEASE = 1, 2, 3


def wait_for_links(client: TestClient, name: str = "a") -> None:
    wait_for(client, lambda progress: progress["state"] == "done", name)


def wait_for(client: TestClient, is_so: Callable[[dict[str, Any]], bool], name: str = "a") -> dict[str, Any]:
    """Wait until the progress of a project meets a condition, and return it."""
    until = time.monotonic() + 60
    while not is_so(progress := client.get(f"/projects/{name}").json()["progress"]):
        assert time.monotonic() < until, progress
        time.sleep(0.02)
    return progress


def make(client: TestClient, name: str = "a", table: bytes = TABLE) -> None:
    assert client.post("/projects", json={"name": name, "title": "Visits"}).status_code == 201
    answer = client.post(f"/projects/{name}/files?code=code", content=table, headers=FILE)
    assert answer.status_code == 200, answer.text
    wait_for_links(client, name)


def decided(client: TestClient, term: int, verdict: str, *targets: str, name: str = "a", **more: Any) -> Any:
    given = [{"concept_id": each} for each in targets]
    body = {"reviewer": "Ann", "term": term, "verdict": verdict, "targets": given, **more}
    return client.post(f"/projects/{name}/decisions", json=body)
