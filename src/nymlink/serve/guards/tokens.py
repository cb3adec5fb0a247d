"""Let only requests through that carry a bearer token, in a header or, of a page, in a cookie."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from hmac import compare_digest
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from nymlink.serve.errors import Problem
from nymlink.serve.pages.templates import page

COOKIE: Final = "nymlink_token"
"""Where a browser keeps the token that was given to a page, out of reach of scripts and of other sites."""

_OPEN: Final = re.compile(r"/health|/static/.*")
"""What is there for all: whether the server runs, and what the page that asks for a token is made of."""

_MANIFEST: Final = re.compile(r"/reconcile/[^/]+/?(?:1\.0-draft/?)?")
"""Manifests say that a token is needed; without parameters they are open, as the specifications want it."""

_PROBLEM: Final = Problem(
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
                answer = page("token.html", status=401) if asks else _PROBLEM.response()
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
