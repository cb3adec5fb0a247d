"""Read large XML files record by record: one element in memory at a time, with its line number.

Expat reads some 30 MB/s of a MeSH-like file with C callbacks that build the records (ElementTree's pull parser
half as much, lxml twice). Entities, which no such file declares, are refused.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, TreeBuilder

from nymlink.core.problems import Problems
from nymlink.core.structured.xml_parser import NotWellFormedError, XmlParser

_ROOT: Final = re.compile(r"<([A-Za-z_][\w.-]*)[\s/>]")
_PROLOGUE: Final = re.compile(r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """Element and the line it begins on."""

    line: int
    element: Element


def root_name(head: str) -> str:
    """Read the name of the root element off the first characters of a file; empty where there is none."""
    match = _ROOT.match(_PROLOGUE.sub("", head).lstrip())
    return match[1] if match else ""


def text_at(element: Element | None, path: str = ".") -> str:
    """Get the text at a path below an element with white space folded, empty where there is none."""
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
    """Yield the root with only its attributes, then each element named in ``tags`` with its content.

    Bytes that are not UTF-8 are read as Windows-1252 and reported, unless the file declares another encoding.
    Elements of more than ``longest`` bytes, and everything after a place that is not well-formed, are left out and
    reported.

    Raises:
        InputError: the root is another, the file declares entities, or it cannot be read.
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
        """Take the records that are complete."""
        while self._finished:
            yield self._finished.popleft()

    def check_length(self) -> None:
        """Refuse the open record, if any, where it is too long."""
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
            # With the builder's own methods as handlers, Python runs only at the end of elements.
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
        """Close the open record, at its end tag or because of a fault."""
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
