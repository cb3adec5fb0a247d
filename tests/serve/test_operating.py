"""A server that runs for long: it starts, takes new releases of indexes and tokens, and says what it does."""

from __future__ import annotations

import gc
import json
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from nymlink.cli import nymlink
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.serve.guards.tokens import Rates
from nymlink.serve.guards.watch import log_to_standard_error
from nymlink.serve.serve_settings import Limits
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.serve.running import Server
from tests.serve.toy import serving

MENTION = "heart attack"


def save_release(folder: Path, prefix: str) -> None:
    """Write an index whose concepts have ids of a prefix."""
    builder = TableBuilder()
    for number, name in enumerate((MENTION, "seizure", "fever")):
        builder.concept(f"{prefix}:{number}")
        builder.name(f"{prefix}:{number}", name, lang="en", kind="preferred")
    vocabulary = Vocabulary.of((Source("toy", "table", version=prefix), builder.build()))
    Index.build(vocabulary, encoder=None).save(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_release(tmp_path / "index", "OLD")
    return tmp_path / "index"


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_ready(client: TestClient) -> bool:
    return bool(client.get("/ready").status_code == 200)


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    """A client of a server that has opened the index of a folder."""
    with serving(places=[("toy", folder)]) as client:
        wait_for(lambda: is_ready(client))
        yield client


def concept(answer: Any) -> str:
    return str(answer.json()["links"][0]["candidates"][0]["concept_id"])


def link(client: TestClient, *mentions: str) -> Any:
    return client.post("/v1/link", json={"mentions": mentions or [MENTION]})


def test_a_new_release_is_opened_and_old_requests_end_on_the_old_one(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, end = threading.Event(), threading.Event()
    usual = Linker.link_documents

    def slow(self: Linker, documents: Any, **choices: Any) -> Any:
        listed = list(documents)
        if any(mention.text == "fever" for each in listed for mention in each.mentions):
            begun.set()
            assert end.wait(60)
        return usual(self, listed, **choices)

    monkeypatch.setattr(Linker, "link_documents", slow)
    assert client.post("/v1/indexes/reload").json() == {"indexes": [{"name": "toy", "changed": False}]}
    old = weakref.ref(client.app.state.indexes.named("toy"))  # type: ignore[attr-defined]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(link, client, MENTION, "fever")
        assert begun.wait(60)
        save_release(folder, "NEW")
        assert client.post("/v1/indexes/reload").json() == {"indexes": [{"name": "toy", "changed": True}]}
        assert concept(link(client)) == "NEW:0"
        assert client.get("/v1/indexes").json()["indexes"][0]["sources"][0]["version"] == "NEW"
        assert not waiting.done()
        end.set()
        assert concept(waiting.result(60)) == "OLD:0"
    gc.collect()
    wait_for(lambda: old() is None)
    assert 'nymlink_waiting_mentions{index="toy"} 0.0' in client.get("/metrics").text


def test_a_broken_release_leaves_the_old_one(client: TestClient, folder: Path, tmp_path: Path) -> None:
    save_release(tmp_path / "new", "NEW")
    kept = folder.rename(tmp_path / "kept")
    (tmp_path / "new").rename(folder)
    largest = max((path for path in folder.rglob("*.arrow")), key=lambda path: path.stat().st_size)
    content = largest.read_bytes()
    for broken in (content[:-8], content[:100] + bytes([content[100] ^ 1]) + content[101:]):
        largest.write_bytes(broken)
        answer = client.post("/v1/indexes/reload")
        assert (answer.status_code, answer.json()["code"]) == (500, "not_reloaded")
        assert answer.json()["what"].startswith("index toy: ")
        assert str(folder) not in answer.text
        assert concept(link(client)) == "OLD:0"
    largest.write_bytes(content)
    assert client.post("/v1/indexes/reload").status_code == 200
    assert concept(link(client)) == "NEW:0"
    assert kept.is_dir()


def test_other_sites_reload_nothing(client: TestClient) -> None:
    answer = client.post(
        "/v1/indexes/reload", headers={"Origin": "https://a.example", "Sec-Fetch-Site": "cross-site"}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "other_site")


def test_tokens_are_read_again(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\nfirst\n", encoding="utf-8")

    def status(token: str, path: str = "/v1/link") -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return client.post(path, json={"mentions": []}, headers=headers).status_code

    with serving(places=[("toy", folder)], token_file=file) as client:
        wait_for(lambda: is_ready(client))
        assert (status("first"), status("second")) == (200, 401)
        assert status("second", "/v1/indexes/reload") == 401
        file.write_text("second\n", encoding="utf-8")
        assert status("first") == 200
        assert status("first", "/v1/indexes/reload") == 200
        assert (status("first"), status("second")) == (401, 200)
        file.write_text("# none\n", encoding="utf-8")
        assert status("second", "/v1/indexes/reload") == 500
        assert status("second") == 200


def test_a_server_that_opens_its_indexes_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()
    load = Index.load

    def slow(place: Path) -> Index:
        # Work in Python, not a wait: requests get their turn between its steps.
        started = time.monotonic()
        while not end.is_set():
            assert time.monotonic() < started + 60
        return load(place)

    monkeypatch.setattr(Index, "load", slow)
    with serving(places=[("toy", folder)], projects=folder.parent / "projects") as client:
        health = client.get("/health")
        assert (health.status_code, health.json()["status"], health.json()["indexes"]) == (
            200,
            "building",
            ["toy"],
        )
        for path in ("/ready", "/v1/indexes", "/search?q=a", "/reconcile/toy"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (503, "not_ready"), path
            assert answer.headers["retry-after"] == "5"
        assert link(client).status_code == 503
        assert client.get("/", headers={"Accept": "text/html"}).status_code == 503
        assert client.post("/v1/indexes/reload").status_code == 503
        assert client.get("/metrics").status_code == 200
        end.set()
        wait_for(lambda: is_ready(client))
        assert client.get("/health").json()["status"] == "ok"
        assert concept(link(client)) == "OLD:0"


def test_health_waits_for_no_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    make = TypeAdapter.__init__

    def counted(self: TypeAdapter[Any], kind: Any, **settings: Any) -> None:
        made.append(kind)
        make(self, kind, **settings)

    with serving() as client:
        monkeypatch.setattr(TypeAdapter, "__init__", counted)
        # The routes of an application are prepared when its first requests pass them.
        assert client.get("/health").status_code == 200
        assert len(made) < 10
        assert client.get("/v1/indexes").status_code == 200
        assert len(made) < 400


def test_a_request_keeps_its_id_or_gets_one(client: TestClient) -> None:
    given = client.get("/v1/search?q=a", headers={"X-Request-ID": "job-7.42_b"})
    assert given.headers["x-request-id"] == "job-7.42_b"
    made = {client.get("/health").headers["x-request-id"] for _ in range(5)}
    assert len(made) == 5
    assert all(len(each) == 32 for each in made)
    for unusable in ("", "two words", "x" * 129, 'a"b', "é".encode()):
        assert len(client.get("/health", headers={"X-Request-ID": unusable}).headers["x-request-id"]) == 32
    for path in ("/v1/concepts/none", "/nowhere", "/reconcile/none"):
        answer = client.get(path, headers={"X-Request-ID": "job-8"})
        assert answer.status_code == 404
        assert answer.json()["request_id"] == answer.headers["x-request-id"] == "job-8"


def test_answers_are_compressed_for_those_who_accept_it(client: TestClient) -> None:
    body = {"mentions": ["fever"] * 100}
    plain = client.post("/v1/link", json=body, headers={"Accept-Encoding": "identity"})
    packed = client.post("/v1/link", json=body, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()
    assert int(packed.headers["content-length"]) < len(plain.content) / 10
    small = client.get("/health", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in small.headers


def test_a_token_has_so_many_requests_a_minute() -> None:
    with serving(tokens=("first", "second"), limits=Limits(requests_per_minute=2)) as client:

        def status(token: str) -> Any:
            return client.get("/v1/search?q=a", headers={"Authorization": f"Bearer {token}"})

        assert [status("first").status_code for _ in range(2)] == [200, 200]
        refused = status("first")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert status("second").status_code == 200
        assert client.get("/health").status_code == 200
        api = client.get("/openapi.json", headers={"Authorization": "Bearer second"}).json()
        for path, methods in api["paths"].items():
            assert all("429" in route["responses"] for route in methods.values()), path


def test_requests_are_allowed_again_as_time_passes() -> None:
    now = 0.0
    rates = Rates(60, clock=lambda: now)
    assert [rates.take(b"a") for _ in range(61)] == [0] * 60 + [1]
    now = 0.5
    assert rates.take(b"a") == 1
    now = 1.1
    assert [rates.take(b"a"), rates.take(b"a")] == [0, 1]
    now = 1000.0
    assert [rates.take(b"a") for _ in range(61)] == [0] * 60 + [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mentons = 3", "unknown settings: mentons (line 1); there are: body_bytes"),
        ("\nmentions = 'many'", "limits.toml:2: mentions must be a whole number, not 'many'"),
        ("top_k = 0", "limits must be above 0: top_k"),
        ("requests_per_minute = 5", "--token-file"),
    ],
)
def test_bad_limits_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "limits.toml").write_text(content, encoding="utf-8")
    result = CliRunner().invoke(nymlink, ["serve", "--port", "0", "--limits", str(tmp_path / "limits.toml")])
    assert result.exit_code == 2, result.output
    assert message in result.stderr


@pytest.mark.large
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP here")
def test_a_process_reloads_at_sighup_and_writes_nothing_but_json(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("mentions = 2\n", encoding="utf-8")
    server = Server.of(folder, "--log-format", "json", "--limits", str(tmp_path / "limits.toml"))
    said: list[str] = []
    assert server.process.stderr is not None
    reading = threading.Thread(target=lambda: said.extend(server.process.stderr or ()))
    reading.start()

    def told(text: str) -> bool:
        return any(text in line for line in said)

    try:
        assert server.link(MENTION)[0]["candidates"][0]["concept_id"] == "OLD:0"
        with pytest.raises(OSError, match="413"):
            server.link("a", "b", "c")
        save_release(folder, "NEW")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: told("reloaded; other releases: toy"))
        assert server.link(MENTION)[0]["candidates"][0]["concept_id"] == "NEW:0"
        next(folder.rglob("*.arrow")).write_bytes(b"")
        (folder / "manifest.json").write_bytes(b"{}")
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: told("not reloaded"))
        assert server.link(MENTION)[0]["candidates"][0]["concept_id"] == "NEW:0"
        server.process.terminate()
        assert server.process.wait(60) == 0
    finally:
        server.process.kill()
        server.process.wait()
        reading.join()
    lines = [json.loads(line) for line in said]
    assert {"time", "level", "message"} <= set.intersection(*map(set, lines))
    assert {line["level"] for line in lines} == {"info", "error"}
    requests = [line for line in lines if line["message"] == "request"]
    assert [line["status"] for line in requests] == [200, 413, 200, 200]
    assert all(line["request_id"] and line["route"] == "/link" for line in requests)


def test_two_processes_share_the_files_of_an_index(index: Path, server: Server) -> None:
    servers = [server, Server.of(index, "--no-access-log")]
    try:
        first, second = (one.link("heart attack", "MI") for one in servers)
        assert first == second
        if hasattr(psutil.Process, "memory_maps"):
            mapped = [
                {each.path for each in psutil.Process(one.process.pid).memory_maps() if str(index) in each.path}
                for one in servers
            ]
            assert mapped[0] == mapped[1] != set()
    finally:
        servers[1].process.kill()
        servers[1].process.wait()


def test_failures_have_the_id_of_their_request(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with log_to_standard_error():
        monkeypatch.setattr(Linker, "link_documents", lambda *_, **__: 1 / 0)
        answer = client.post("/v1/link", json={"mentions": ["a"]}, headers={"X-Request-ID": "job-9"})
    assert answer.status_code == 500
    assert answer.json()["request_id"] == "job-9"
    failure = next(line for line in capsys.readouterr().err.splitlines() if "ZeroDivisionError" in line)
    assert failure.endswith("request_id=job-9")
