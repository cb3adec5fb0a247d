"""Large XML files, record by record: one element of interest in memory at a time, each with its line.

Parsed by expat from the standard library, which tells lines, reads no external DTD and needs no dependency; on a
MeSH-like file it does some 30 MB/s with C callbacks that build the records (ElementTree's pull parser half that,
lxml twice). Entity declarations, which no such file has and on which entity bombs rest, are refused.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from nymlink.errors import InputError
from nymlink.files import open_bytes
from nymlink.problems import Problems
from nymlink.vocabulary.readers._text_blocks import read_blocks

_HEAD_BYTES: Final = 1 << 16
_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_ENCODING: Final = re.compile(rb"\s*<\?xml[^>]*\bencoding\s*=\s*[\"']([A-Za-z0-9._-]+)")
_UTF8: Final = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_ROOT: Final = re.compile(r"<([A-Za-z_][\w.-]*)[\s/>]")
_PROLOGUE: Final = re.compile(r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """An element and the line it begins on."""

    line: int
    element: Element


def root_of(head: str) -> str:
    """The name of the root element, told by the first characters of a file; empty where there is none."""
    match = _ROOT.match(_PROLOGUE.sub("", head).lstrip())
    return match[1] if match else ""


def text_of(element: Element | None, path: str = ".") -> str:
    """The text at a path below an element with white space folded, empty where there is none."""
    found = None if element is None else element.find(path)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def read_records(
    path: Path, *, roots: Collection[str], tags: Collection[str], problems: Problems
) -> Iterator[XmlRecord]:
    """Yield the root with its attributes alone, then each element called one of ``tags`` with all it holds.

    Bytes that are not UTF-8 are read as Windows-1252 and reported, unless the file declares another encoding.
    What follows a place that is not well-formed is left out and reported.

    Raises:
        InputError: the root is another, the file declares entities, or it cannot be read.
    """
    parser = _Parser(path, frozenset(roots), frozenset(tags), problems)
    for data in _pieces(path, problems):
        whole = parser.feed(data)
        yield from parser.finished()
        if not whole:
            return
    parser.feed("", last=True)
    yield from parser.finished()


class _Parser:
    def __init__(self, path: Path, roots: frozenset[str], tags: frozenset[str], problems: Problems) -> None:
        self._path, self._roots, self._tags, self._problems = path, roots, tags, problems
        self._finished: deque[XmlRecord] = deque()
        self._builder: TreeBuilder | None = None
        self._tag, self._line = "", 0
        self._seen_root = False
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.EntityDeclHandler = self._refuse_entity
        self._expat.SkippedEntityHandler = self._skip_entity

    def feed(self, data: str | bytes, *, last: bool = False) -> bool:
        """Parse what comes next; tell whether it was well-formed."""
        try:
            self._expat.Parse(data, last)
        except LookupError as error:
            raise InputError(
                f"its XML declaration names an encoding that is none: {error}", path=self._path
            ) from error
        except expat.ExpatError as error:
            if not self._seen_root:
                raise InputError(f"not an XML file: {error}", path=self._path, line=error.lineno) from error
            what = "the file is truncated" if last else f"not well-formed ({expat.ErrorString(error.code)})"
            self._problems.reject(self._path, error.lineno, f"{what}: nothing after this can be read")
            return False
        return True

    def finished(self) -> Iterator[XmlRecord]:
        while self._finished:
            yield self._finished.popleft()

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._seen_root:
            if tag not in self._roots:
                expected = " or ".join(sorted(self._roots))
                raise InputError(f"its root element is {tag!r}, not {expected}", path=self._path)
            self._seen_root = True
            self._finished.append(XmlRecord(self._expat.CurrentLineNumber, Element(tag, attributes)))
        elif tag in self._tags:
            self._tag, self._line = tag, self._expat.CurrentLineNumber
            self._builder = TreeBuilder()
            self._builder.start(tag, attributes)
            # The builder's own methods, so that no Python runs within a record but at the end of elements.
            self._expat.StartElementHandler = self._builder.start
            self._expat.CharacterDataHandler = self._builder.data

    def _end(self, tag: str) -> None:
        if self._builder is None:
            return
        self._builder.end(tag)
        if tag == self._tag:
            self._finished.append(XmlRecord(self._line, self._builder.close()))
            self._builder = None
            self._expat.StartElementHandler = self._start
            self._expat.CharacterDataHandler = None

    def _refuse_entity(self, name: str, *_: object) -> None:
        line = self._expat.CurrentLineNumber
        raise InputError(
            f"declares the entity {name[:40]!r}: refused, for entities can be used as bombs",
            path=self._path,
            line=line,
        )

    def _skip_entity(self, name: str, _: bool) -> None:
        self._problems.repair(self._path, self._expat.CurrentLineNumber, f"unknown entity &{name[:40]};: left out")


def _pieces(path: Path, problems: Problems) -> Iterator[str | bytes]:
    """The file in pieces: bytes where it declares another encoding, which expat then heeds, else text."""
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
        declared = _ENCODING.match(head.removeprefix(_BOM))
        if head.startswith(_WIDE) or (declared and declared[1].lower() not in _UTF8):
            while head:
                yield head
                head = file.read(_HEAD_BYTES)
            return
    yield from read_blocks(path, problems)
