"""Read the pages of Wikipedia dumps, and normalise their titles.

A page of a dump begins with ``<page>`` and ends with ``</page>``. These tags cannot occur in the text of a page,
because ``<`` is escaped there. nymlink therefore cuts out pages without an XML parser. This is fast, and every
whole page of a truncated dump can be read.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import re
import unicodedata
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote

from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered
from nymlink.core.problems import Problems

_DOTTED: Final = frozenset({"tr", "az", "kk", "kaa", "crh", "gag"})
"""Languages whose capital of ``i`` has a dot."""

_DROPPED: Final = dict.fromkeys([0x00AD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, 0xFEFF])
"""Characters that show nothing: soft hyphens, zero-width spaces, marks of direction."""


def normalise_title(target: str, language: str = "") -> str:
    """Normalise a page title, or the target of a link, as MediaWiki does.

    ``heart_attack#Signs`` → ``Heart attack``: no section, spaces for underscores, the first letter a capital.

    Args:
        target: the title, or the part of a link before its ``|``.
        language: code of the Wikipedia's language, which determines the capital of ``i``.

    Returns:
        The title; empty for a link within its own page (``#Signs``).
    """
    title = target.partition("#")[0]
    if "&" in title:
        title = unescape(title).partition("#")[0]
    if "%" in title:
        title = unquote(title)
    if not title.isascii():
        title = unicodedata.normalize("NFC", title.translate(_DROPPED))
    title = " ".join(title.replace("_", " ").split()).removeprefix(":").lstrip()
    first = title[:1]
    if not first.islower():
        return title
    capital = "İ" if first == "i" and language.partition("-")[0] in _DOTTED else first.upper()
    # MediaWiki keeps a letter whose capital would be two ("ß").
    return capital + title[1:] if len(capital) == 1 else title


LARGEST_PAGE: Final = 64 << 20
"""Largest number of bytes of a page. MediaWiki allows two million in the text of a page."""

_READ: Final = 1 << 16
_DECOMPRESSED: Final = 4 << 20
"""Largest number of bytes that are decompressed at a time."""
_LONGEST_HEAD: Final = 1 << 20

_BEGIN: Final = b"<page>"
_END: Final = b"</page>"
_HEADER: Final = re.compile(
    rb"\s*<title>([^<]*)</title>\s*<ns>(-?\d+)</ns>(?:\s*<id>\d+</id>)?(?:\s*<redirect title=\"([^\"<]*)\" ?/>)?"
)
_CLOSED: Final = re.compile(rb"</mediawiki>\s*\Z")


@dataclass(frozen=True, slots=True)
class Site:
    """The Wikipedia of a dump.

    Attributes:
        language: its code; empty if the dump does not state it.
        namespaces: names of all namespaces except that of articles, in lower case.
    """

    language: str
    namespaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a dump.

    Attributes:
        title: its title.
        namespace: number of its namespace, 0 for articles.
        redirect: title of the target of a redirect; ``None`` for any other page.
        source: the bytes of the page.
    """

    title: str
    namespace: int
    redirect: str | None
    source: bytes

    @property
    def text(self) -> str:
        """The wikitext of its last revision; bytes that are not UTF-8 are replaced."""
        start = self.source.rfind(b"<text")
        start, end = self.source.find(b">", start) + 1, self.source.rfind(b"</text>")
        return unescape(self.source[start:end].decode("utf-8", "replace")) if 0 < start <= end else ""


def read_site(path: Path) -> Site:
    """Read a dump's description of its Wikipedia.

    Raises:
        InputError: the file cannot be read, or is not the dump of a MediaWiki.
    """
    head = b""
    with contextlib.suppress(InputError), _open(path, 0) as chunks:
        for chunk, _ in chunks:
            head += chunk
            if b"</siteinfo>" in head or len(head) > _LONGEST_HEAD:
                break
    if not head:
        # Nothing could be read: raise the reason.
        with _open(path, 0) as chunks:
            next(chunks, None)
    root = re.search(r"<mediawiki\b[^<>]*>", text := head.decode("utf-8", "replace"))
    if root is None:
        raise InputError(
            "this is no dump of a MediaWiki: its XML would begin with <mediawiki> (take the file "
            "…-pages-articles-multistream.xml.bz2 of a Wikipedia)",
            path=path,
        )
    language = re.search(r'xml:lang="([\w-]+)"', root[0])
    names = re.findall(r'<namespace key="-?[1-9]\d*"[^<>]*>([^<]+)</namespace>', text)
    return Site(language[1] if language else "", frozenset(unescape(name).lower() for name in names))


class DumpReader:
    """Iterates over the pages of a dump: an XML file, plain or compressed with gzip or bzip2.

    A bzip2 file may have any number of streams.

    Args:
        path: the dump.
        place: where to start in the file: 0, or an earlier value of the attribute ``place``.
        problems: receives pages that cannot be used.

    Attributes:
        place: offset in the file from which a new reader yields the latest page and all later pages. It may yield
            some earlier pages again, because reading can only begin at the start of a stream. A dump with one
            stream is read again from its beginning.
    """

    def __init__(self, path: Path, place: int = 0, *, problems: Problems | None = None) -> None:
        self.place = place
        self._path = path
        self._problems = Problems() if problems is None else problems

    def __iter__(self) -> Iterator[Page]:
        """Yield the pages.

        Raises:
            InputError: the dump cannot be read. If it is damaged or ends too early, the error comes after its last
                whole page.
        """
        with _open(self._path, self.place) as chunks:
            yield from self._pages(chunks)

    def _pages(self, chunks: Iterator[tuple[bytes, int | None]]) -> Iterator[Page]:
        buffer = bytearray()
        before, searched = 0, 0  # bytes before the buffer; bytes of it without an end of a page
        streams: deque[tuple[int, int]] = deque()  # starts of streams: in the text, in the file
        for chunk, stream in chunks:
            if stream is not None:
                streams.append((before + len(buffer), stream))
            buffer += chunk
            used = 0
            while (end := buffer.find(_END, searched)) >= 0:
                start = buffer.find(_BEGIN, used, end)
                if start >= 0:
                    while streams and streams[0][0] <= before + start:
                        self.place = streams.popleft()[1]
                    yield from self._page(bytes(buffer[start + len(_BEGIN) : end]))
                used = searched = end + len(_END)
            del buffer[:used]
            before += used
            searched = max(len(buffer) - len(_END), 0)
            if len(buffer) > LARGEST_PAGE:
                self._problems.reject(self._path, None, f"a page of more than {LARGEST_PAGE >> 20} MB")
                before += len(buffer) - len(_END)
                del buffer[: -len(_END)]
                searched = 0
        if not _CLOSED.search(buffer):
            raise InputError("the dump ends too early, before </mediawiki>", path=self._path)

    def _page(self, source: bytes) -> Iterator[Page]:
        header = _HEADER.match(source)
        if header is None:
            self._problems.reject(self._path, None, "a page without title or number of its namespace")
            return
        title, redirect = (
            None if raw is None else unescape(raw.decode("utf-8", "replace")) for raw in header.group(1, 3)
        )
        yield Page(title or "", int(header[2]), redirect, source)


@contextlib.contextmanager
def _open(path: Path, place: int) -> Iterator[Iterator[tuple[bytes, int | None]]]:
    """Open a dump at the beginning of a stream.

    Yields:
        An iterator over pieces of its XML. The first piece of a stream comes with the offset of the stream, other
        pieces come with ``None``.

    Raises:
        InputError: the dump cannot be opened, or later turns out to be damaged.
    """
    with open_buffered(path) as file:
        head = file.peek(3)[:3]
        if not file.seekable():
            raise InputError("the dump must be a file, because it is read twice", path=path)
        file.seek(place)
        try:
            if head == b"BZh":
                yield _bz2_chunks(file)
            elif head.startswith(b"\x1f\x8b"):
                yield _gzip_chunks(file)
            else:
                yield _plain_chunks(file)
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            where = f"at byte {file.tell():,} of {path.stat().st_size:,}"
            raise InputError(f"the compressed dump breaks off or is damaged {where}", path=path) from error


def _bz2_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, int | None]]:
    """Decompress all streams of a bzip2 file. If a stream is damaged, the content before the damage is yielded."""
    begin: int | None = file.tell()
    unused = b""
    while raw := unused or file.read(_READ):
        decompressor = bz2.BZ2Decompressor()
        while not decompressor.eof:
            data = decompressor.decompress(raw, _DECOMPRESSED)
            if data or decompressor.eof:
                yield data, begin
                begin = None
            if decompressor.needs_input and not decompressor.eof:
                raw = file.read(_READ)
                if not raw:
                    raise EOFError
            else:
                raw = b""
        unused = decompressor.unused_data
        begin = file.tell() - len(unused)


def _gzip_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, int | None]]:
    begin: int | None = file.tell()
    with gzip.GzipFile(fileobj=file) as decompressed:
        while data := decompressed.read1(_DECOMPRESSED):
            yield data, begin
            begin = None


def _plain_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, int | None]]:
    while True:
        begin = file.tell()
        if not (data := file.read(_DECOMPRESSED)):
            return
        yield data, begin
