"""Measure the memory of a server to which many clients send large tables at once, beside that of one client.

    python benchmarks/commands/serve_memory.py [--clients N] [--megabytes N] [--json FILE]

Each client makes a project, and sends it a table of its own: many rows of one name that the index has. What is
answered with 503 is sent again after the pause that the answer asks for. A server in a process of its own for each
number of clients; the peak is that of its resident memory (Linux). Meanwhile a small request is sent every tenth
of a second.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report

_PATIENCE: Final = 1200.0


def table(client: int, megabytes: int) -> bytes:
    """Write a table of so many megabytes."""
    row = "{0},heart attack,a patient of fifty years who said that it hurts: visit {0} of client {1}\n"
    count = megabytes * 2**20 // len(row.format(1_000_000, client))
    return ("id,finding,note\n" + "".join(row.format(number, client) for number in range(count))).encode()


def ask(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> int:
    """Send a request, again where the server has no room; return the status."""
    end = time.monotonic() + _PATIENCE
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 503 or time.monotonic() > end:
                return answer.status
            pause = float(answer.headers.get("Retry-After", "1"))
        # The server may close the connection before all was sent.
        except (ConnectionError, http.client.HTTPException):
            pause = 1.0
        finally:
            connection.close()
        time.sleep(pause)


def measure(index: Path, clients: int, megabytes: int) -> dict[str, Any]:
    """Let so many clients send tables at once; return statuses, peak and how long a small request took."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nymlink", "serve", "--index", f"toy={index}", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--projects", folder, "--no-access-log"], stderr=subprocess.PIPE, encoding="utf-8"
        )
        assert server.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", server.stderr.readline())
        assert found is not None
        port, done, waits = int(found[1]), threading.Event(), []

        def small() -> None:
            while not done.wait(0.1):
                start = time.monotonic()
                ask(port, "GET", "/health", b"", {})
                waits.append(time.monotonic() - start)

        def large(client: int) -> int:
            name = {"name": f"p{client}", "title": "Visits"}
            ask(port, "POST", "/projects", json.dumps(name).encode(), {"Content-Type": "application/json"})
            headers = {"X-File-Name": "visits.csv", "Content-Type": "application/octet-stream"}
            return ask(port, "POST", f"/projects/p{client}/files", table(client, megabytes), headers)

        try:
            start = time.monotonic()
            watch = threading.Thread(target=small, daemon=True)
            watch.start()
            with ThreadPoolExecutor(clients) as pool:
                statuses = list(pool.map(large, range(clients)))
            seconds = time.monotonic() - start
            done.set()
            watch.join(30)
            status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
            peak = re.search(r"VmHWM:\s+(\d+)", status)
            assert peak is not None
        finally:
            server.kill()
            server.communicate()
    return {
        "clients": clients,
        "MB each": megabytes,
        "taken": statuses.count(200),
        "peak MB": int(peak[1]) // 1024,
        "seconds": round(seconds, 1),
        "longest small request, ms": round(1000 * max(waits, default=0)),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--megabytes", type=int, default=8, help="of each table")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "t.tsv"
        source.write_text("id\tname\nX:1\theart attack\nX:2\tstroke\n", encoding="utf-8")
        Index.build(read_vocabulary(source), encoder=None, directory=Path(folder) / "i")
        rows = [measure(Path(folder) / "i", clients, arguments.megabytes) for clients in (1, arguments.clients)]
    for row in rows:
        row["times one"] = f"{row['peak MB'] / rows[0]['peak MB']:.2f}"
    print(report.table(list(rows[0]), [list(map(str, row.values())) for row in rows]))
    about = report.about(data="tables of one term", split=None, dictionary="two concepts", seed=None)
    report.save(arguments.json, {"about": about, "clients": rows})


if __name__ == "__main__":
    main()
