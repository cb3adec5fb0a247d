"""A chat server on this machine, in the form of OpenAI's API."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], Any]


class ChatServer:
    """A chat server whose answers a function gives: a text, a status, bytes, or a number of seconds to wait."""

    def __init__(self, reply: Reply, models: tuple[str, ...] = ("small",)) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        done = self.done = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                assert self.path == "/v1/models"
                self.send(200, {"data": [{"id": name} for name in models]})

            def do_POST(self) -> None:
                assert self.path == "/v1/chat/completions"
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body)
                outer.headers.append(dict(self.headers))
                said = reply(body)
                if isinstance(said, float):
                    done.wait(said)
                    said = "late"
                if isinstance(said, int):
                    self.send(said, {"error": "no"})
                elif isinstance(said, bytes):
                    self.send(200, said)
                else:
                    self.send(200, {"choices": [{"message": {"role": "assistant", "content": said}}]})

            def send(self, status: int, body: Any) -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/v1/models")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def __enter__(self) -> ChatServer:
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
