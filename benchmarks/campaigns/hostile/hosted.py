"""A server of its own for a campaign, and raw requests to it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

import psutil

from benchmarks.campaigns.hostile import Row

TOKEN: Final = "token-of-the-campaign-4711"
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/")
_STARTING: Final = 60
_LONGEST: Final = 20
"""Seconds to wait for a server, and for an answer."""


class Answer(NamedTuple):
    """An answer; status 0 for none."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Hosted:
    """``nymlink serve`` in a process of its own, over a small index.

    Args:
        folder: gets the index, projects and the log.
        options: of the command.
        environment: more variables.
    """

    def __init__(self, folder: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.log = folder / "log"
        index = folder / "index"
        if not index.exists():
            from tests.serve.toy import built_index

            built_index().save(index)
        self.projects = folder / "projects"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "nymlink", "serve", "--index", f"toy={index}", "--port", "0"),
                    *("--projects", str(self.projects), *options),
                ],
                stdout=log,
                stderr=log,
                env={**os.environ, "NYMLINK_CACHE": str(folder / "cache"), **(environment or {})},
            )
        self.port = self._listening()
        self._seen = psutil.Process(self.process.pid)

    def _listening(self) -> int:
        until = time.monotonic() + _STARTING
        while time.monotonic() < until and self.process.poll() is None:
            # The last: a log may have those of servers before.
            if found := _ADDRESS.findall(self.log.read_text(encoding="utf-8")):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(found[-1])), 1):
                    return int(found[-1])
            time.sleep(0.05)
        raise SystemExit(f"the server did not start: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def __enter__(self) -> Hosted:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def memory(self) -> int:
        """Bytes of memory that the process has now."""
        size: int = self._seen.memory_info().rss
        return size

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=_LONGEST)

    def raw(self, sent: bytes, *, longest: float = _LONGEST) -> bytes:
        """Send bytes on a connection of their own; return all that comes back until it is closed."""
        received = bytearray()
        with contextlib.suppress(OSError), self.connect() as client:
            client.settimeout(longest)
            # A server that refuses may close before all is sent.
            with contextlib.suppress(OSError):
                client.sendall(sent)
            while part := client.recv(2**20):
                received += part
        return bytes(received)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Any = b"",
        *,
        headers: Iterable[tuple[str, str]] = (),
        longest: float = _LONGEST,
    ) -> Answer:
        """Send a request with just these headers, and ``Host`` and the like where they are not among them."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = list(headers)
        names = {name.lower() for name, _ in given}
        usual = [("Host", "127.0.0.1"), ("Connection", "close"), ("Content-Length", str(len(sent)))]
        if not isinstance(body, bytes):
            usual.append(("Content-Type", "application/json"))
        given += [(name, value) for name, value in usual if name.lower() not in names]
        lines = "".join(f"{name}: {value}\r\n" for name, value in given)
        head = f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("utf-8", "surrogateescape")
        return parsed(self.raw(head + sent, longest=longest))

    def is_well(self) -> bool:
        """Whether it still answers."""
        link = self.ask(
            "POST", "/link", {"mentions": ["heart attack"]}, headers=[("Authorization", f"Bearer {TOKEN}")]
        )
        return self.ask("GET", "/health").status == 200 and link.status == 200


def parsed(received: bytes) -> Answer:
    """Read the first answer of what was received."""
    head, _, body = received.partition(b"\r\n\r\n")
    found = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    if not found:
        return Answer(0, {}, b"")
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    headers = {name.decode("latin-1").lower(): value.strip().decode("latin-1") for name, _, value in pairs}
    return Answer(int(found[1]), headers, body)


def row(kind: str, tried: int, fallen: Sequence[object], note: str = "") -> Row:
    """Make a row; its note begins with the first that fell, if one did."""
    first = [f"fell: {fallen[0]}"[:200]] if fallen else []
    return Row(kind=kind, tried=tried, fell=len(fallen), note="; ".join([*first, *filter(None, [note])]))
