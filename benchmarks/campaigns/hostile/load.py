"""Load a server with many clients at once: slow and idle connections, requests at their limits, large tables."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import Answer, Hosted, row
from nymlink.serve.server import allow_many_connections

_CLIENTS: Final = 50
_CONNECTIONS: Final = 2000
_TABLE: Final = 60 << 20
"""Bytes of a large table."""
_BESIDE: Final = 5.0
"""Seconds in which small requests must be answered meanwhile."""
_MOST: Final = 1.5
"""Times the memory of one client that all together may take."""


def run(folder: Path, *, long: bool) -> list[Row]:
    """Try all kinds.

    Args:
        folder: an empty folder.
        long: whether each is done longer.
    """
    allow_many_connections()
    rows = [_tables(folder)]
    with Hosted(folder, "--no-access-log") as server:
        rows += [_connections(server, kind, 30 if long else 12) for kind in _KINDS]
        rows += [_limits(server, kind, 3 if long else 1) for kind in _LARGEST]
    return rows


@contextmanager
def _watched(server: Hosted) -> Iterator[list[int]]:
    """Yield a list that has the largest memory of the server in the end."""
    peak, stop = [server.memory], threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            peak[0] = max(peak[0], server.memory)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        stop.set()
        thread.join()


def _at_once(ask: Callable[[int], Answer], clients: int) -> Counter[int]:
    """Let so many clients ask at the same time; count the statuses."""
    with ThreadPoolExecutor(clients) as pool:
        return Counter(answer.status for answer in pool.map(ask, range(clients)))


def _tables(folder: Path) -> Row:
    """Send one large table, and in a new server 50 at once, half of them to projects."""
    line = b"%d;heart attack of the %d kind;ward %d;%d\n"
    table = b"id;term;place;n\n" + b"".join(line % (n, n, n % 50, n % 7) for n in range(_TABLE // 50))
    peaks, statuses, slow = [], Counter[int](), []
    for clients in (1, _CLIENTS):
        place = folder / f"tables-{clients}"
        place.mkdir()
        with Hosted(place, "--no-access-log") as server, _watched(server) as peak:
            for number in range(clients):
                server.ask("POST", "/projects", {"name": f"p{number}"})

            def send(number: int, server: Hosted = server) -> Answer:
                path = f"/projects/p{number}/files" if number % 2 == 0 else "/projects/preview"
                return server.ask("POST", path, table, headers=[("X-File-Name", "t.csv")], longest=300)

            with ThreadPoolExecutor(1) as beside:
                done = threading.Event()
                small = beside.submit(_small_requests, server, done)
                statuses = _at_once(send, clients)
                done.set()
                slow = small.result()
        peaks.append(peak[0])
    ratio = peaks[1] / peaks[0]
    fallen: list[object] = [f"{ratio:.2f} times the memory"] if ratio > _MOST else []
    fallen += [f"status {status}" for status in statuses if status not in (200, 503)]
    fallen += [] if statuses[200] else ["no table was read"]
    note = (
        f"{peaks[0] >> 20} MB for one, {peaks[1] >> 20} MB for {_CLIENTS}: {ratio:.2f} times; "
        f"{statuses[200]} read, {statuses[503]} told to come back"
    )
    return row(f"tables of {_TABLE >> 20} MB by {_CLIENTS} clients at once", _CLIENTS, [*fallen, *slow], note)


def _small_requests(server: Hosted, done: threading.Event) -> list[str]:
    """Ask for a little until the others are done; list what was too slow, or not answered."""
    fallen = []
    while not done.wait(0.2):
        start = time.perf_counter()
        if not server.is_well() or time.perf_counter() - start > _BESIDE:
            fallen.append(f"a small request took {time.perf_counter() - start:.1f} s")
    return fallen


_KINDS: Final = {
    "idle connections": (_CONNECTIONS, b""),
    "slow requests": (_CONNECTIONS, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "),
    "slow bodies": (_CONNECTIONS, b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"),
    # More than fits into the buffers of both sides.
    "clients that take no answers": (60, b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 120),
}


def _connections(server: Hosted, kind: str, seconds: float) -> Row:
    """Hold connections open, those that are slow with a byte a second; small requests are answered meanwhile."""
    count, sent = _KINDS[kind]
    before = server.memory
    fallen: list[str] = []
    clients: list[socket.socket] = []
    with contextlib.ExitStack() as closing:
        for _ in range(count):
            try:
                clients.append(closing.enter_context(server.connect()))
                clients[-1].setblocking(False)
                clients[-1].send(sent)
            except OSError as error:
                fallen.append(f"connection {len(clients)}: {error}")
        until = time.monotonic() + seconds
        peak = server.memory
        while time.monotonic() < until:
            if kind.startswith("slow"):
                for client in clients:
                    # The server closes those that are too slow.
                    with contextlib.suppress(OSError):
                        client.send(b"a")
            start = time.perf_counter()
            if not server.is_well() or time.perf_counter() - start > _BESIDE:
                fallen.append(f"a small request took {time.perf_counter() - start:.1f} s")
            peak = max(peak, server.memory)
            time.sleep(1)
    note = f"{(peak - before) >> 20} MB more"
    return row(f"{count:,} {kind}", count, fallen, note)


def _words(number: int, count: int) -> str:
    return " ".join(f"heart attack of the {number * count + each} kind" for each in range(count))


_LARGEST: Final[dict[str, tuple[str, Callable[[int], Any]]]] = {
    "2,000 mentions with 100 candidates": (
        "/link",
        lambda n: {"mentions": [f"heart attack {n} {m}" for m in range(2000)], "top_k": 100},
    ),
    "2,000 mentions of 2,000 characters": (
        "/link",
        lambda n: {"mentions": [_words(n + m, 80)[:2000] for m in range(2000)]},
    ),
    "each another top_k": ("/link", lambda n: {"mentions": ["heart attack"] * 100, "top_k": 1 + n}),
    "texts of 500,000 characters": ("/annotate", lambda n: {"text": _words(n, 20_000)[:500_000]}),
    "texts of abbreviations alone": ("/annotate", lambda _: {"text": "MI " * 166_000}),
    "100 queries with 100 conditions": (
        "/reconcile/toy/match",
        lambda n: {
            "queries": [
                {
                    "conditions": [
                        {"matchType": "name", "propertyValue": f"heart {n} {q}"},
                        *[{"matchType": "property", "propertyId": "xrefs", "propertyValue": "ICD10:I21"}] * 99,
                    ]
                }
                for q in range(100)
            ]
        },
    ),
    "1,000 concepts with 10 properties": (
        "/reconcile/toy/extend",
        lambda _: {"ids": ["T:3"] * 1000, "properties": [{"id": "synonyms"}] * 10},
    ),
}


def _limits(server: Hosted, kind: str, times: int) -> Row:
    """Send the largest that is allowed from 50 clients at once; small requests are answered meanwhile."""
    path, make = _LARGEST[kind]
    bodies = [json.dumps(make(number)).encode() for number in range(_CLIENTS)]
    json_said = [("Content-Type", "application/json")]
    done = threading.Event()
    with ThreadPoolExecutor(1) as beside, _watched(server) as peak:
        small = beside.submit(_small_requests, server, done)
        start = time.perf_counter()
        statuses = Counter[int]()
        for _ in range(times):
            statuses += _at_once(
                lambda number: server.ask("POST", path, bodies[number], headers=json_said, longest=100), _CLIENTS
            )
        seconds = time.perf_counter() - start
        done.set()
        fallen = small.result()
    fallen += [f"status {status}" for status in statuses if status not in (200, 503)]
    note = f"{statuses[200]} answered, {statuses[503]} told to come back, in {seconds:.0f} s; {peak[0] >> 20} MB"
    return row(f"{kind}, by {_CLIENTS} clients at once", times * _CLIENTS, fallen, note)
