"""Read XML from strangers safely, record by record.

The parser is expat of the standard library. It gives line numbers, needs no dependency, and reads no other file.
This module adds protection against entities that expand, and against endless tags, prologues and nesting.

With C callbacks that build the records, expat reads some 30 MB/s of a file like MeSH. ElementTree's pull parser
reads half as much, lxml twice as much.
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

from nymlink.core.encodings import detect_utf16
from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_text_blocks
from nymlink.core.problems import Problems

_ENCODING: Final = re.compile(rb"\s*<\?xml[^>]*?\bencoding\s*=\s*[\"'](?P<name>[\w.-]+)")
_UTF8: Final = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_RAW_BYTES: Final = 1 << 16
_MAX_TOKEN: Final = 1 << 20
_MAX_DEPTH: Final = 250_000


class NotWellFormedError(Exception):
    """The file cannot be parsed beyond a line. The message says why."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


class XmlParser:
    """An expat parser for one file.

    Args:
        path: a plain or gzip file. Unless the file declares another encoding, lines that are not UTF-8 are read as
            Windows-1252 and reported.
        problems: receives lines that are not UTF-8.
        namespaces: whether names get the IRI of their namespace as a prefix.
        longest_entity: most characters of an entity that the file declares.

    Attributes:
        expat: the parser; the caller sets its handlers.
        has_root: whether the root element has begun. The caller's handler sets it. Until then, the whole file
            counts as one tag.

    Raises:
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """

    def __init__(
        self, path: Path, problems: Problems, *, namespaces: bool = False, longest_entity: int = 0
    ) -> None:
        self._path = path
        self._problems = problems
        self._longest_entity = longest_entity
        self._is_utf8 = _is_utf8(path)
        self.has_root = False
        self.expat = expat.ParserCreate("utf-8" if self._is_utf8 else None, "" if namespaces else None)
        self.expat.buffer_text = True
        self.expat.EntityDeclHandler = self._check_entity

    @property
    def line(self) -> int:
        """Number of the current line."""
        return self.expat.CurrentLineNumber

    def run(self) -> Iterator[None]:
        """Parse the file. From one ``yield`` to the next, some hundred kilobytes are parsed.

        Raises:
            NotWellFormedError: the file is truncated or broken after its root element has begun.
            InputError: the file is not XML, declares entities that could grow, has an endless tag, or has an
                encoding that cannot be read.
        """
        given = 0
        for piece in self._pieces():
            self._parse(piece)
            given += len(piece)
            if given - (self.expat.CurrentByteIndex if self.has_root else 0) > _MAX_TOKEN:
                raise self.refusal(f"a tag, comment or prologue of more than {_MAX_TOKEN >> 20} MB")
            yield
        self._parse(b"", is_last=True)
        yield

    def refusal(self, message: str) -> InputError:
        """Make an error about the current line."""
        return InputError(message, path=self._path, line=self.line)

    def reject(self, line: int, message: str) -> None:
        """Report input that was left out."""
        self._problems.reject(self._path, line, message)

    def repair(self, line: int, message: str) -> None:
        """Report input that was repaired."""
        self._problems.repair(self._path, line, message)

    def check_depth(self, depth: int) -> None:
        """Refuse elements that are nested too deep.

        Raises:
            InputError: there are more levels than the limit.
        """
        if depth > _MAX_DEPTH:
            raise self.refusal(f"more than {_MAX_DEPTH:,} levels of nested elements")

    def _pieces(self) -> Iterator[bytes]:
        if self._is_utf8:
            yield from (block.encode() for block in read_text_blocks(self._path, self._problems))
            return
        with open_bytes(self._path) as file:
            while piece := file.read(_RAW_BYTES):
                yield piece

    def _parse(self, piece: bytes, *, is_last: bool = False) -> None:
        try:
            self.expat.Parse(piece, is_last)
        except expat.ExpatError as error:
            reason = "it is truncated" if is_last else f"not well-formed: {expat.ErrorString(error.code)}"
            if not self.has_root:
                raise InputError(f"not an XML file ({reason})", path=self._path, line=error.lineno) from error
            raise NotWellFormedError(reason, line=error.lineno) from error
        # Codecs and expat raise these errors for unknown encodings, and for some encodings with several bytes for
        # a character.
        except (LookupError, ValueError) as error:
            raise self.refusal(f"XML in an encoding that cannot be read ({error})") from error

    def _check_entity(self, name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if is_parameter or value is None or "&" in value or len(value) > self._longest_entity:
            message = "which is not expanded, since entities can grow without bound: write its text in full"
            raise self.refusal(f"it declares the entity {name[:40]!r}, {message}")


def _is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 by its XML declaration.

    Without a declaration, any file but UTF-16 counts as UTF-8.
    """
    with open_bytes(path) as file:
        head = file.read(1024)
    declared = _ENCODING.match(head)
    return detect_utf16(head) is None and (declared is None or declared["name"].lower() in _UTF8)


# Possessive quantifiers, so that a text without a prologue does not lead to many tries.
_PROLOGUE: Final = r"\s*+(?:(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*+)?>)\s*+)*+"
_ROOT: Final = re.compile(rf"{_PROLOGUE}<([A-Za-z_][\w.-]*)[\s/>]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """An element and its first line."""

    line: int
    element: Element


def root_name(head: str) -> str:
    """Read the name of the root element from the first characters of a file; empty if there is none."""
    match = _ROOT.match(head)
    return match[1] if match else ""


def text_at(element: Element | None, path: str = ".") -> str:
    """Get the text at a path below an element, with white space folded. It is empty if there is none."""
    match = None if element is None else element.find(path)
    return "" if match is None else " ".join("".join(match.itertext()).split())


def read_records(
    path: Path,
    *,
    roots: Collection[str],
    tags: Collection[str],
    problems: Problems,
    longest: int = 1 << 22,
) -> Iterator[XmlRecord]:
    """Yield the root element without its content, then each element named in ``tags`` with its content.

    Unless the file declares another encoding, lines that are not UTF-8 are read as Windows-1252 and reported.
    Elements of more than ``longest`` bytes are left out and reported. So is everything after a place that is not
    well-formed.

    Raises:
        InputError: the root element is not one of ``roots``, the file declares entities, or it cannot be read.
    """
    parser = XmlParser(path, problems)
    collector = _Collector(parser, frozenset(roots), frozenset(tags), longest)
    try:
        for _ in parser.run():
            yield from collector.finished()
            collector.check_length()
    except NotWellFormedError as error:
        yield from collector.finished()
        problems.reject(path, error.line, f"{error}: nothing after this can be read")


class _Collector:
    """Collects the wanted elements of one file until they are taken."""

    def __init__(self, parser: XmlParser, roots: frozenset[str], tags: frozenset[str], longest: int) -> None:
        self._parser, self._roots, self._tags, self._longest = parser, roots, tags, longest
        self._finished: deque[XmlRecord] = deque()
        self._builder: TreeBuilder | None = None
        self._tag, self._line, self._begin, self._ended = "", 0, 0, 0
        self._depth = 0
        parser.expat.SkippedEntityHandler = self._skip_entity
        self._look_for_records()

    def finished(self) -> Iterator[XmlRecord]:
        while self._finished:
            yield self._finished.popleft()

    def check_length(self) -> None:
        """Refuse the open record if it is too long."""
        if self._builder is not None and self._parser.expat.CurrentByteIndex - self._begin > self._longest:
            self._close(self._builder, fault=f"<{self._tag}> of more than {self._longest >> 20} MB")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._parser.has_root:
            if tag not in self._roots:
                expected = " or ".join(sorted(self._roots))
                raise self._parser.refusal(f"its root element is {tag[:80]!r}, not {expected}")
            self._parser.has_root = True
            self._finished.append(XmlRecord(self._parser.line, Element(tag, attributes)))
        elif tag in self._tags:
            self._tag, self._line, self._ended = tag, self._parser.line, 0
            self._begin = self._parser.expat.CurrentByteIndex
            self._builder = TreeBuilder()
            self._builder.start(tag, attributes)
            # The builder's own methods are the handlers, so that Python code runs only at the end of elements.
            self._parser.expat.StartElementHandler = self._builder.start
            self._parser.expat.CharacterDataHandler = self._builder.data
        else:
            self._go_deeper()

    def _end(self, tag: str) -> None:
        if self._builder is None:
            self._depth -= 1
            return
        self._builder.end(tag)
        self._ended += 1
        if tag == self._tag:
            self._close(self._builder)

    def _close(self, builder: TreeBuilder, *, fault: str | None = None) -> None:
        """Close the open record, because its end tag was read or because it has a fault."""
        element = builder.close()
        still_open = sum(1 for _ in element.iter()) - self._ended
        if still_open and fault is None:
            fault = f"<{self._tag}> within <{self._tag}>"
        if fault is None:
            self._finished.append(XmlRecord(self._line, element))
        else:
            self._parser.reject(self._line, fault)
            self._go_deeper(still_open)
        self._look_for_records()

    def _go_deeper(self, levels: int = 1) -> None:
        self._depth += levels
        self._parser.check_depth(self._depth)

    def _look_for_records(self) -> None:
        self._builder = None
        self._parser.expat.StartElementHandler = self._start
        self._parser.expat.EndElementHandler = self._end
        self._parser.expat.CharacterDataHandler = None

    def _skip_entity(self, name: str, _: bool) -> None:
        self._parser.repair(self._parser.line, f"unknown entity &{name[:40]};: left out")
