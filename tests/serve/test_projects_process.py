"""Projects of a server in a process of its own, which is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from nymlink.project.project import Project
from nymlink.project.terms import TermFilter, list_terms
from tests.serve.running import Server

TERMS = 70


def ask(server: Server, path: str, body: bytes | dict[str, Any] | None = None) -> Any:
    raw = json.dumps(body).encode() if isinstance(body, dict) else body
    kind = "application/json" if isinstance(body, dict) else "text/csv"
    headers = {"Content-Type": kind, "X-File-Name": "terms.csv"}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", raw, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.large
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_server_loses_nothing_that_was_decided(index: Path, tmp_path: Path) -> None:
    server = Server.of(index, "--projects", str(tmp_path))
    ask(server, "/projects", {"name": "a"})
    table = "term\n" + "\n".join(f"seizure of kind {number}" for number in range(TERMS))
    ask(server, "/projects/a/files", table.encode())
    answered: dict[tuple[str, int], int] = {}

    def review(reviewer: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            for term in range(1, TERMS + 1):
                body = {"reviewer": reviewer, "term": term, "verdict": "flag", "comment": f"{reviewer} {term}"}
                made = ask(server, "/projects/a/decisions", body)["decision"]
                answered[reviewer, term] = made["id"]

    reviewers = [threading.Thread(target=review, args=(name,)) for name in ("Ann", "Bob")]
    for each in reviewers:
        each.start()
    while len(answered) < 20:
        time.sleep(0.01)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    for each in reviewers:
        each.join()
    assert 20 <= len(answered) < 2 * TERMS
    server = Server.of(index, "--projects", str(tmp_path))
    try:
        listed = ask(server, f"/projects/a/terms?limit={TERMS}")["terms"]
        kept = {
            (reviewer, term["id"]): made["id"]
            for term in listed
            for reviewer, made in term["decisions"].items()
            if made["comment"] == f"{reviewer} {term['id']}"
        }
        # What was answered is there; one of each may have been saved before its answer.
        assert answered.items() <= kept.items()
        assert len(kept) <= len(answered) + 2
        # Linking goes on by itself.
        until = time.monotonic() + 60
        while (progress := ask(server, "/projects/a")["progress"])["state"] != "done":
            assert time.monotonic() < until, progress
            time.sleep(0.05)
        assert (progress["done"], progress["failed"]) == (TERMS, 0)
    finally:
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)
    # The end of a server leaves one file.
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["a.nymlink"]
    with Project(tmp_path / "a.nymlink") as project:
        assert list_terms(project, TermFilter(status="flagged"))["total"] > 0
