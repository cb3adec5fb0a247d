"""A server in a process of its own."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any


class Server:
    """A running server.

    Attributes:
        process: it.
        port: where it listens.
    """

    def __init__(self, *command: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command], stderr=subprocess.PIPE, encoding="utf-8", env=environment
        )
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", first)
        assert found, first
        self.port = int(found[1])

    @classmethod
    def of(cls, index: Path, *options: str) -> Server:
        """Run the command."""
        return cls("-m", "nymlink", "serve", "--index", f"toy={index}", "--port", "0", *options)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return answer.read().decode()

    def link(self, *mentions: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/link",
            json.dumps({"mentions": mentions}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["links"]
