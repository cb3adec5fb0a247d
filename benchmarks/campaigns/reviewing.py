"""Review projects over HTTP: servers in children of this process, and reviewers who decide as fast as they can."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final, Self

from benchmarks.campaigns.commands import Child, Result, run_all

NAME: Final = "review (nymlink serve)"
"""What a review is called in the tables of the campaigns."""

TERMS: Final = 200
"""Terms that each reviewer decides, of a project."""
_STARTED: Final = 120.0
_ANSWERED: Final = 30.0
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/")

Decisions = dict[tuple[str, str, int], int]
"""Project, reviewer and term → number of the decision."""


class Server:
    """A server of a folder of projects; as a context manager it is killed at the end where it still runs.

    Args:
        index: what the projects are linked to.
        projects: the folder.
        streams: where it writes, with the endings of :class:`Child`.
    """

    def __init__(self, index: Path, projects: Path, streams: Path) -> None:
        options = ["--port", "0", "--no-access-log", "--projects", str(projects)]
        self._child = Child(["serve", "--index", f"toy={index}", *options], streams)
        self._nothing, self._runs = streams.with_suffix(".nothing"), True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runs:
            self.kill()

    def port(self) -> int:
        """Wait until it listens, and return where.

        Raises:
            OSError: it does not in time.
        """
        until = time.monotonic() + _STARTED
        while time.monotonic() < until:
            if found := _ADDRESS.search(self._child.said):
                return int(found[1])
            time.sleep(0.02)
        raise OSError(f"the server does not start: {self._child.said[-400:]}")

    def end(self) -> Result:
        """Ask it to end, and wait for that."""
        self._child.terminate()
        return self._wait()

    def kill(self) -> None:
        """End it at once."""
        self._child.kill()
        self._wait()

    def _wait(self) -> Result:
        self._runs = False
        return self._child.wait(self._nothing)


@dataclass
class Reviewer:
    """Somebody who decides the terms of projects one after the other, until no server answers.

    Attributes:
        name: who.
        port: of the server.
        projects: their names.
        decided: what the server has answered to have saved.
        refused: codes and messages of what it has refused.
    """

    name: str
    port: int
    projects: Sequence[str]
    decided: Decisions = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)

    def start(self) -> threading.Thread:
        """Begin to review, in a thread."""
        thread = threading.Thread(target=self.review)
        thread.start()
        return thread

    def review(self) -> None:
        """Decide all terms, each in all projects."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_ANSWERED)
        try:
            for term in range(1, TERMS + 1):
                for project in self.projects:
                    self._decide(connection, project, term)
        except (OSError, HTTPException):
            return
        finally:
            connection.close()

    def _decide(self, connection: HTTPConnection, project: str, term: int) -> None:
        body = {"reviewer": self.name, "term": term, **decision(self.name, term)}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/projects/{project}/decisions", json.dumps(body), headers)
        answer = connection.getresponse()
        said: dict[str, Any] = json.loads(answer.read())
        made = said.get("decision") or said.get("present")
        # What was saved, but not answered, by a server that was killed is a conflict now.
        if made is not None and made["comment"] == body["comment"]:
            self.decided[project, self.name, term] = made["id"]
        else:
            self.refused.append((said["code"], said["what"]))


def decision(reviewer: str, term: int) -> dict[str, str]:
    """What a reviewer decides of a term."""
    return {"verdict": "flag" if term % 2 else "nil", "comment": f"{reviewer} on {term}"}


def saved(projects: Path) -> Decisions:
    """Read the decisions of all projects in a folder; one that is not what was decided is left out."""
    found: Decisions = {}
    for path in sorted(projects.glob("*.nymlink")):
        connection = sqlite3.connect(path)
        try:
            rows = connection.execute("SELECT reviewer, term, id, verdict, comment FROM decision").fetchall()
        finally:
            connection.close()
        for reviewer, term, number, verdict, comment in rows:
            if {"verdict": verdict, "comment": comment} == decision(reviewer, term):
                found[path.stem, reviewer, term] = number
    return found


def listed(port: int, project: str) -> Decisions:
    """Ask a server for the decisions of a project.

    Raises:
        OSError: it does not answer with them.
    """
    connection = HTTPConnection("127.0.0.1", port, timeout=_ANSWERED)
    try:
        connection.request("GET", f"/projects/{project}/terms?limit=1000")
        answer = connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200:
            raise OSError(f"{answer.status}: {said}")
    finally:
        connection.close()
    return {
        (project, reviewer, term["id"]): made["id"]
        for term in said["terms"]
        for reviewer, made in term["decisions"].items()
    }


def make_projects(place: Path, folder: Path, names: Sequence[str], scratch: Path) -> None:
    """Make projects whose terms are linked, in a folder."""
    folder.mkdir()
    for name in names:
        path = str(folder / f"{name}.nymlink")
        run_all(
            [
                ["project", "new", path, "--index", str(place / "index")],
                ["project", "add", path, str(place / "mentions.csv")],
            ],
            scratch,
        )
