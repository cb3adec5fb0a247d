"""Downloads that continue after an interruption.

Conditional and range requests are those of RFC 9110, sections 13 and 14.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError

from nymlink.core.errors import InputError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.terminal import no_bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The validators of a file on a server, which show whether it has changed (RFC 9110, section 8.8).

    Attributes:
        etag: its entity tag (``ETag``), or ``None``.
        modified: its modification date (``Last-Modified``) in the server's notation, or ``None``.
    """

    etag: str | None = None
    modified: str | None = None

    @property
    def strong(self) -> str | None:
        """The validator for resuming a download: the entity tag, unless it is weak, else the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


class PartialDownload:
    """A file with the bytes received so far, and a JSON file beside it that notes their origin.

    Both files stay when the process ends, so that a later process can continue the download.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_name(path.name + ".json")

    @property
    def size(self) -> int:
        """The number of bytes received."""
        return self.path.stat().st_size if self.path.exists() else 0

    def begin(self, url: str, stamp: Stamp) -> None:
        """Start a new download: remove the bytes received and note the origin."""
        self.remove()
        self._note.write_text(json.dumps({"url": url, "stamp": asdict(stamp)}), encoding="utf-8")

    def stamp(self, url: str) -> Stamp | None:
        """Return the stamp of the partial file; ``None`` if it cannot be resumed."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            stamp = to_dataclass(Stamp, member(note, "stamp", dict))
        except (OSError, ValueError, RecursionError):
            return None
        return stamp if self.size and stamp.strong and note.get("url") == url else None

    def remove(self) -> None:
        """Remove the file and its note."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


_CHUNK: Final = 1 << 18
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
"""The errors that reading a damaged archive raises."""


def extract_member(archive: Path, member: str, target: Path, *, limit: int) -> None:
    """Extract the file called ``member``, in any folder of the archive, to ``target``.

    Args:
        archive: path of the ZIP archive.
        member: name of the file in it.
        target: path to write to.
        limit: most bytes of the file.

    Raises:
        InputError: the file is not a ZIP archive, is damaged, does not hold the member, or the member is larger
            than the limit.
        OSError: the target cannot be written, for example because the disk is full.
    """
    with open(target, "wb") as file:
        for chunk in _read(archive, member):
            file.write(chunk)
            if file.tell() > limit:
                raise InputError(f"{member} in the archive has more than {limit:,} bytes")


