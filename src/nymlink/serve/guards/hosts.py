"""Who may ask, and what browsers may do with the answer: hosts, tokens, headers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from hmac import compare_digest
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.serve.errors import ProblemAnswer
from nymlink.serve.templates import page

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SECURITY: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-File-Name",
    "Access-Control-Max-Age": "86400",
}


class HeaderGuard:
    """Adds headers to all answers, errors too, and answers what browsers ask before they ask another site.

    Args:
        app: what answers.
        origins: sites whose pages may read all answers, ``"*"`` for any; those of reconciliation any page may
            read, as its specifications want it.
    """

    def __init__(self, app: ASGIApp, *, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        allowed = self._allowed(scope["path"], asked.get("origin"))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**_SECURITY, **allowed}.items():
                    headers.setdefault(name, value)
            await send(message)

        if allowed and scope["method"] == "OPTIONS" and "access-control-request-method" in asked:
            private = "access-control-request-private-network" in asked
            network = {"Access-Control-Allow-Private-Network": "true"} if private else {}
            await Response(status_code=204, headers=_PREFLIGHT | network)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _allowed(self, path: str, origin: str | None) -> dict[str, str]:
        """Say which site may read the answer, as headers."""
        if "*" in self._origins or path.startswith("/reconcile/"):
            return {"Access-Control-Allow-Origin": "*"}
        if origin is not None and origin in self._origins:
            return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        return {}


_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::[0-9]*)?")

_WRONG_HOST: Final = ProblemAnswer(
    421,
    "unknown_host",
    "this server is not known by that name",
    "ask http://localhost and its port; behind a proxy, start the server with --public-url",
)


def own_hosts(listening: str, public_url: str | None) -> frozenset[str]:
    """Say by which names a server is asked that only this machine can reach; empty for others: by any name.

    Args:
        listening: name or address where it listens.
        public_url: where browsers reach it, if elsewhere.
    """
    name = listening.lower()
    if name not in _LOOPBACK and not _is_loopback(name):
        return frozenset()
    public = urlsplit(public_url).hostname if public_url else None
    return frozenset({*_LOOPBACK, name, *([public] if public else [])})


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class HostGuard:
    """Refuses requests whose ``Host`` is none of the names of the server.

    A site can let its own name lead to 127.0.0.1 ("DNS rebinding"), whereupon its pages may read answers.

    Args:
        app: what answers.
        hosts: names that the server is asked by; empty for any.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._hosts and not self._is_known(Headers(scope=scope).getlist("host")):
            await _WRONG_HOST.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, hosts: Sequence[str]) -> bool:
        """Whether a request names this server, once; one of HTTP 1.0 may name none."""
        if not hosts:
            return True
        found = _HOST.fullmatch(hosts[0])
        return len(hosts) == 1 and found is not None and (found[1] or found[2]).lower() in self._hosts


COOKIE: Final = "nymlink_token"
"""Where a browser keeps the token that was given to a page, out of reach of scripts and of other sites."""

_OPEN: Final = re.compile(r"/health|/static/.*")
"""What is there for all: whether the server runs, and what the page that asks for a token is made of."""

_MANIFEST: Final = re.compile(r"/reconcile/[^/]+/?(?:1\.0-draft/?)?")
"""Manifests say that a token is needed; without parameters they are open, as the specifications want it."""

_NO_TOKEN: Final = ProblemAnswer(
    401,
    "unauthorized",
    "the request has no valid token",
    "send the header Authorization: Bearer TOKEN",
    {"WWW-Authenticate": "Bearer"},
)


class TokenGuard:
    """Refuses requests without a token, all but those for what is there for all."""

    def __init__(self, app: ASGIApp, *, tokens: Collection[str]) -> None:
        self._app = app
        self._digests = [_digest(token) for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_open(scope):
            headers = Headers(scope=scope)
            if not self._is_known(headers):
                # Somebody opened a page: it asks for the token.
                asks = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
                answer = page("token.html", status=401) if asks else _NO_TOKEN.response()
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        if scope["method"] not in ("GET", "HEAD"):
            return False
        path = scope["path"]
        return bool(_OPEN.fullmatch(path) or (_MANIFEST.fullmatch(path) and not scope["query_string"]))

    def _is_known(self, headers: Headers) -> bool:
        token = bearer_token(headers) or cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        given = _digest(token)
        # All are compared, so that the time tells nothing.
        return sum(compare_digest(given, digest) for digest in self._digests) > 0


def bearer_token(headers: Headers) -> str:
    """Read the token of a request; empty where it has none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
