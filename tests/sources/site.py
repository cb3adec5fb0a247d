"""A web site on 127.0.0.1 that behaves as badly as it is told to."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from nymlink.sources.source import PublishedSource

Trouble = Callable[["Handler"], None]


@dataclass
class Site:
    """What the site holds and how it behaves.

    Attributes:
        files: path → content.
        troubles: path → what goes wrong with the next requests, one each; after them all is well.
        asked: the headers of all requests, by path.
        ranges: whether it knows ranges.
        conditions: whether it heeds ``If-Range``.
        stamps: whether it sends entity tags.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    troubles: dict[str, deque[Trouble]] = field(default_factory=lambda: defaultdict(deque))
    asked: dict[str, list[Mapping[str, str]]] = field(default_factory=lambda: defaultdict(list))
    ranges: bool = True
    conditions: bool = True
    stamps: bool = True

    def start(self) -> Callable[[], None]:
        """Serve; the function returned ends it."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Of", (Handler,), {"site": self}))
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop

    def source(self, path: str, content: bytes | str, **more: Any) -> PublishedSource:
        """Publish a file, and the source it is."""
        self.files[path] = content.encode() if isinstance(content, str) else content
        given = {
            "name": path.strip("/").split(".")[0],
            "title": path,
            "url": self.url + path,
            "format": "obo",
            "licence": "CC0-1.0",
            "open": True,
            "citation": "nobody",
            "size": "small",
        }
        return PublishedSource(**(given | more))


class Handler(http.server.BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.site.asked[self.path].append(dict(self.headers))
        troubles = self.site.troubles[self.path]
        trouble = troubles.popleft() if troubles else Handler.serve
        # A client may go away.
        with contextlib.suppress(ConnectionError):
            trouble(self)

    @property
    def content(self) -> bytes:
        return self.site.files[self.path]

    def serve(self) -> None:
        """Answer as a good server does."""
        status, body = self.answer()
        self.head(status, len(body))
        self.wfile.write(body)

    def answer(self) -> tuple[int, bytes]:
        if self.path not in self.site.files:
            return 404, b"no such page"
        asked, tag = self.headers, self.tag()
        if self.site.stamps and asked.get("If-None-Match") == tag:
            return 304, b""
        same = not self.site.conditions or asked.get("If-Range") == tag
        if self.site.ranges and same and (asked.get("Range") or "").startswith("bytes="):
            start = int(asked["Range"][6:].rstrip("-"))
            return (206, self.content[start:]) if start < len(self.content) else (416, b"")
        return 200, self.content

    def head(self, status: int, length: int | None, **headers: str) -> None:
        self.send_response(status)
        if status in (200, 206) and self.site.stamps:
            self.send_header("ETag", self.tag())
        if status == 206:
            size = len(self.content)
            self.send_header("Content-Range", f"bytes {size - (length or 0)}-{size - 1}/{size}")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def tag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:8]}"'

    def log_message(self, format: str, *args: Any) -> None:
        pass


def breaks_after(count: int) -> Trouble:
    """Send so many bytes of what is asked for, and no more."""

    def trouble(handler: Handler) -> None:
        status, body = handler.answer()
        handler.head(status, len(body))
        handler.wfile.write(body[:count])

    return trouble


def chunked(*, ends: bool) -> Trouble:
    """Send all in chunks, without stating a length, but end properly only if told to."""

    def trouble(handler: Handler) -> None:
        handler.head(200, None, **{"Transfer-Encoding": "chunked"})
        for start in range(0, len(handler.content), 1000):
            piece = handler.content[start : start + 1000]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if ends:
            handler.wfile.write(b"0\r\n\r\n")

    return trouble


class Clock:
    """A clock that each look at it puts forward by two seconds."""

    sleep = staticmethod(time.sleep)

    def __init__(self) -> None:
        self._now = 0.0
        self._looked = Condition()

    def monotonic(self) -> float:
        with self._looked:
            self._now += 2
            self._looked.notify_all()
            return self._now

    def send_in_turns(self, pieces: int) -> Trouble:
        """Send a piece each time that the client looks at this clock."""

        def trouble(handler: Handler) -> None:
            status, body = handler.answer()
            handler.head(status, len(body))
            step = -(-len(body) // pieces)
            for start in range(0, len(body), step):
                before = self._now
                handler.wfile.write(body[start : start + step])
                handler.wfile.flush()
                with self._looked:
                    self._looked.wait_for(lambda before=before: self._now > before, 10)  # type: ignore[misc]

        return trouble


def stalls() -> Trouble:
    """Send half and then nothing until the client leaves."""

    def trouble(handler: Handler) -> None:
        status, body = handler.answer()
        handler.head(status, len(body))
        handler.wfile.write(body[: len(body) // 2])
        handler.wfile.flush()
        handler.rfile.read(1)

    return trouble


def drips(pieces: int, pause: float) -> Trouble:
    """Send all, but slowly."""

    def trouble(handler: Handler) -> None:
        status, body = handler.answer()
        handler.head(status, len(body))
        step = -(-len(body) // pieces)
        for start in range(0, len(body), step):
            handler.wfile.write(body[start : start + step])
            handler.wfile.flush()
            time.sleep(pause)

    return trouble


def answers(status: int, body: bytes = b"", **headers: str) -> Trouble:
    """Answer with this, whatever was asked for."""

    def trouble(handler: Handler) -> None:
        handler.head(status, len(body), **headers)
        handler.wfile.write(body)

    return trouble


def claims(length: int) -> Trouble:
    """Send all, but state another length."""

    def trouble(handler: Handler) -> None:
        handler.head(200, length)
        handler.wfile.write(handler.content)

    return trouble
