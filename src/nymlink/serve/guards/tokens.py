"""Who may send requests, and how many: bearer tokens, read again from their file while the server runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from hmac import compare_digest
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from nymlink.core.errors import InputError
from nymlink.serve.errors import ProblemAnswer
from nymlink.serve.templates import page

COOKIE: Final = "nymlink_token"
"""Cookie with the token that a user gave to a page, not readable by scripts or other sites."""

_OPEN: Final = re.compile(r"/health|/ready|/static/.*")
"""Public paths: the probes, and the files of the page that asks for a token."""

_MANIFEST: Final = re.compile(r"/reconcile/[^/]+/?(?:1\.0-draft/?)?")
"""Manifests say that a token is needed; without parameters they are open, as the specifications want it."""

_NO_TOKEN: Final = ProblemAnswer(
    401,
    "unauthorized",
    "the request has no valid token",
    "send the header Authorization: Bearer TOKEN",
    {"WWW-Authenticate": "Bearer"},
)


class Tokens:
    """The valid tokens of a server.

    Args:
        tokens: given tokens.
        path: file with further ones, one per line; blank lines and lines that begin with # are skipped.

    Raises:
        InputError: the file cannot be read, or has no token.
    """

    def __init__(self, tokens: Collection[str] = (), path: Path | None = None) -> None:
        self._given = tuple(tokens)
        self._path = path
        self._digests: tuple[bytes, ...] = ()
        self.read()()

    def __bool__(self) -> bool:
        return bool(self._digests)

    def read(self) -> Callable[[], None]:
        """Read the file again; the tokens become valid when the returned function is called.

        Raises:
            InputError: as of the class; the former tokens stay valid.
        """
        tokens = (*self._given, *(_read(self._path) if self._path is not None else ()))
        digests = tuple(map(_digest, tokens))

        def apply() -> None:
            self._digests = digests

        return apply

    def find(self, token: str) -> bytes | None:
        """Return the digest of a valid token; ``None`` for others."""
        given = _digest(token)
        # Compare all tokens, so that the time reveals nothing.
        return given if sum(compare_digest(given, digest) for digest in self._digests) else None


def _read(path: Path) -> list[str]:
    try:
        lines = list(map(str.strip, path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"tokens cannot be read ({error})", path=path) from error
    tokens = [line for line in lines if line and not line.startswith("#")]
    if not tokens:
        raise InputError("there is no token in it: write one per line", path=path)
    return tokens


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Rates:
    """Counts the requests of each token ("token bucket").

    Args:
        per_minute: most requests in a minute; they may come at once.
        clock: time in seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._most = per_minute
        self._clock = clock
        self._left: dict[bytes, tuple[float, float]] = {}

    def take(self, token: bytes) -> int:
        """Count a request; return 0, or the seconds until the next one is allowed."""
        now = self._clock()
        left, at = self._left.get(token, (float(self._most), now))
        left = min(self._most, left + (now - at) * self._most / 60)
        if left < 1:
            self._left[token] = left, now
            return max(1, ceil((1 - left) * 60 / self._most))
        self._left[token] = left - 1, now
        return 0


class TokenGuard:
    """Refuses requests without a token, except those for public paths, and too many requests of a token.

    Args:
        app: the application.
        tokens: valid tokens.
        per_minute: most requests of a token in a minute; ``None`` for any number.
    """

    def __init__(self, app: ASGIApp, *, tokens: Tokens, per_minute: int | None = None) -> None:
        self._app = app
        self._tokens = tokens
        self._per_minute = per_minute
        self._rates = None if per_minute is None else Rates(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_open(scope):
            headers = Headers(scope=scope)
            token = self._tokens.find(
                bearer_token(headers) or cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
            )
            if token is None:
                # A browser opened a page: show the page that asks for the token.
                asks = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
                answer = page(headers, "token.html", status=401) if asks else _NO_TOKEN.response()
                await answer(scope, receive, send)
                return
            if self._rates is not None and (seconds := self._rates.take(token)):
                await self._too_many(seconds).response()(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _too_many(self, seconds: int) -> ProblemAnswer:
        return ProblemAnswer(
            429,
            "too_many_requests",
            f"the token has sent its {self._per_minute:,} requests of a minute",
            f"send the next in {seconds} s, or several mentions in one",
            {"Retry-After": str(seconds)},
        )


def _is_open(scope: Scope) -> bool:
    if scope["method"] not in ("GET", "HEAD"):
        return False
    path = scope["path"]
    return bool(_OPEN.fullmatch(path) or (_MANIFEST.fullmatch(path) and not scope["query_string"]))


def bearer_token(headers: Headers) -> str:
    """Read the token of a request; empty if it has none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
