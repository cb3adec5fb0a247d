"""Documents with their links: PubTator, CoNLL, BRAT.

PubTator: the first line of a text is its title. Further line ends, and tabs, become blanks, which keeps the
offsets right. A mention in several pieces is written from the start of the first to the end of the last.

CoNLL: tokens are words and single signs, divided where a mention begins or ends. Tags cannot express overlapping
mentions or mentions in several pieces: of overlapping mentions the longest is written.
"""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TextIO

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document
from nymlink.corpus.readers.standoff import LOCAL_PREFIX
from nymlink.linking.link import Candidate, Link
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter
from nymlink.tables.delimited import Record

UNTYPED: Final = "Concept"
"""The type of a mention without a type, because these formats need one."""

LINE_END: Final = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Characters that some reader takes for the end of a line."""

_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mention at its place in a text, with its concepts.

    Attributes:
        link: the link of the mention.
        pieces: offsets of its pieces, in code points, in order.
        text: the text from the start of the first piece to the end of the last.
        type: its semantic type.
        concepts: the best candidate of each part; empty if the link is NIL.
    """

    link: Link
    pieces: tuple[tuple[int, int], ...]
    text: str
    type: str
    concepts: tuple[Candidate, ...]

    @property
    def start(self) -> int:
        """Offset of its first character."""
        return self.pieces[0][0]

    @property
    def end(self) -> int:
        """Offset one past its last character."""
        return self.pieces[-1][1]

    @property
    def concept_ids(self) -> str:
        """Its concepts as one word, joined by ``|``; empty for none."""
        return "|".join(one_word(concept.concept_id) for concept in self.concepts)


class DocumentWriter(LinkWriter):
    """Writes whole documents: their text, then their mentions with concepts.

    A document without text, such as a list of mentions, gets its mentions as text, one a line. A mention whose
    place in the text is unknown is left out; a warning counts these.
    """

    def __init__(self) -> None:
        self._document: Document | None = None
        self._links: list[Link] = []
        self._count = 0
        self._left_out = 0

    def begin_document(self, document: Document) -> None:
        self._write_open_document()
        self._document = document

    def write(self, link: Link, row: Record | None = None) -> None:
        self._links.append(link)

    def close(self) -> None:
        self._write_open_document()
        self._write_end()
        if self._left_out:
            warnings.warn(f"{self._left_out:,} mentions were left out: {self._what_is_left_out()}", stacklevel=2)

    @abstractmethod
    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        """Write a document.

        Args:
            id_: its identifier, never empty.
            text: its text, whole Unicode characters.
            annotations: its mentions, in the order of the document.

        Returns:
            Number of mentions that the format cannot hold.
        """

    def _write_end(self) -> None:
        """Write the end of the file, after the last document."""
        return

    def _what_is_left_out(self) -> str:
        return "their place in the text is not known"

    def _id(self, document: Document) -> str:
        """Return the id of the document that was counted last, or its number if it has no id."""
        return document.id or str(self._count)

    def _write_open_document(self) -> None:
        if self._document is None:
            return
        self._count += 1
        document, links = self._document, self._links
        self._document, self._links = None, []
        if not document.text:
            document, links = _listed(document, links)
        annotations = [_annotation(document, link) for link in links if link.mention.pieces]
        text = _HALF.sub("\ufffd", document.text)
        self._left_out += len(links) - len(annotations)
        self._left_out += self.write_document(self._id(document), text, annotations)


def one_line(text: str) -> str:
    """Replace each character that ends a line or a cell by one blank, which keeps the offsets right."""
    return LINE_END.sub(" ", text).replace("\t", " ")


def one_word(text: str) -> str:
    """Write an id as one word, for formats whose fields end at white space."""
    return "_".join(text.split())


def _listed(document: Document, links: list[Link]) -> tuple[Document, list[Link]]:
    """Make a text for a document without one: its mentions, one a line."""
    lines = [one_line(link.mention.text) for link in links]
    placed, start = [], 0
    for line, link in zip(lines, links, strict=True):
        place = (start, start + len(line)) if line.strip() else (None, None)
        mention = replace(link.mention, text=line, start=place[0], end=place[1], spans=())
        placed.append(replace(link, mention=mention))
        start += len(line) + 1
    return replace(document, text="\n".join(lines)), placed


