"""A server under mixed load for a while: no errors, and memory that does not grow."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import statistics
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import Hosted, row
from nymlink.serve.server import allow_many_connections

_CLIENTS: Final = 200
_SECONDS: Final = (60, 600)
"""How long; the second with ``--long``."""
_PAUSE: Final = 2.0
"""Seconds that a client rests between requests, as people and programs do."""
_GROWTH: Final = 1.1
"""Times the memory of the third quarter of the time that the last may take: caches fill first."""
_NAMES: Final = ("heart attack", "siezure", "MI", "mitral insuficiency", "focal seizures", "nothing like it")

Request = tuple[str, str, bytes | None, dict[str, str]]


def run(folder: Path, *, long: bool) -> list[Row]:
    """Run 200 clients for a minute, or ten.

    Args:
        folder: an empty folder.
        long: whether it is ten.
    """
    return [soak(folder, seconds=_SECONDS[long])]


def soak(folder: Path, *, seconds: float, clients: int = _CLIENTS) -> Row:
    """Let clients send requests of all kinds.

    Args:
        folder: an empty folder.
        seconds: how long.
        clients: how many at the same time.
    """
    allow_many_connections()
    with Hosted(folder, "--no-access-log") as server:
        for name in ("a", "b"):
            server.ask("POST", "/projects", {"name": name})
            table = "".join(f"{_NAMES[at % 6]} {at}\n" for at in range(500))
            file = [("X-File-Name", "t.txt")]
            server.ask("POST", f"/projects/{name}/files", f"term\n{table}".encode(), headers=file)
        statuses, waits = Counter[int](), list[float]()
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=_client, args=(server.port, number, until, statuses, waits))
            for number in range(clients)
        ]
        for thread in threads:
            thread.start()
        memory = []
        while time.monotonic() < until:
            time.sleep(0.5)
            memory.append(server.memory)
        for thread in threads:
            thread.join()
        well = server.is_well()
    quarter = max(len(memory) // 4, 1)
    third, last = (statistics.median(part) for part in (memory[2 * quarter : 3 * quarter], memory[-quarter:]))
    bad = {status: count for status, count in statuses.items() if status not in (200, 201, 204, 404, 409, 422)}
    fallen: list[object] = [f"{count} answers with status {status}" for status, count in bad.items()]
    fallen += [] if well else ["the server does not answer in the end"]
    fallen += [f"memory grew {last / third:.2f} times"] if last > _GROWTH * third else []
    slowest = sorted(waits)[len(waits) * 99 // 100]
    note = (
        f"{sum(bad.values())} errors; {len(waits) / seconds:,.0f} a second; 99 of 100 within {slowest:.2f} s; "
        f"{third / 2**20:.0f} MB, in the end {last / 2**20:.0f} MB"
    )
    return row(f"{clients} clients for {seconds:g} s, mixed requests", len(waits), fallen, note)


def _client(port: int, number: int, until: float, statuses: Counter[int], waits: list[float]) -> None:
    """Send requests on a connection that is kept, one after the other; status 0 is counted for no answer."""
    chance = random.Random(number)
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    for turn in itertools.count():
        if time.monotonic() > until:
            break
        method, path, body, headers = _request(chance, number, turn)
        start = time.perf_counter()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        except (OSError, HTTPException):
            statuses[0] += 1
            connection.close()
        waits.append(time.perf_counter() - start)
        time.sleep(chance.uniform(0, 2 * _PAUSE))
    with contextlib.suppress(OSError):
        connection.close()


def _request(chance: random.Random, number: int, turn: int) -> Request:
    """Make a request of any kind: most link, some look up, a few review, upload and export, some are mistaken."""
    names = [
        f"{chance.choice(_NAMES)} {chance.randrange(10**6)}" for _ in range(chance.choice((1, 1, 1, 10, 100)))
    ]
    project = chance.choice("ab")
    term = chance.randrange(1, 500)
    reviewer = f"reviewer {number}"
    top_k = chance.choice((1, 1, 1, 2, 3, 5, 10, chance.randrange(1, 101)))
    format = chance.choice(("csv", "xlsx", "jsonl", "parquet"))
    return chance.choices(
        (
            _json("/link", {"mentions": names, "top_k": top_k}),
            _json("/annotate", {"text": ". ".join(names) * chance.randrange(1, 20)}),
            ("GET", f"/search?q={names[0].replace(' ', '+')[:7]}", None, {}),
            ("GET", "/concepts/T:3", None, {}),
            ("GET", "/", None, {}),
            ("GET", "/indexes", None, {}),
            ("GET", "/metrics", None, {}),
            _json("/reconcile/toy/match", {"queries": [_query(name) for name in names]}),
            ("GET", f"/projects/{project}/terms?limit=50&offset={term}", None, {}),
            ("GET", f"/projects/{project}/terms/{term}", None, {}),
            _json(f"/projects/{project}/decisions", {"reviewer": reviewer, "term": term, "verdict": "nil"}),
            ("POST", "/projects/preview", "\n".join(["term", *names]).encode(), {"X-File-Name": "t.csv"}),
            (
                "GET",
                f"/projects/{project}/export?format={format}",
                None,
                {},
            ),
            ("GET", f"/unknown/{turn}", None, {}),
            _json("/link", {"mentions": turn}),
        ),
        (40, 8, 10, 5, 3, 1, 1, 5, 5, 8, 6, 3, 1, 2, 2),
    )[0]


def _query(name: str) -> dict[str, Any]:
    return {"conditions": [{"matchType": "name", "propertyValue": name}]}


def _json(path: str, body: Any) -> Request:
    return "POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"}
