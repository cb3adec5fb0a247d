"""Collect the links of a document, and hand its text to a writer with the mentions at their places."""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Final

from nymlink.core.delimited import Record
from nymlink.corpus.model import Document
from nymlink.linking.model import Candidate, Link
from nymlink.linking.writers.writer import LinkWriter

UNTYPED: Final = "Concept"
"""The type of a mention that has none: these formats want one."""

LINE_END: Final = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What some reader takes for the end of a line."""

_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mention at its place in a text, and what it means.

    Attributes:
        link: the link of the mention.
        pieces: offsets of its pieces, in code points, in order.
        text: what stands there, from the first to the last piece.
        type: its semantic type.
        concepts: the best candidate of each part; empty where the link is NIL.
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
    """Writes documents whole: their text, then their mentions with what these were linked to.

    A document without text, as a list of mentions is, gets its mentions for text, one a line. A mention of which
    it is not known where it stands in its text is left out; a warning counts such.
    """

    def __init__(self) -> None:
        self._document: Document | None = None
        self._links: list[Link] = []
        self._count = 0
        self._left_out = 0

    def begin_document(self, document: Document) -> None:
        self._write_open_document()
        self._document = document

    def pass_over(self, document: Document) -> None:
        self._count += 1

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
            How many mentions the format has no room for.
        """

    def _write_end(self) -> None:
        """Write what comes after the last document."""
        return

    def _what_is_left_out(self) -> str:
        return "it is not known where in their text they stand"

    def _id(self, document: Document) -> str:
        """Return the id of the document that was counted last; its number where it has none."""
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
    """Replace what ends lines or cells by a blank, character by character, so that offsets hold."""
    return LINE_END.sub(" ", text).replace("\t", " ")


def one_word(text: str) -> str:
    """Write an id as one word, for formats whose fields end at white space."""
    return "_".join(text.split())


def _listed(document: Document, links: list[Link]) -> tuple[Document, list[Link]]:
    """Give a document its mentions for text, one a line."""
    lines = [one_line(link.mention.text) for link in links]
    placed, start = [], 0
    for line, link in zip(lines, links, strict=True):
        place = (start, start + len(line)) if line.strip() else (None, None)
        mention = replace(link.mention, text=line, start=place[0], end=place[1], spans=())
        placed.append(replace(link, mention=mention))
        start += len(line) + 1
    return replace(document, text="\n".join(lines)), placed


def _annotation(document: Document, link: Link) -> Annotation:
    concepts = () if link.nil else tuple(part.candidates[0] for part in link.singles if part.candidates)
    pieces = link.mention.pieces
    text = _HALF.sub("\ufffd", document.text[pieces[0][0] : pieces[-1][1]])
    return Annotation(link, pieces, text, link.mention.type.strip() or UNTYPED, concepts)