def _annotation(document: Document, link: Link) -> Annotation:
    # A composite mention means its parts without those that it denies.
    parts = [part for part in link.singles if part.candidates and not (link.parts and part.is_denied)]
    concepts = () if link.nil else tuple(part.candidates[0] for part in parts)
    pieces = link.mention.pieces
    if pieces[-1][1] > len(document.text):
        raise InputError(
            f"document {document.id!r}: a mention ends at {pieces[-1][1]:,}, and the text at "
            f"{len(document.text):,}: give the documents that were linked"
        )
    text = _HALF.sub("\ufffd", document.text[pieces[0][0] : pieces[-1][1]])
    return Annotation(link, pieces, text, link.mention.type.strip() or UNTYPED, concepts)


class PubTatorWriter(DocumentWriter):
    """Writes a block of lines for each document, with an empty line after it."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        name = one_word(id_).replace("|", "_")
        title, _, abstract = text.partition("\n")
        lines = [f"{name}|t|{one_line(title)}", f"{name}|a|{one_line(abstract)}"]
        for annotation in annotations:
            fields = [
                name,
                str(annotation.start),
                str(annotation.end),
                one_line(annotation.text),
                one_line(annotation.type),
                annotation.concept_ids or "-1",
            ]
            if annotation.link.parts:
                parts = (one_line(part.mention.text).replace("|", " ") for part in annotation.link.parts)
                fields.append("|".join(parts))
            lines.append("\t".join(fields))
        self._out.write("\n".join(lines) + "\n\n")
        return 0


PUBTATOR = LinkFormat(
    name="pubtator",
    description="documents in PubTator format, each mention with the id of its concept, or -1",
    open=PubTatorWriter,
    endings=(".pubtator", ".pubtator.txt"),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
)


_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


class ConllWriter(DocumentWriter):
    """Writes ``token<TAB>start<TAB>end<TAB>tag<TAB>concepts``, an empty line for a line end of the text."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        kept = _apart(annotations)
        lines = [f"# newdoc id = {one_word(id_)}"]
        previous, place = 0, 0
        for start, end in _tokens(text, [each for one in kept for each in (one.start, one.end)]):
            while place < len(kept) and kept[place].end <= start:
                place += 1
            inside = place < len(kept) and kept[place].start <= start
            begins = inside and kept[place].start >= previous
            if "\n" in text[previous:start] and len(lines) > 1 and (begins or not inside):
                lines.append("")
            tag = f"{'B' if begins else 'I'}-{one_word(kept[place].type)}" if inside else "O"
            concepts = kept[place].concept_ids if begins else ""
            lines.append(f"{text[start:end]}\t{start}\t{end}\t{tag}\t{concepts or '_'}")
            previous = end
        self._out.write("\n".join(lines) + "\n\n")
        return len(annotations) - len(kept)

    def _what_is_left_out(self) -> str:
        return "they overlap with longer ones, consist of several pieces, or their place in the text is not known"


def _apart(annotations: list[Annotation]) -> list[Annotation]:
    """Choose mentions that do not overlap, the longest first, and return them in order."""
    taken: list[Annotation] = []
    starts: list[int] = []
    for annotation in sorted(annotations, key=lambda one: (one.start - one.end, one.start)):
        place = bisect_left(starts, annotation.start)
        after = place == len(taken) or taken[place].start >= annotation.end
        before = place == 0 or taken[place - 1].end <= annotation.start
        if after and before and len(annotation.pieces) == 1 and _TOKEN.search(annotation.text):
            taken.insert(place, annotation)
            starts.insert(place, annotation.start)
    return taken


def _tokens(text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of tokens; no mention begins or ends within a token."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        for bound in bounds[bisect_left(bounds, start + 1) : bisect_left(bounds, end)]:
            if bound > start:
                yield start, bound
                start = bound
        yield start, end


CONLL = LinkFormat(
    name="conll",
    description="tokens with offsets, BIO tags and concepts in columns",
    open=ConllWriter,
    endings=(".conll",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
)


_UNSAFE: Final = re.compile(r"[^\w.-]")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
"""File names that Windows reserves for devices."""
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
            raise InputError("brat writes two files for each document: give a folder, -o FOLDER")
        else:
            self._out.write(lines)
        return 0

    def _new_name(self, id_: str) -> str:
        """Make a file name from an id: valid on every system, and used by no other document."""
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
    """Divide a span at line ends, because a piece of a BRAT mention must be within one line."""
    for match in _BREAK.finditer(text, start, end):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < end:
        yield start, end


BRAT = LinkFormat(
    name="brat",
    description="a folder with a .txt and an .ann for each document, concepts as N, flags as A lines (-o FOLDER)",
    open=BratWriter,
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    target="folder",
)
