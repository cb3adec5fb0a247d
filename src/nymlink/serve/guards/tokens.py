"""Let only requests through that carry a bearer token."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from hmac import compare_digest
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nymlink.serve.errors import Problem

_OPEN: Final = re.compile(r"/(?:health)?|/static/.*")
"""What is there for all: whether the server runs, and the page, which asks for a token itself."""

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
        if scope["type"] == "http" and not (self._is_open(scope) or self._is_known(Headers(scope=scope))):
            await _PROBLEM.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        if scope["method"] not in ("GET", "HEAD"):
            return False
        path = scope["path"]
        return bool(_OPEN.fullmatch(path) or (_MANIFEST.fullmatch(path) and not scope["query_string"]))

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = _digest(token.strip())
        # All are compared, so that the time tells nothing.
        known = [compare_digest(given, digest) for digest in self._digests]
        return scheme.lower() == "bearer" and any(known)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
