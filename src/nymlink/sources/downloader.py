"""A downloader that resumes, retries, and downloads only what has changed.

Conditional and range requests are those of RFC 9110, sections 13 and 14.
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
from nymlink.sources.archive import extract_member
from nymlink.sources.partial_download import PartialDownload, Stamp

_CHUNK: Final = 1 << 14
"""Bytes written at a time: the most that is lost when the process is killed."""
_TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses after which the request is tried again."""


class NotModifiedError(Exception):
    """The file on the server has not changed."""


class _TransientError(Exception):
    """A failure after which the request is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits on repeated tries of a request.

    Attributes:
        timeout: seconds without a byte after which a try has failed.
        tries: number of tries in a row without a new byte after which the download fails.
        pause: seconds before the second try, doubled before each further one.
    """

    timeout: float = 30.0
    tries: int = 4
    pause: float = 0.5


@dataclass(slots=True, kw_only=True)
class ResumingDownloader:
    """Downloads a URL into a file.

    Attributes:
        label: label of the progress bar.
        part: the partial download.
        member: name of the file to extract from a ZIP archive; empty: the URL is the file itself.
        known: stamp of the previous download; the file is downloaded only if it has changed since.
        retries: when to try again, and when to give up.
        progress: whether to show progress when standard error is a terminal.
        stamp: stamp of the file, set by :meth:`fetch`.
    """

    label: str
    part: PartialDownload
    member: str = ""
    known: Stamp | None = None
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    progress: bool = False
    stamp: Stamp = field(default_factory=Stamp)

    def fetch(self, url: str, target: Path) -> None:
        """Download a URL into a file.

        Raises:
            NotModifiedError: the file has not changed since ``known``.
            InputError: the server does not send the file.
            OSError: the file cannot be written, for example because the disk is full.
        """
        self._download(url)
        try:
            if self.member:
                extract_member(self.part.path, self.member, target)
            else:
                shutil.move(self.part.path, target)
        except InputError as error:
            raise InputError(f"the file that the server sent cannot be used: {error.message}", path=url) from error
        finally:
            self.part.remove()

    def _download(self, url: str) -> None:
        """Complete the partial download, with as many tries as the policy allows."""
        furthest, failed = 0, 0
        while True:
            try:
                return self._try(url)
            except _TransientError as error:
                size = self.part.size
                failed = 1 if size > furthest else failed + 1
                furthest = max(size, furthest)
                if failed >= self.retries.tries:
                    kept = "; the part received is kept, and the next run continues from there" if size else ""
                    message = f"{error}, {failed} times in a row{kept}: try again later"
                    raise InputError(message, path=url) from error
                time.sleep(self.retries.pause * 2 ** (failed - 1))

    def _try(self, url: str) -> None:
        resumed = self.part.stamp(url)
        # No compression in transfer, so that lengths and ranges are those of the file.
        headers = {"Accept-Encoding": "identity", "User-Agent": f"nymlink/{version('nymlink')}"}
        if resumed is not None:
            headers |= {"Range": f"bytes={self.part.size}-", "If-Range": resumed.strong or ""}
        elif self.known is not None:
            headers |= {"If-None-Match": self.known.etag} if self.known.etag else {}
            headers |= {"If-Modified-Since": self.known.modified} if self.known.modified else {}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=self.retries.timeout) as response:
                self._receive(url, response, resumed)
        except requests.exceptions.SSLError as error:
            raise InputError(f"no secure connection to the server ({_reason(error)})", path=url) from error
        except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
            raise _TransientError(f"the connection failed ({_reason(error)})") from error
        except requests.RequestException as error:
            raise InputError(f"cannot be downloaded ({_reason(error)})", path=url) from error

    def _receive(self, url: str, response: requests.Response, resumed: Stamp | None) -> None:
        status = response.status_code
        answer = f"the server answered {status} {response.reason}"
        stamp = Stamp(etag=response.headers.get("ETag"), modified=response.headers.get("Last-Modified"))
        if status == 304 and self.known is not None:
            raise NotModifiedError
        if status in _TRANSIENT_STATUSES:
            raise _TransientError(answer)
        if status == 206 and resumed is not None and _continues(response, self.part.size, stamp, resumed):
            self.stamp = resumed
        elif status in (206, 416):
            # The file has changed on the server, or the range is wrong: start again.
            self.part.remove()
            raise _TransientError(answer)
        elif status == 200:
            self.part.begin(url, stamp)
            self.stamp = stamp
        else:
            raise InputError(f"{answer}: has the file moved? See its publisher's page", path=url)
        start, length = self.part.size, response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdigit() else None
        with open(self.part.path, "ab") as file:
            for chunk in self._with_progress(response.raw.stream(_CHUNK, decode_content=False), start, total):
                file.write(chunk)
        if total is not None and self.part.size != total:
            raise _TransientError(f"the connection ended after {self.part.size:,} of {total:,} bytes")

    def _with_progress(self, chunks: Iterator[bytes], start: int, total: int | None) -> Iterator[bytes]:
        # Counts bytes, unlike nymlink.core.terminal.progress, which counts items.
        hidden = None if self.progress else True
        with tqdm(
            desc=self.label, total=total, initial=start, unit="B", unit_scale=True, disable=hidden, leave=False
        ) as bar:
            for chunk in chunks:
                yield chunk
                bar.update(len(chunk))


def _continues(response: requests.Response, size: int, stamp: Stamp, resumed: Stamp) -> bool:
    """Whether a partial response continues the same file from the byte after the last one received."""
    return stamp.strong in (None, resumed.strong) and response.headers.get("Content-Range", "").startswith(
        f"bytes {size}-"
    )


def _reason(error: BaseException) -> str:
    """Return the message of the innermost error of a chain."""
    wrapped = [getattr(error, "reason", None), *error.args]
    inner = next((cause for cause in wrapped if isinstance(cause, Exception)), None)
    if inner is not None:
        return _reason(inner)
    return re.sub(r"^(?:<.*?>|HTTP\w*\(.*?\)): ", "", str(error)) or type(error).__name__
