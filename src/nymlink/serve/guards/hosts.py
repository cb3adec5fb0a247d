"""The server's own names, and the headers that tell browsers who may read an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.serve.errors import ProblemAnswer

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
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-File-Name, X-Request-ID",
    "Access-Control-Max-Age": "86400",
}
_READABLE: Final = {"Access-Control-Expose-Headers": "Retry-After, X-Request-ID"}


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
            return {"Access-Control-Allow-Origin": "*", **_READABLE}
        if origin is not None and origin in self._origins:
            return {"Access-Control-Allow-Origin": origin, "Vary": "Origin", **_READABLE}
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
