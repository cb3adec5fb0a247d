"""Write BRAT standoff: a ``.txt`` with the text of each document, an ``.ann`` with its mentions and concepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from nymlink.core.errors import InputError
from nymlink.corpus.model import Document
from nymlink.corpus.readers.standoff.brat import LOCAL_PREFIX
from nymlink.linking.writers.documents.document_writer import (
    LINE_END,
    Annotation,
    DocumentWriter,
    one_line,
    one_word,
)
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_UNSAFE: Final = re.compile(r"[^\w.-]")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
"""What Windows takes for a device."""
_LONGEST_NAME: Final = 100
_BREAK: Final = re.compile(rf"(?:{LINE_END.pattern}|\t)+")


class BratWriter(DocumentWriter):
    """Writes a pair of files into a folder for each document, or the annotations of one document to a stream."""

    def __init__(self, out: Path | TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out
        self._names: set[str] = set()

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        lines = "".join(line + "\n" for line in _lines(text, annotations))
        if isinstance(self._out, Path):
            name = self._new_name(id_)
            for ending, content in ((".txt", text), (".ann", lines)):
                path = self._out / (name + ending)
                path.write_text(content, encoding="utf-8", errors="replace", newline="")
        elif self._count > 1:
            raise InputError("brat has two files for each document: give a folder, -o FOLDER")
        else:
            self._out.write(lines)
        return 0

    def pass_over(self, document: Document) -> None:
        super().pass_over(document)
        self._new_name(self._id(document))

    def _new_name(self, id_: str) -> str:
        """Make a file name of an id, which no other document has on any system."""
        base = _UNSAFE.sub("_", id_)[:_LONGEST_NAME].lstrip(".") or "document"
        base = f"_{base}" if _RESERVED.match(base) else base
        name, number = base, 1
        while name.casefold() in self._names:
            number += 1
            name = f"{base}-{number}"
        self._names.add(name.casefold())
        return name


def _lines(text: str, annotations: list[Annotation]) -> Iterator[str]:
    concepts = attributes = 0
    for number, annotation in enumerate(annotations, start=1):
        pieces = [piece for start, end in annotation.pieces for piece in _unbroken(text, start, end)]
        places = ";".join(f"{start} {end}" for start, end in pieces)
        surface = " ".join(text[start:end] for start, end in pieces)
        yield f"T{number}\t{_UNSAFE.sub('_', annotation.type)} {places}\t{surface}"
        for concept in annotation.concepts:
            concepts += 1
            id_ = one_word(concept.concept_id)
            curie = id_ if ":" in id_ else f"{LOCAL_PREFIX}{id_}"
            yield f"N{concepts}\tReference T{number} {curie}\t{one_line(concept.concept_name)}"
        for flag in () if annotation.link.context is None else annotation.link.context.triggers:
            attributes += 1
            yield f"A{attributes}\t{flag.capitalize()} T{number}"


def _unbroken(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Divide a span where a line ends in it: a mention of BRAT lies within one line, or has several pieces."""
    for match in _BREAK.finditer(text, start, end):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < end:
        yield start, end


FORMAT = LinkFormat(
    name="brat",
    description="a folder with a .txt and an .ann for each document, concepts as N, flags as A lines (-o FOLDER)",
    open=BratWriter,
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    target="folder",
    resumable=True,
)
