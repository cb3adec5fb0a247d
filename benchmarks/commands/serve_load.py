"""Measure `nymlink serve` under load: many clients at the same time, on this machine alone.

    python benchmarks/commands/serve_load.py [--requests 50000] [--clients 200] [--index FOLDER] [--json FILE]

Every client keeps a connection, and sends its next request when it has the answer to the last. The clients are
one process, which shares the cores with the server. Links are to MEDIC 2012 with nymlink-mini, unless an index is
given; mentions are those of NCBI and BC5CDR (training, development), from $NYMLINK_DATA or ../shared/data.
Between rounds of load ``Linker.link`` is measured on the same mentions, all at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, inputs, report

NYMLINK: Final = str(Path(sys.executable).with_name("nymlink"))
_PASSES: Final = 2
_ROUNDS: Final = 5
_LOADS: Final = (
    ("1 mention a request", 1, 1, False),
    ("10 mentions a request", 10, 0.1, False),
    ("1 mention, beside a huge and a slow client", 1, 0.1, True),
)
"""Name, mentions of a request, its share of the number of requests, whether a huge and a slow client ask, too."""

_HUGE: Final = 2000
"""Mentions of a huge request: as many as the server takes."""


def batch(index: str, queries: str) -> dict[str, Any]:
    """Measure mentions a second of ``Linker.link``, all mentions at once."""
    from nymlink.linking.linker import Linker

    linker = Linker.load(index)
    mentions = inputs.read_queries(queries)
    linker.link(mentions[:500])
    start, start_cpu = time.perf_counter(), time.process_time()
    for _ in range(_PASSES):
        linker.link(mentions)
    linked = _PASSES * len(mentions)
    return {
        "mentions": linked,
        "per_second": linked / (time.perf_counter() - start),
        "cpu_ms": 1000 * (time.process_time() - start_cpu) / linked,
    }


def clients(port: int, queries: str, *, clients: int, requests: int, mentions: int, huge: bool) -> dict[str, Any]:
    """Send requests from many clients at the same time; measure the time to each answer, and count errors.

    Args:
        port: of the server.
        queries: file of mentions.
        clients: how many there are.
        requests: of all clients together.
        mentions: of a request.
        huge: whether one more client sends requests of 2,000 mentions all the while, and another one a byte a
            second.
    """
    return asyncio.run(_Load(port, inputs.read_queries(queries), requests, mentions).run(clients, huge=huge))


class _Load:
    """Requests that several clients share."""

    def __init__(self, port: int, queries: Sequence[str], requests: int, mentions: int) -> None:
        self._port = port
        self._queries = queries
        self._left = requests
        self._mentions = mentions
        self._next = 0
        self._waits: list[float] = []
        self._errors = 0
        self._huge = 0

    async def run(self, clients: int, *, huge: bool) -> dict[str, Any]:
        others = [asyncio.create_task(one) for one in ([self._send_huge(), self._dribble()] if huge else [])]
        start = time.perf_counter()
        await asyncio.gather(*(self._client() for _ in range(clients)))
        seconds = time.perf_counter() - start
        for one in others:
            one.cancel()
        cuts = statistics.quantiles(self._waits, n=100, method="inclusive")
        return {
            "requests": len(self._waits),
            "errors": self._errors,
            "requests_per_second": len(self._waits) / seconds,
            "mentions": len(self._waits) * self._mentions + self._huge * _HUGE,
            "seconds": seconds,
            **{name: 1000 * cuts[at - 1] for name, at in (("p50", 50), ("p95", 95), ("p99", 99))},
            "longest": 1000 * max(self._waits),
            "huge": self._huge,
        }

    async def _client(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while self._left:
            self._left -= 1
            request = _request(self._take(self._mentions))
            start = time.perf_counter()
            writer.write(request)
            self._errors += not await _is_answered(reader, self._mentions)
            self._waits.append(time.perf_counter() - start)
        writer.close()

    async def _send_huge(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while True:
            writer.write(_request(self._take(_HUGE)))
            self._errors += not await _is_answered(reader, _HUGE)
            self._huge += 1

    async def _dribble(self) -> None:
        while True:
            _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            for byte in b"POST /link HTTP/1.1\r\n":
                writer.write(bytes([byte]))
                await asyncio.sleep(1)

    def _take(self, count: int) -> list[str]:
        taken = [self._queries[(self._next + step) % len(self._queries)] for step in range(count)]
        self._next += count
        return taken


def _request(mentions: Sequence[str]) -> bytes:
    body = json.dumps({"mentions": mentions}).encode()
    head = (
        f"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n" + body


async def _is_answered(reader: asyncio.StreamReader, mentions: int) -> bool:
    """Read an answer; whether it has as many links as were asked for."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    return head.startswith(b"http/1.1 200 ") and body.count(b'"query": ') == mentions


