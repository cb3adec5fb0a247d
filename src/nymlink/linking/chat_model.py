"""Requests to a model that answers chats in the form of OpenAI's API, over HTTP."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from importlib.metadata import version
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

KEY: Final = "NYMLINK_JUDGE_KEY"
"""Environment variable with the key of the server, for servers that want one."""

_LATER: Final = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses that a later try may not have."""

_LARGEST: Final = 1 << 20
"""Bytes of the longest response."""
_MOST_TOKENS: Final = 1024
"""Tokens of the longest answer."""


class FailedRequestError(Exception):
    """A request failed.

    Args:
        reason: why.
        again: whether a later try may succeed.
    """

    def __init__(self, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.again = again


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A server of chat models.

    Attributes:
        endpoint: address of chat completions, which ends with ``/chat/completions``.
    """

    endpoint: str
    _opener: OpenerDirector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_opener", _opener(self.endpoint))

    def models(self, seconds: float) -> list[str]:
        """List the models of the server, within a number of seconds.

        Raises:
            FailedRequestError: there is no answer.
        """
        body = self._send(f"{self.endpoint.removesuffix('chat/completions')}models", None, seconds)
        listed = body.get("data") if isinstance(body, dict) else None
        return (
            [str(each.get("id")) for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )

    def complete(self, model: str, messages: Sequence[Mapping[str, str]], seconds: float) -> str:
        """Get the answer of a model, as reproducible as the server can make it.

        Args:
            model: name of the model.
            messages: the chat so far, each message with ``role`` and ``content``.
            seconds: time limit.

        Raises:
            FailedRequestError: there is no answer in time, or it is no chat completion.
        """
        body = {
            "model": model,
            "messages": messages,
            "temperature": 0,
            "seed": 0,
            "max_tokens": _MOST_TOKENS,
        }
        return _content(self._send(self.endpoint, body, seconds))

    def _send(self, url: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
        """Send a request, and read the JSON of its response.

        Raises:
            FailedRequestError: there is no response in time, or no JSON.
        """
        headers = {"Content-Type": "application/json", "User-Agent": f"nymlink/{version('nymlink')}"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        data = None if body is None else json.dumps(body).encode()
        end = time.monotonic() + seconds
        try:
            with self._opener.open(Request(url, data, headers), timeout=seconds) as response:
                read = bytearray()
                while piece := response.read1(1 << 16):
                    read += piece
                    if len(read) > _LARGEST:
                        raise FailedRequestError(f"the response has more than {_LARGEST:,} bytes")
                    if time.monotonic() > end:
                        raise FailedRequestError(f"no answer in {seconds:g} s")
            return json.loads(read)
        except HTTPError as error:
            error.close()
            raise FailedRequestError(f"HTTP status {error.code}", again=error.code in _LATER) from error
        except TimeoutError as error:
            raise FailedRequestError(f"no answer in {seconds:g} s") from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None)
            if isinstance(reason, TimeoutError):
                raise FailedRequestError(f"no answer in {seconds:g} s") from error
            raise FailedRequestError(
                f"no connection ({reason or error or type(error).__name__})", again=True
            ) from error
        except (ValueError, RecursionError) as error:
            raise FailedRequestError("the response is no JSON") from error


def _content(body: Any) -> str:
    """Get the text of a chat completion.

    Raises:
        FailedRequestError: the response is no chat completion.
    """
    try:
        content = body["choices"][0]["message"]["content"]
    except (LookupError, TypeError) as error:
        raise FailedRequestError("the response is no chat completion") from error
    return content if isinstance(content, str) else ""


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirections: texts and the key go to the given address only."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _opener(url: str) -> OpenerDirector:
    # No proxy reaches a server on this machine.
    local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    return build_opener(_NoRedirects, *([ProxyHandler({})] if local else []))
