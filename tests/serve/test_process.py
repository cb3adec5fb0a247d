"""The command in a process of its own, asked over sockets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from nymlink.linking.linker import Linker
from tests.serve.running import Server
from tests.serve.toy import built_index

_IMPATIENT = """
import sys
from nymlink.serve.app import create_app
from nymlink.serve.server import run, take_port
from nymlink.serve.served import ServedIndexes
from nymlink.serve.serve_settings import Limits, ServeSettings
limits = Limits(body_seconds=0.3, taking_seconds=0.3)
taken = take_port("127.0.0.1", 0)
address = f"http://127.0.0.1:{taken.getsockname()[1]}/"
app = create_app(ServedIndexes([]), ServeSettings(limits=limits))
run(app, taken, limits=limits, ready=lambda: print(address, file=sys.stderr, flush=True))
"""
"""A server that waits for no more than 0.3 seconds, and has no index."""


def received(client: socket.socket) -> bytes:
    """An answer of JSON, whole."""
    answer = b""
    while not answer.endswith(b"}"):
        answer += client.recv(1000)
    return answer


def test_it_links(server: Server) -> None:
    assert server.link("heart attack", "MI") == [
        link.to_dict() for link in Linker(built_index()).link(["heart attack", "MI"])
    ]


def test_a_taken_port_is_a_clear_error(server: Server, index: Path) -> None:
    result = CliRunner().invoke(nymlink, ["serve", "--index", f"toy={index}", "--port", str(server.port)])
    assert result.exit_code == 2
    assert "the port is taken, perhaps by another nymlink serve" in result.stderr
    assert "--port" in result.stderr


def test_large_bodies_are_refused_and_slow_clients_hold_nobody_up(server: Server) -> None:
    slow = []
    for begun in (b"", b"POST /li", b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Le"):
        slow.append(server.connect())
        slow[-1].sendall(begun)
    slow.append(server.connect())
    slow[-1].sendall(b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
    with server.connect() as huge:
        huge.sendall(
            b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\nExpect: 100-continue\r\n\r\n"
        )
        assert huge.recv(1000).startswith(b"HTTP/1.1 413 ")
    with server.connect() as huge:
        huge.sendall(b"POST /link HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(12):
            huge.sendall(b"100000\r\n" + bytes(2**20) + b"\r\n")
        huge.sendall(b"0\r\n\r\n")
        assert huge.recv(1000).startswith(b"HTTP/1.1 413 ")
    started = time.perf_counter()
    assert len(server.link("heart attack")) == 1
    # The slow ones have 10 seconds for their headers and bodies.
    assert time.perf_counter() - started < 10
    for each in slow:
        each.close()


def test_slow_clients_lose_their_connection() -> None:
    server = Server("-c", _IMPATIENT)
    try:
        with (
            server.connect() as silent,
            server.connect() as dribbling,
            server.connect() as body,
            server.connect() as kept,
        ):
            body.sendall(b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
            kept.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert received(kept).startswith(b"HTTP/1.1 200 ")
            with contextlib.suppress(OSError):
                for byte in b"GET /health":
                    dribbling.sendall(bytes([byte]))
                    time.sleep(0.1)
            assert silent.recv(1000) == b""
            with contextlib.suppress(ConnectionError):
                assert dribbling.recv(1000) == b""
            assert body.recv(1000).startswith(b"HTTP/1.1 408 ")
            # A connection may rest between requests, but not within one.
            kept.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert received(kept).startswith(b"HTTP/1.1 200 ")
            kept.sendall(b"GET /hea")
            assert kept.recv(1000) == b""
    finally:
        server.process.kill()
        server.process.wait()


def is_connected(server: Server, client: tuple[str, int]) -> bool:
    return any(each.raddr == client for each in psutil.Process(server.process.pid).net_connections())


def test_a_client_that_takes_nothing_of_its_answer_loses_its_connection() -> None:
    server = Server("-c", _IMPATIENT)
    try:
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with server.connect() as first:
            # The description is made at the first request, which takes seconds on a slow machine.
            first.sendall(asked)
            assert received(first).startswith(b"HTTP/1.1 200 ")
        with server.connect() as client:
            # 35 MB, as much as no buffers hold, of which the client reads nothing until the server gives it up.
            client.sendall(asked * 250)
            ours, end = client.getsockname(), time.monotonic() + 60
            for taken_up in (True, False):
                while is_connected(server, ours) != taken_up:
                    assert time.monotonic() < end
                    time.sleep(0.05)
            taken = 0
            with contextlib.suppress(ConnectionError):
                while part := client.recv(2**20):
                    taken += len(part)
            assert taken < 2**24
        with server.connect() as other:
            other.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert received(other).startswith(b"HTTP/1.1 200 ")
    finally:
        server.process.kill()
        server.process.wait()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_more_idle_clients_than_the_usual_number_of_files_shut_nobody_out(index: Path) -> None:
    import resource

    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 2000:
        pytest.skip("this process may open few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
    try:
        server = Server.of(index)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    idle = []
    try:
        idle = [server.connect() for _ in range(200)]
        assert len(server.link("seizure")) == 1
    finally:
        for client in idle:
            client.close()
        server.process.kill()
        server.process.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


def test_binary_requests_are_refused(server: Server) -> None:
    with server.connect() as client:
        client.sendall(bytes(range(256)) * 10)
        assert client.recv(1000).startswith(b"HTTP/1.1 400 ")
    assert len(server.link("seizure")) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_was_taken_is_answered_before_the_end(index: Path) -> None:
    server = Server.of(index, "--no-access-log")
    body = json.dumps({"mentions": ["hart attak"] * 800}).encode()
    with server.connect() as client:
        client.sendall(b"POST /link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        client.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        # It is being worked on beside this one, or was.
        while not re.search(r'nymlink_open_requests 2[.]0|requests_total{method="POST"', server.get("/metrics")):
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        answer = b""
        while part := client.recv(2**20):
            answer += part
    head, _, answered = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert len(json.loads(answered)["links"]) == 800
    assert server.process.wait(20) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--index", "=x"], "NAME=PATH"),
        (["--index", "a b=toy"], "no name for an index"),
        (["--index", "toy=nowhere"], "nowhere"),
        (["--index", "toy=toy", "--index", "toy=toy"], "the same name"),
        (["--token-file", "nowhere"], "tokens cannot be read"),
        (["--token-file", "empty"], "there is no token in it"),
        (["--host", "300.1.2.3"], "is no address of this machine"),
        (["--host", "192.0.2.1"], "cannot be taken"),
    ],
)
def test_bad_arguments_are_refused(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").write_text("# no token\n\n", encoding="utf-8")
    Path("toy").symlink_to(index)
    result = CliRunner().invoke(nymlink, ["serve", "--port", "0", *options])
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.cli.serve.find_spec", lambda _: None)
    result = CliRunner().invoke(nymlink, ["serve"])
    assert result.exit_code == 2
    assert "pip install 'nymlink[serve]'" in result.stderr