class _Server:
    """A server in a process of its own, whose memory is read every half second."""

    def __init__(self, index: str) -> None:
        import psutil

        start = time.perf_counter()
        command = [NYMLINK, "serve", "--index", f"medic={index}", "--port", "0", "--no-access-log"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        address = self._process.stderr.readline().split()[1]
        self.port = int(address.rstrip("/").rsplit(":", 1)[1])
        urllib.request.urlopen(f"{address}health").close()
        self.start_seconds = time.perf_counter() - start
        self._memory = psutil.Process(self._process.pid)
        self.samples: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self.sample_memory()

    def sample_memory(self) -> None:
        """Add what memory the server has now, in MB, to the samples."""
        self.samples.append(self._memory.memory_info().rss / 2**20)

    def cpu_seconds(self) -> float:
        """Processor time that the server has used."""
        times = self._memory.cpu_times()
        return float(times.user + times.system)

    def completions(self, texts: Sequence[str]) -> list[float]:
        """Measure the milliseconds of /search."""
        waits = []
        for text in texts:
            start = time.perf_counter()
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/search?q={text}").read()
            waits.append(1000 * (time.perf_counter() - start))
        return waits

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._process.terminate()
        self._process.wait()


def measure(index: str, queries: str, *, requests: int, count: int) -> dict[str, Any]:
    """Measure the server under several loads, in rounds, between which the linker alone is measured.

    So a machine that does other work, too, is as fast for one as for the other.
    """
    server = _Server(index)
    alone = [apart.run("commands.serve_load:batch", index=index, queries=queries)]
    rounds: dict[str, list[dict[str, Any]]] = {}
    try:
        texts = [query[:length] for query in inputs.read_queries(queries, 200) for length in (1, 3, 6)]
        search_ms = server.completions([text.replace(" ", "+") for text in texts if text.isascii()])
        load = {"port": server.port, "queries": queries, "clients": count}
        for _ in range(_ROUNDS):
            for name, mentions, share, huge in _LOADS:
                cpu, before = server.cpu_seconds(), len(server.samples)
                asked = int(requests * share) // _ROUNDS
                done = apart.run(
                    "commands.serve_load:clients", **load, requests=asked, mentions=mentions, huge=huge
                )
                done["cpu_ms"] = 1000 * (server.cpu_seconds() - cpu) / done["mentions"]
                # A short round may have ended before it was looked at.
                server.sample_memory()
                done["memory_mb"] = statistics.median(server.samples[before:])
                rounds.setdefault(name, []).append(done)
            alone.append(apart.run("commands.serve_load:batch", index=index, queries=queries))
    finally:
        server.close()
    return {"alone": alone, "rounds": rounds, "start_seconds": server.start_seconds, "search_ms": search_ms}


def text(result: dict[str, Any]) -> str:
    """Format the result as tables."""
    # Time is added up, as that of the mentions of a load is.
    alone = len(result["alone"]) / sum(1 / each["per_second"] for each in result["alone"])
    alone_cpu = statistics.mean(each["cpu_ms"] for each in result["alone"])
    rows = []
    for name, rounds in result["rounds"].items():
        mentions, seconds = (sum(each[key] for each in rounds) for key in ("mentions", "seconds"))
        rows.append(
            [
                name,
                f"{sum(each['requests'] for each in rounds):,}",
                f"{sum(each['errors'] for each in rounds)}",
                *(f"{statistics.median(each[cut] for each in rounds):.0f}" for cut in ("p50", "p95", "p99")),
                f"{mentions / seconds:,.0f}",
                f"{100 * mentions / seconds / alone:.0f} %",
                f"{statistics.mean(each['cpu_ms'] for each in rounds):.2f}",
                f"{rounds[0]['memory_mb']:.0f} → {rounds[-1]['memory_mb']:.0f}",
            ]
        )
    header = (
        "load",
        "requests",
        "errors",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "mentions a second",
        "of `Linker.link`",
        "CPU ms a mention",
        "MB in the first → last round",
    )
    cuts = statistics.quantiles(result["search_ms"], n=100, method="inclusive")
    others = [
        ["`Linker.link` in batch, mentions a second", f"{alone:,.0f}"],
        ["`Linker.link` in batch, CPU ms a mention", f"{alone_cpu:.2f}"],
        ["from the start of the process to the answer of `/health`, s", f"{result['start_seconds']:.1f}"],
        ["`/search`, ms (median)", f"{cuts[49]:.1f}"],
        ["`/search`, ms (99th percentile)", f"{cuts[98]:.1f}"],
    ]
    return "\n".join([report.table(header, rows), "", report.table(("beside it", "measured"), others)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=50_000, help="of one mention each")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--index", help="an index to link to; without it MEDIC with nymlink-mini is built")
    parser.add_argument("--note", help="what else the machine did")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(inputs.data_root()), output=queries, seed=0)
        index = arguments.index
        if index is None:
            apart.run(
                "common.inputs:build_vocabulary", source=str(inputs.data_root() / inputs.MEDIC), directory=folder
            )
            apart.run("common.inputs:build_index", directory=folder, name="index", encoder="nymlink-mini")
            index = str(Path(folder) / "index")
        result = measure(index, queries, requests=arguments.requests, count=arguments.clients)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["loads", "beside"],
        data=f"{arguments.clients} clients; prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare",
        seed=0,
        **({} if arguments.note is None else {"note": arguments.note}),
        figures={key: value for key, value in result.items() if key != "search_ms"},
    )


if __name__ == "__main__":
    main()
