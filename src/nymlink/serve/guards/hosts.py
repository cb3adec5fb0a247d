"""Refuse requests that ask for another server: a page of another site may have made its own name lead here."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nymlink.serve.errors import Problem

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")

_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::[0-9]*)?")

_PROBLEM: Final = Problem(
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
            await _PROBLEM.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, hosts: Sequence[str]) -> bool:
        """Whether a request names this server, once; one of HTTP 1.0 may name none."""
        if not hosts:
            return True
        found = _HOST.fullmatch(hosts[0])
        return len(hosts) == 1 and found is not None and (found[1] or found[2]).lower() in self._hosts
