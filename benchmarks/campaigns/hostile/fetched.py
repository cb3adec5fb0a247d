"""Servers of published sources that send something else: redirects, headers, bodies, and what is in the cache."""

from __future__ import annotations

import gzip
import hashlib
import io
import socket
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.attempts import Attempt, rows_of
from nymlink.sources.downloader import RetryPolicy
from nymlink.sources.fetch import FetchOptions, fetch
from nymlink.sources.source import PublishedSource

_OBO: Final = b"format-version: 1.2\n\n[Term]\nid: X:1\nname: heart attack\n"
_RETRIES: Final = RetryPolicy(timeout=1.0, tries=2, pause=0)
_LARGE: Final = 1 << 29
"""Bytes of an answer without an end: more than a small source may have."""
_TOTAL: Final = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_OBO)

Answer = bytes | Callable[[], Iterator[bytes]]
"""What a server sends: all of it, or pieces."""


def run(folder: Path, *, long: bool) -> list[Row]:  # noqa: ARG001 - all is tried at once
    """Let one server after the other answer.

    Args:
        folder: an empty folder.
        long: has no effect.
    """
    return rows_of(_attempts(), folder)


def _attempts() -> Iterator[Attempt]:
    for place in (
        *(
            "file:///etc/passwd",
            "ftp://127.0.0.1/x",
            "data:text/plain,x",
            "gopher://x",
            "//",
            "http://[",
            "http://",
        ),
        *(
            "http://\xff\xfe/",
            "http://127.0.0.1:99999/",
            "http://a b/",
            "x" * 60_000,
            "javascript:1",
            "/\x00",
            "?",
            "",
        ),
        *("http://127.0.0.1:1/", "http://user:word@127.0.0.1:1/", "\\\\host\\share", "http://127.0.0.1:x/"),
    ):
        head = f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")
        yield Attempt("redirects", place[:40], partial(_fetched, head), True)
    yield Attempt(
        "redirects", "a large body", partial(_fetched, _large(b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")), True
    )
    for name, lines in _HEADERS.items():
        yield Attempt("headers", name, partial(_fetched, b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n\r\n" + _OBO))
    for name, answer in _BODIES.items():
        yield Attempt("bodies", name, partial(_fetched, answer), True)
    for name, packed in _archives().items():
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(packed)
        yield Attempt("archives", name, partial(_fetched, head + packed, member="x.obo"))
    for name, text in _RECORDS.items():
        for suffix in (".json", ".part.json"):
            yield Attempt("records of the cache", f"{name} {suffix}", partial(_recorded, text, suffix))


_HEADERS: Final = {
    "a path in Content-Disposition": b'Content-Disposition: attachment; filename="../../../x"',
    "compressed, it says": b"Content-Encoding: gzip",
    "a length of many digits": b"Content-Length: " + b"9" * 5000,
    "a length of another alphabet": "Content-Length: ²".encode(),
    "two lengths": b"Content-Length: 5\r\nContent-Length: 50",
    "a negative length": b"Content-Length: -1",
    "both length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    "a tag with everything": b"ETag: \x01\x02'\"\xff; DROP TABLE",
    "a long tag": b"ETag: " + b"x" * 60_000,
    "a date that is none": b"Last-Modified: \xff",
    "1,000 headers": b"\r\n".join(b"X-%d: x" % at for at in range(1000)),
    "a header of 1 MB": b"X: " + b"x" * 1_000_000,
    "no header": b"nothing",
    "cookies": b"\r\n".join(b"Set-Cookie: %d=%s" % (at, b"x" * 4000) for at in range(90)),
}


def _large(head: bytes) -> Callable[[], Iterator[bytes]]:
    return partial(_pieces, head)


def _pieces(head: bytes) -> Iterator[bytes]:
    yield head
    for _ in range(_LARGE >> 16):
        yield bytes(1 << 16)


def _chunked(size: bytes, content: bytes = _OBO) -> bytes:
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n" + content


_BODIES: Final[dict[str, Answer]] = {
    "without an end": _large(b"HTTP/1.1 200 OK\r\n\r\n"),
    "chunks without an end": _large(_chunked(b"ffffffff", b"")),
    "a chunk of no size": _chunked(b"zz"),
    "a negative chunk": _chunked(b"-5"),
    "a chunk of many digits": _chunked(b"f" * 5000),
    "cut short": _TOTAL + _OBO[:20],
    "one petabyte, it says": b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n" + _OBO,
    "a page": b"HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html><p>gone",
    "nothing": b"",
    "no HTTP": b"\x00\xff" * 1000,
    "a status of many digits": b"HTTP/1.1 " + b"2" * 5000 + b" OK\r\n\r\n" + _OBO,
    "a reason with control characters": b"HTTP/1.1 404 \x1b[31m\x07gone\r\n\r\n",
    "a part that nobody asked for": b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-9/10\r\n\r\n" + _OBO,
    "unchanged, it says": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "continue a thousand times": b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,
    "a bomb": b"HTTP/1.1 200 OK\r\n\r\n" + gzip.compress(bytes(200 << 20)),
}


def _archives() -> dict[str, bytes]:
    def archive(members: dict[str, bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
        return file.getvalue()

    whole = archive({"x.obo": _OBO})
    return {
        "no archive": _OBO,
        "no member": archive({"y": b""}),
        "a member that is a folder": archive({"x.obo/": b""}),
        "a bomb": archive({"../../x.obo": bytes(200 << 20)}),
        "cut short": whole[:-30],
        "another length": whole.replace(len(_OBO).to_bytes(4, "little"), (1 << 31).to_bytes(4, "little")),
        "many members": archive({f"{at}": b"" for at in range(60_000)}),
    }


_RECORDS: Final = {
    "nothing": "",
    "a list": "[]",
    "nested": "[" * 100_000,
    "a number": "1" * 100_000,
    "other members": '{"url": 5, "stamp": [], "path": "/etc/passwd"}',
    "a path": '{"url": "", "sha256": "", "stamp": {}, "date": "", "path": "/etc/passwd"}',
    "no text": "\udcff",
}


def _fetched(answer: Answer, place: Path, *, member: str = "") -> None:
    """Fetch from a server that answers so; what is then in the cache must be what was asked for."""
    with _serving(answer) as url:
        fetched = _fetch(url, place, member=member)
    if fetched.read_bytes() != _OBO:
        raise AssertionError(f"something else is in the cache: {fetched}")


def _recorded(text: str, suffix: str, place: Path) -> None:
    """Fetch where somebody else wrote the record of the cached file."""
    kept = place / "cache" / "x"
    kept.mkdir(parents=True)
    for name in ("x.obo", "x.obo.part"):
        (kept / name).write_bytes(b"another file")
    (kept / f"x.obo{suffix}").write_text(text, encoding="utf-8", errors="surrogateescape")
    _fetched(_TOTAL + _OBO, place)


def _fetch(url: str, place: Path, *, member: str) -> Path:
    source = PublishedSource(
        name="x",
        title="x",
        url=f"{url}/x.zip" if member else f"{url}/x.obo",
        format="obo",
        licence="CC0-1.0",
        open=True,
        citation="",
        size="small",
        member=member,
    )
    fetched = fetch(source, options=FetchOptions(folder=place / "cache", retries=_RETRIES))
    if hashlib.sha256(fetched.path.read_bytes()).hexdigest() != fetched.sha256:
        raise AssertionError("the record states another digest")
    return fetched.path


@contextmanager
def _serving(answer: Answer) -> Iterator[str]:
    """Serve one answer to all requests, as bytes on the wire."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, answer), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def _serve(listening: socket.socket, answer: Answer) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(1 << 16)
                for piece in [answer] if isinstance(answer, bytes) else answer():
                    connection.sendall(piece)
                # Otherwise what was sent is lost when the request was not read to its end.
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1 << 16)
