"""Clients decide while their server is killed again and again: what was answered must be there, once, unchanged.

The clients go on through all kills: each repeats what was not answered, as the page of a reviewer does, and
revises what it has decided. After each kill the files are read as they were left, before a server opens them.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import Hosted, row

_CLIENTS: Final = 20
_KILLS: Final = (4, 30)
"""How often a server is killed; the second with ``--long``."""
_BETWEEN: Final = (0.2, 2.5)
"""Seconds from the first answer of a server until it is killed, at random."""
_PROJECTS: Final = ("a", "b", "c")
_TERMS: Final = 40
_VERDICTS: Final = ("nil", "flag", "open")
_ANSWERED: Final = 20.0
_PAUSE: Final = 0.02


class Made(NamedTuple):
    """A decision, as a client made it."""

    reviewer: str
    term: int
    verdict: str
    comment: str


Saved = dict[tuple[str, int], Made]
"""Project and number of a decision → the decision."""


@dataclass
class _Server:
    """Where clients find the server of the moment; ``None`` while there is none."""

    port: int | None = None
    over: bool = False


@dataclass
class _Client:
    """Somebody who decides, and repeats what was not answered.

    Attributes:
        name: who.
        server: where to.
        answered: what a server has answered to have saved.
        repeated: how many decisions had been saved without an answer.
        refused: answers that are neither.
    """

    name: str
    server: _Server
    answered: Saved = field(default_factory=dict)
    repeated: int = 0
    refused: list[str] = field(default_factory=list)

    def decide(self) -> None:
        """Decide terms of all projects in turns, until it is over."""
        last: dict[tuple[str, int], int] = {}
        turn = 0
        while not self.server.over:
            place = _PROJECTS[turn % len(_PROJECTS)], 1 + turn // len(_PROJECTS) % _TERMS
            made = Made(self.name, place[1], _VERDICTS[turn % 3], f"{self.name}, turn {turn}")
            if (number := self._saved(place[0], made, last.get(place))) is not None:
                last[place] = number
                turn += 1

    def _saved(self, project: str, made: Made, expects: int | None) -> int | None:
        """Have a decision saved; return its number, or ``None`` where that was not answered."""
        port = self.server.port
        if port is None:
            time.sleep(_PAUSE)
            return None
        connection = HTTPConnection("127.0.0.1", port, timeout=_ANSWERED)
        try:
            body = json.dumps({**made._asdict(), "expects": expects})
            connection.request(
                "POST", f"/projects/{project}/decisions", body, {"Content-Type": "application/json"}
            )
            said: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, HTTPException, ValueError):
            time.sleep(_PAUSE)
            return None
        finally:
            connection.close()
        entry = said.get("decision") or said.get("present")
        if entry is None or entry["comment"] != made.comment:
            self.refused.append(str(said)[:200])
            time.sleep(_PAUSE)
            return None
        self.repeated += "present" in said
        self.answered[project, entry["id"]] = made
        return int(entry["id"])


def run(folder: Path, *, long: bool) -> list[Row]:
    """Kill a server of 20 clients 4 times, or 30.

    Args:
        folder: an empty folder.
        long: whether it is 30.
    """
    kills, moments = _KILLS[long], random.Random(0)
    server, starts, bad = _Server(), list[float](), Counter[str]()
    clients = [_Client(f"reviewer {number}", server) for number in range(_CLIENTS)]
    threads = [threading.Thread(target=client.decide) for client in clients]
    lost: list[str] = []
    saved: Saved = {}
    with _started(folder, starts) as first:
        _make_projects(first)
    for thread in threads:
        thread.start()
    try:
        for kill in range(kills):
            with _started(folder, starts) as hosted:
                server.port = hosted.port
                time.sleep(moments.uniform(*_BETWEEN))
                answered = {key: made for client in clients for key, made in dict(client.answered).items()}
            server.port = None
            saved, found = _left(hosted.projects, folder / "copy")
            lost += [f"kill {kill}: {key}" for key, made in answered.items() if saved.get(key) != made]
            bad.update(found)
    finally:
        server.over = True
        for thread in threads:
            thread.join()
    answered = {key: made for client in clients for key, made in client.answered.items()}
    # After a last start and an end as it should be.
    with _started(folder, starts) as hosted:
        for project in _PROJECTS:
            hosted.ask("GET", f"/projects/{project}/terms")
        hosted.process.terminate()
        ended = hosted.process.wait(_ANSWERED)
    saved, found = _left(hosted.projects, folder / "copy")
    bad.update(found)
    lost += [f"at the end: {key}" for key, made in answered.items() if saved.get(key) != made]
    twice = [made for made, count in Counter(saved.values()).items() if count > 1]
    refused = [said for client in clients for said in client.refused]
    repeated = sum(client.repeated for client in clients)
    unknown = len(saved.keys() - answered.keys())
    note = (
        f"{len(answered):,} answered to {_CLIENTS} clients, {repeated} of them saved "
        f"before a kill and answered after it; {unknown} saved and never answered; "
        f"started again in {statistics.median(starts):.1f} s"
    )
    again = [f"exit {ended}"] if ended else []
    return [
        row("decisions that were answered, after kills of the server", len(answered), lost, note),
        row("decisions that were repeated after a kill", len(saved), [*twice, *refused], "each is there once"),
        row("projects after kills of the server", len(_PROJECTS) * (kills + 1), [*bad, *again], "none is damaged"),
    ]


@contextlib.contextmanager
def _started(folder: Path, starts: list[float]) -> Any:
    """Start a server; it is killed when the block ends."""
    began = time.monotonic()
    with Hosted(folder, "--no-access-log") as hosted:
        starts.append(time.monotonic() - began)
        yield hosted


def _make_projects(hosted: Hosted) -> None:
    table = "".join(f"heart attack {number}\n" for number in range(_TERMS))
    for project in _PROJECTS:
        made = hosted.ask("POST", "/projects", {"name": project})
        file = [("X-File-Name", "t.txt")]
        added = hosted.ask("POST", f"/projects/{project}/files", f"term\n{table}".encode(), headers=file)
        if (made.status, added.status) != (201, 200):
            raise SystemExit(f"the projects cannot be made: {made} {added}")


def _left(projects: Path, copy: Path) -> tuple[Saved, list[str]]:
    """Read what projects have of decisions, and what `nymlink verify` finds wrong in a copy of them."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(projects, copy)
    command = [sys.executable, "-m", "nymlink", "verify", str(copy)]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)
    bad = [f"verify: {(verified.stdout + verified.stderr)[-300:]}"] if verified.returncode else []
    saved: Saved = {}
    for project in _PROJECTS:
        connection = sqlite3.connect(copy / f"{project}.nymlink")
        try:
            if (found := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                bad.append(f"{project}: {found}")
            columns = "id, reviewer, term, verdict, comment"
            for number, *made in connection.execute(f"SELECT {columns} FROM decision"):
                saved[project, number] = Made(*made)
        finally:
            connection.close()
    return saved, bad
