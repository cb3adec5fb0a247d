"""Headers of all answers: which other sites may read them, and what a page may do."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
