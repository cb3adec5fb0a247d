"""Who may ask, what is logged, and what happens when something fails."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from nymlink.core.errors import StoreError, StoreUnavailableError
from nymlink.linking.linker import Linker
from nymlink.serve.guards.body import BodyGuard
from nymlink.serve.guards.hosts import own_hosts
from nymlink.serve.guards.memory import Claim, MemoryBudget
from nymlink.serve.serve_settings import Limits
from tests.serve.toy import serving

Body = list[bytes]
"""A body as it arrives, in chunks."""

SECRET = "Jane Roe, born 1950, has a heart attack"


def test_requests_need_a_token_where_there_are_some() -> None:
    with serving(tokens=("first-token", "second-token")) as client:
        for path in ("/health", "/static/nymlink.css", "/reconcile/toy", "/reconcile/toy/1.0-draft"):
            assert client.get(path).status_code == 200, path
        assert client.get("/reconcile/toy").json()["authentication"]["name"] == "Authorization"
        for path in ("/", "/metrics", "/indexes", "/search?q=a", "/concepts/T:3", "/docs", "/openapi.json"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), path
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/reconcile/toy", params={"queries": "{}"}).status_code == 401
        for header in ("Bearer third-token", "Bearer", "Basic first-token", "Bearer first-token2", "first-token"):
            answer = client.post("/link", json={"mentions": []}, headers={"Authorization": header})
            assert answer.status_code == 401, header
        for token in ("first-token", "second-token"):
            answer = client.post("/link", json={"mentions": []}, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 200
        preflight = {"Origin": "http://x", "Access-Control-Request-Method": "POST"}
        assert client.options("/reconcile/toy", headers=preflight).status_code == 204
        assert client.get("/health?token=first-token").status_code == 200


def test_a_browser_keeps_the_token_that_a_page_asked_for() -> None:
    with serving(tokens=("first-token",)) as client:
        browser = {"Accept": "text/html,*/*"}
        for path in ("/", "/concept/toy/T:3", "/docs"):
            answer = client.get(path, headers=browser)
            assert answer.status_code == 401
            assert "requires a token" in answer.text
        assert client.post("/session", headers={"Authorization": "Bearer wrong"}).status_code == 401
        answer = client.post("/session", headers={"Authorization": "Bearer first-token"})
        assert answer.status_code == 204
        kept = answer.headers["set-cookie"].lower()
        assert "httponly" in kept
        assert "samesite=strict" in kept
        for path in ("/", "/concept/toy/T:3", "/docs", "/indexes"):
            assert client.get(path, headers=browser).status_code == 200
        client.cookies.set("nymlink_token", "other", domain="testserver.local")
        assert client.get("/indexes", headers={"Cookie": "nymlink_token=other"}).status_code == 401


def test_manifests_of_tokens_are_valid(valid: Any) -> None:
    with serving(tokens=("first-token",)) as client:
        valid("0.2", "manifest", client.get("/reconcile/toy").json())
        valid("1.0-draft", "manifest", client.get("/reconcile/toy/1.0-draft").json())


@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        ((), "https://a.example", None),
        (("https://a.example",), "https://a.example", "https://a.example"),
        (("https://a.example",), "https://b.example", None),
        (("*",), "https://b.example", "*"),
    ],
)
def test_other_sites_may_ask_only_where_they_are_allowed(
    origins: tuple[str, ...], origin: str, allowed: str | None
) -> None:
    with serving(origins=origins) as client:
        answer = client.get("/health", headers={"Origin": origin})
        assert answer.headers.get("access-control-allow-origin") == allowed
        preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        status = client.options("/link", headers=preflight).status_code
        assert (status == 204) == (allowed is not None)


def test_addresses_are_those_of_the_proxy() -> None:
    with serving(public_url="https://names.example.org/nymlink/") as client:
        manifest = client.get("/reconcile/toy").json()
        assert manifest["view"]["url"] == "https://names.example.org/nymlink/concept/toy/{{id}}"
        assert manifest["suggest"]["entity"]["service_url"] == "https://names.example.org/nymlink/reconcile/toy"


def test_the_log_has_no_text_of_requests(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client.post("/link", json={"mentions": [SECRET], "text": SECRET})
    client.post("/link", json={SECRET: SECRET})
    client.post("/link", content=f'{{"mentions": "{SECRET}'.encode())
    client.get("/search", params={"q": SECRET})
    client.get(f"/concepts/{SECRET}")
    client.get("/", params={"text": SECRET})
    client.get(f"/{SECRET}")
    client.post("/reconcile/toy", data={"queries": json.dumps({SECRET: {"query": SECRET}})})
    client.get("/reconcile/toy", params={"queries": json.dumps({SECRET: {"quer": SECRET}})})
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    lines = [record.fields for record in ours if record.name == "nymlink.access"]
    assert [line["status"] for line in lines] == [200, 422, 415, 200, 404, 200, 404, 200, 400]
    assert [line["route"] for line in lines][:2] == ["/link", "/link"]
    assert lines[0]["mentions"] == 1
    assert lines[0]["request_bytes"] > len(SECRET)
    assert not any(word in record.getMessage() for record in ours for word in ("Jane", "1950", "heart"))


def test_an_unforeseen_error_is_told_without_its_message(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(Linker, "link_documents", fail)
    answer = client.post("/link", json={"mentions": ["a"]})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    [failure] = [record.getMessage() for record in caplog.records if record.name == "nymlink.failures"]
    assert "RuntimeError in fail (" in failure
    assert "Jane" not in failure
    monkeypatch.undo()
    assert client.post("/link", json={"mentions": ["a"]}).status_code == 200


@pytest.mark.parametrize(
    ("listening", "public", "host", "status"),
    [
        ("127.0.0.1", None, "127.0.0.1:8000", 200),
        ("127.0.0.1", None, "LOCALHOST", 200),
        ("::1", None, "[::1]:8000", 200),
        ("127.0.0.2", None, "127.0.0.2:8000", 200),
        ("127.0.0.1", None, "rebound.example", 421),
        ("127.0.0.1", None, "localhost.rebound.example:8000", 421),
        ("localhost", None, "[broken", 421),
        ("::1", None, "[::1].rebound.example", 421),
        ("localhost", None, "rebound@localhost", 421),
        ("localhost", None, "localhost:80:80", 421),
        ("localhost", None, "localhost:x", 421),
        ("localhost", None, "localhost,rebound.example", 421),
        ("127.0.0.1", "https://names.example.org/nymlink", "names.example.org", 200),
        ("0.0.0.0", None, "whatever.example", 200),
    ],
)
def test_a_server_of_this_machine_is_asked_by_its_own_names(
    listening: str, public: str | None, host: str, status: int
) -> None:
    with serving(hosts=own_hosts(listening, public)) as client:
        answer = client.get("/health", headers={"Host": host})
        assert answer.status_code == status
        if status == 421:
            assert answer.json()["code"] == "unknown_host"
            assert "content-security-policy" in answer.headers


def test_a_request_names_the_server_once() -> None:
    with serving(hosts=own_hosts("localhost", None)) as client:
        for names in (
            ("localhost", "rebound.example"),
            ("rebound.example", "localhost"),
            ("localhost", "localhost"),
        ):
            assert client.get("/health", headers=[("Host", name) for name in names]).status_code == 421


def test_a_store_that_does_not_answer_is_no_damage(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, status, code in (
        (StoreUnavailableError("db.example.org is down"), 503, "store_unavailable"),
        (StoreError("file gone"), 500, "damaged_index"),
    ):

        def fail(*_: Any, error: Exception = error, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(Linker, "link_documents", fail)
        answer = client.post("/link", json={"mentions": ["a"]})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert "example" not in answer.text
        assert ("retry-after" in answer.headers) == (status == 503)


async def send_bodies(guard: BodyGuard, *bodies: Body, path: str = "/link") -> list[int]:
    """Send bodies at the same time, chunk by chunk; return the statuses."""

    async def send_one(chunks: Body) -> int:
        waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
        waiting.append({"type": "http.request", "body": b"", "more_body": False})
        statuses: list[int] = []

        async def receive() -> Message:
            await (asyncio.sleep(0) if waiting else asyncio.Future())
            return waiting.pop(0)

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        with Claim(MemoryBudget(2**30)) as claim:
            scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
            await guard({**scope, "state": {"claim": claim}}, receive, send)
        return statuses[0]

    return list(await asyncio.gather(*map(send_one, bodies)))


def test_files_are_worked_on_one_after_the_other() -> None:
    at_work = 0

    async def app(_: Scope, __: Receive, send: Send) -> None:
        nonlocal at_work
        at_work += 1
        assert at_work == 1
        await asyncio.sleep(0.02)
        at_work -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = BodyGuard(app, limits=Limits())
    bodies = [[b"a,b\n"]] * 5
    assert asyncio.run(send_bodies(guard, *bodies, path="/projects/a/files")) == [200] * 5
    impatient = BodyGuard(app, limits=Limits(file_seconds=0.03))
    statuses = asyncio.run(send_bodies(impatient, *bodies, path="/projects/preview"))
    assert set(statuses) == {200, 503}


def test_small_requests_pass_large_ones() -> None:
    large = [[b"x" * 10_000]] * 8
    small = [[b"x"]] * 8
    ended: list[int] = []
    at_work: list[int] = []
    small_ended = asyncio.Event()

    async def app(_: Scope, receive: Receive, send: Send) -> None:
        size = len((await receive())["body"])
        at_work.append(size)
        assert at_work.count(10_000) <= 2
        if size > 1:
            # Longer than all small ones take.
            await asyncio.wait_for(small_ended.wait(), 30)
        at_work.remove(size)
        ended.append(size)
        if ended == [1] * 8:
            small_ended.set()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        # A client that takes its answer slowly does not keep its turn.
        await asyncio.sleep(0.05)

    statuses = asyncio.run(send_bodies(BodyGuard(app, limits=Limits()), *large, *small))
    assert statuses == [200] * 16
    assert ended[:8] == [1] * 8


def test_a_long_query_is_answered(client: TestClient) -> None:
    assert client.get("/health", params={"x": "y" * 5000}).status_code == 200
