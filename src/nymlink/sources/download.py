"""A downloader that goes on where it broke off, tries again, and asks whether there is anything new.

Conditions and ranges are those of RFC 9110, sections 13 and 14.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from nymlink.core.errors import InputError
from nymlink.sources.archive import extract
from nymlink.sources.part import Part, Stamp

_CHUNK: Final = 1 << 14
"""Bytes at a time: as many are lost at most when the process is killed."""
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may not meet again."""


class NotModifiedError(Exception):
    """The server still has the file that it had."""


class _PassingError(Exception):
    """This try failed; another may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to bear with a server.

    Attributes:
        timeout: seconds without a byte after which a try has failed.
        tries: how many tries in a row may bring nothing new.
        pause: seconds before the second try, doubled before each further one.
    """

    timeout: float = 30.0
    tries: int = 4
    pause: float = 0.5


@dataclass(slots=True, kw_only=True)
class ResumingDownloader:
    """Fetches a URL into a file.

    Attributes:
        label: what progress is shown as.
        part: holds what has come until all is there.
        member: name of the file to take out of a ZIP archive; empty: the URL gives the file itself.
        known: what the server said of the file last time, to be given a newer one only.
        patience: how long to bear with the server.
        progress: whether to show progress when standard error is a terminal.
        stamp: what the server said of the file, once it has come.
    """

    label: str
    part: Part
    member: str = ""
    known: Stamp | None = None
    patience: Patience = field(default_factory=Patience)
    progress: bool = False
    stamp: Stamp = field(default_factory=Stamp)

    def fetch(self, url: str, target: Path) -> None:
        """Fetch what is at a URL into a file.

        Raises:
            NotModifiedError: the server has nothing newer than ``known``.
            InputError: the server does not give the file.
            OSError: the disk is full.
        """
        self._persist(url)
        try:
            if self.member:
                extract(self.part.path, self.member, target)
            else:
                shutil.move(self.part.path, target)
        except InputError as error:
            raise InputError(f"what the server sent cannot be used: {error.message}", path=url) from error
        finally:
            self.part.drop()

    def _persist(self, url: str) -> None:
        """Try until all is there, or until nothing new has come for several tries."""
        furthest, failed = 0, 0
        while True:
            try:
                return self._try(url)
            except _PassingError as error:
                size = self.part.size
                failed = 1 if size > furthest else failed + 1
                furthest = max(size, furthest)
                if failed >= self.patience.tries:
                    kept = "; what has come is kept, and the next run goes on from there" if size else ""
                    message = f"{error}, {failed} times in a row{kept}: try again later"
                    raise InputError(message, path=url) from error
                time.sleep(self.patience.pause * 2 ** (failed - 1))

    def _try(self, url: str) -> None:
        begun = self.part.stamp(url)
        # Lengths and ranges are to be those of the file, not of a form compressed for the way.
        headers = {"Accept-Encoding": "identity", "User-Agent": f"nymlink/{version('nymlink')}"}
        if begun is not None:
            headers |= {"Range": f"bytes={self.part.size}-", "If-Range": begun.strong or ""}
        elif self.known is not None:
            headers |= {"If-None-Match": self.known.etag} if self.known.etag else {}
            headers |= {"If-Modified-Since": self.known.modified} if self.known.modified else {}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=self.patience.timeout) as response:
                self._receive(url, response, begun)
        except requests.exceptions.SSLError as error:
            raise InputError(f"no safe connection to the server ({_reason(error)})", path=url) from error
        except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
            raise _PassingError(f"the connection failed ({_reason(error)})") from error
        except requests.RequestException as error:
            raise InputError(f"cannot be fetched ({_reason(error)})", path=url) from error

    def _receive(self, url: str, response: requests.Response, begun: Stamp | None) -> None:
        status = response.status_code
        answer = f"the server answered {status} {response.reason}"
        stamp = Stamp(etag=response.headers.get("ETag"), modified=response.headers.get("Last-Modified"))
        if status == 304 and self.known is not None:
            raise NotModifiedError
        if status in _PASSING:
            raise _PassingError(answer)
        if status == 206 and begun is not None and _goes_on(response, self.part.size, stamp, begun):
            self.stamp = begun
        elif status in (206, 416):
            # The server has another file by now, or cannot count: what came before is worth nothing.
            self.part.drop()
            raise _PassingError(answer)
        elif status == 200:
            self.part.begin(url, stamp)
            self.stamp = stamp
        else:
            raise InputError(f"{answer}: has the file moved? See its publisher's page", path=url)
        at, length = self.part.size, response.headers.get("Content-Length", "")
        total = at + int(length) if length.isdigit() else None
        with open(self.part.path, "ab") as file:
            for chunk in self._shown(response.raw.stream(_CHUNK, decode_content=False), at, total):
                file.write(chunk)
        if total is not None and self.part.size != total:
            raise _PassingError(f"the server broke off after {self.part.size:,} of {total:,} bytes")

    def _shown(self, chunks: Iterator[bytes], at: int, total: int | None) -> Iterator[bytes]:
        # Bytes, where nymlink.core.progress counts pieces of work.
        hidden = None if self.progress else True
        with tqdm(
            desc=self.label, total=total, initial=at, unit="B", unit_scale=True, disable=hidden, leave=False
        ) as bar:
            for chunk in chunks:
                yield chunk
                bar.update(len(chunk))


def _goes_on(response: requests.Response, size: int, stamp: Stamp, begun: Stamp) -> bool:
    """Whether a partial answer is of the file that has begun to come, from the byte after the last."""
    return stamp.strong in (None, begun.strong) and response.headers.get("Content-Range", "").startswith(
        f"bytes {size}-"
    )


def _reason(error: BaseException) -> str:
    """The innermost message of an error that wraps others."""
    wrapped = [getattr(error, "reason", None), *error.args]
    inner = next((cause for cause in wrapped if isinstance(cause, Exception)), None)
    if inner is not None:
        return _reason(inner)
    return re.sub(r"^(?:<.*?>|HTTP\w*\(.*?\)): ", "", str(error)) or type(error).__name__
