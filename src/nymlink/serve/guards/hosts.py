"""Access: hosts, tokens, and the headers that tell browsers who may read an answer."""

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
    """Adds headers to all answers, also to errors, and answers preflight requests of browsers.

    Args:
        app: the application.
        origins: sites whose pages may read all answers, ``"*"`` for any. Any page may read answers of
            reconciliation, as its specification demands.
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
        """Make the headers that name the site allowed to read the answer."""
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
    """List the host names of a server that only this machine can reach; empty, for any name, for other servers.

    Args:
        listening: listening name or address.
        public_url: address for browsers, if different.
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
    """Refuses requests with a ``Host`` that is not a name of the server.

    A site can point its own name at 127.0.0.1 ("DNS rebinding"); its pages could then read answers.

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
        """Whether a request names this server exactly once; HTTP 1.0 requests may name none."""
        if not hosts:
            return True
        found = _HOST.fullmatch(hosts[0])
        return len(hosts) == 1 and found is not None and (found[1] or found[2]).lower() in self._hosts


COOKIE: Final = "nymlink_token"
"""Cookie with the token that a user gave to a page, not readable by scripts or other sites."""

_OPEN: Final = re.compile(r"/health|/static/.*")
"""Public paths: the health check, and the files of the page that asks for a token."""

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
    """Refuses requests without a token, except those for public paths."""

    def __init__(self, app: ASGIApp, *, tokens: Collection[str]) -> None:
        self._app = app
        self._digests = [_digest(token) for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_open(scope):
            headers = Headers(scope=scope)
            if not self._is_known(headers):
                # A browser opened a page: show the page that asks for the token.
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
        # Compare all tokens, so that the time reveals nothing.
        return sum(compare_digest(given, digest) for digest in self._digests) > 0


def bearer_token(headers: Headers) -> str:
    """Read the token of a request; empty if it has none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
