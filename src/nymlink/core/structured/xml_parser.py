"""Parse untrusted XML: whatever could fill the memory or read other files is refused.

The parser is expat of the standard library, which has line numbers, needs no dependency and reads no other file by
itself. Guarded against are entities that expand, and tags, prologues and nesting without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.parsers import expat

from nymlink.core.encodings import detect_utf16
from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes
from nymlink.core.problems import Problems
from nymlink.core.structured.text_blocks import read_text_blocks

_ENCODING: Final = re.compile(rb"\s*<\?xml[^>]*?\bencoding\s*=\s*[\"'](?P<name>[\w.-]+)")
_UTF8: Final = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_RAW_BYTES: Final = 1 << 16
_MAX_TOKEN: Final = 1 << 20
_MAX_DEPTH: Final = 250_000


class NotWellFormedError(Exception):
    """The file cannot be parsed beyond a line; the message says why."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


class XmlParser:
    """Expat parser of one file.

    Args:
        path: a plain or gzip file. Bytes that are not UTF-8 are read as Windows-1252 and reported, unless the file
            declares another encoding.
        problems: receives lines that are not UTF-8.
        namespaces: whether names are expanded, with the IRI of their namespace before them.
        longest_entity: most characters of an entity that the file declares.

    Attributes:
        expat: the parser, whose handlers the caller sets.
        has_root: set by the handler of the root element; until then, the whole file counts as one tag.

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
        """Number of the line that is being parsed."""
        return self.expat.CurrentLineNumber

    def run(self) -> Iterator[None]:
        """Parse the file, some hundred kilobytes between one ``yield`` and the next.

        Raises:
            NotWellFormedError: the file is truncated or broken after its root element has begun.
            InputError: it is not XML, declares entities that could grow, holds a tag without end, or is in an
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
        """Make an error about the line that is being parsed."""
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
        # Raised by the codecs and expat where the declared encoding is unknown or has several bytes a character.
        except (LookupError, ValueError) as error:
            raise self.refusal(f"XML in an encoding that cannot be read ({error})") from error

    def _check_entity(self, name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if is_parameter or value is None or "&" in value or len(value) > self._longest_entity:
            message = "which is not expanded, since entities can grow without bound: write its text in full"
            raise self.refusal(f"it declares the entity {name[:40]!r}, {message}")


def _is_utf8(path: Path) -> bool:
    """Whether a file is in UTF-8 by its declaration."""
    with open_bytes(path) as file:
        head = file.read(1024)
    declared = _ENCODING.match(head)
    return detect_utf16(head) is None and (declared is None or declared["name"].lower() in _UTF8)