def _read(archive: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(archive) as files:
            names = files.namelist()
            matching = [name for name in names if name.rsplit("/", 1)[-1] == member]
            if not matching:
                raise InputError(f"the archive holds no {member}, but: {', '.join(names[:10])}")
            with files.open(matching[0]) as packed:
                while chunk := packed.read(_CHUNK):
                    yield chunk
    except _DAMAGED as error:
        raise InputError(f"not a ZIP archive, or a damaged one ({error})") from error


_LENGTH: Final = re.compile(r"[0-9]{1,15}")

_PART: Final = 1 << 14
"""Most bytes written at a time."""
_SLOWEST: Final = 32
"""Bytes per second below which a connection counts as failed."""
_REDIRECTS: Final = 10
"""Most redirects of one request."""
_LONGEST: Final = 300
"""Characters of a reason in a message."""
_UNPACKED: Final = 20
"""How many times larger than the limit of a download a file in its archive may be."""
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
        timeout: a try fails after this number of seconds without a byte, or with fewer than 32 bytes a second.
        tries: the download fails after this number of tries in a row that each receive less than 16 kB.
        pause: seconds before the second try. The pause doubles before each further try.
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
        limit: most bytes from the server.
        member: name of the file to extract from a ZIP archive; empty if the URL is the file itself.
        known: stamp of the previous download; the file is downloaded only if it has changed since.
        retries: when to try again, and when to give up.
        progress: whether to show progress when standard error is a terminal.
        stamp: stamp of the file, set by :meth:`fetch`.
    """

    label: str
    part: PartialDownload
    limit: int
    member: str = ""
    known: Stamp | None = None
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    progress: bool = False
    stamp: Stamp = field(default_factory=Stamp)

    def fetch(self, url: str, target: Path) -> None:
        """Download a URL into a file.

        Raises:
            NotModifiedError: the file has not changed since ``known``.
            InputError: the server does not send the file, or sends more bytes than the limit.
            OSError: the file cannot be written, for example because the disk is full.
        """
        self._download(url)
        try:
            if self.member:
                extract_member(self.part.path, self.member, target, limit=_UNPACKED * self.limit)
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
                # A server that sends a few bytes a try would be asked forever.
                failed = 1 if size >= furthest + _PART else failed + 1
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
            with _Session() as session, self._answer(session, url, headers) as response:
                self._receive(url, response, resumed)
        except requests.exceptions.SSLError as error:
            raise InputError(f"no secure connection to the server ({_reason(error)})", path=url) from error
        except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
            raise _TransientError(f"the connection failed ({_reason(error)})") from error
        # ValueError: an address or a header that requests cannot read.
        except (requests.RequestException, ValueError) as error:
            raise InputError(f"cannot be downloaded ({_reason(error)})", path=url) from error

    def _answer(self, session: requests.Session, url: str, headers: dict[str, str]) -> requests.Response:
        """Request an address, and follow redirects."""
        asked = url
        for _ in range(_REDIRECTS + 1):
            response = session.get(url, headers=headers, stream=True, timeout=self.retries.timeout)
            if not response.is_redirect:
                return response
            response.close()
            # Headers arrive as Latin-1, addresses are UTF-8.
            url = urljoin(url, response.headers["Location"].encode("latin-1").decode("utf-8", "replace"))
        raise InputError(f"the server redirects more than {_REDIRECTS} times", path=asked)

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
        total = start + int(length) if _LENGTH.fullmatch(length) else None
        self._check_size(url, total or start)
        with open(self.part.path, "ab") as file:
            for chunk in self._with_progress(self._chunks(response), start, total):
                file.write(chunk)
                self._check_size(url, file.tell())
        if total is not None and self.part.size != total:
            raise _TransientError(f"the connection ended after {self.part.size:,} of {total:,} bytes")

    def _check_size(self, url: str, size: int) -> None:
        if size > self.limit:
            self.part.remove()
            raise InputError(
                f"the server sends more than {self.limit:,} bytes, the limit of this source: has the file moved?",
                path=url,
            )

    def _chunks(self, response: requests.Response) -> Iterator[bytes]:
        """Read a body as it arrives, and notice a server that sends only a few bytes now and then."""
        received, since = 0, time.monotonic()
        while chunk := response.raw.read1(_PART, decode_content=False):
            yield chunk
            received += len(chunk)
            passed = time.monotonic() - since
            if passed > self.retries.timeout:
                if received < _SLOWEST * passed:
                    raise _TransientError(f"the server sent only {received:,} bytes in {passed:.0f} s")
                received, since = 0, time.monotonic()

    def _with_progress(self, chunks: Iterator[bytes], start: int, total: int | None) -> Iterator[bytes]:
        # Counts bytes, unlike nymlink.core.terminal, which counts items.
        hidden = no_bar(shown=self.progress)
        with tqdm(
            desc=self.label, total=total, initial=start, unit="B", unit_scale=True, disable=hidden, leave=False
        ) as bar:
            for chunk in chunks:
                yield chunk
                bar.update(len(chunk))


class _Session(requests.Session):
    """A session that follows no redirects, because requests would read their whole bodies into memory."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return ``None``: :class:`ResumingDownloader` follows redirects."""


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
    message = re.sub(r"^(?:<.*?>|HTTP\w*\(.*?\)): ", "", str(error)[:_LONGEST]) or type(error).__name__
    # It may quote the server's answer.
    return message if message.isprintable() else repr(message)
