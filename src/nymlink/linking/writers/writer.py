"""Define a format of links: its description, its writer, and the information for the writer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from nymlink.corpus.documents import Document
from nymlink.linking.link import Link
from nymlink.tables.delimited import Record
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class UserTable:
    """The layout of a table whose mentions are linked.

    Attributes:
        header: its header.
        delimiter: the character between fields.
        code: index of the column with the codes of terms; ``None`` if none was named.
        frequency: index of the column with the frequencies of terms; ``None`` if none was named.
        schema: its columns in Parquet; ``None`` for another table.
        has_types: whether its cells have types, and its columns none: a workbook, JSON lines.
    """

    header: Record
    delimiter: str
    code: int | None = None
    frequency: int | None = None
    schema: pa.Schema | None = None
    has_types: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksInfo:
    """Information on links that is known before the first link.

    Attributes:
        calibrated: whether the confidences are measured probabilities.
        annotated: whether an annotator found the mentions in texts: the links then have confidences and context
            flags (:class:`nymlink.linking.link.Context`).
        split: whether mentions may have parts (:attr:`nymlink.linking.link.Link.parts`).
        reviewed: whether people decided on some of the links (:class:`nymlink.linking.link.Review`).
        multilingual: whether the names are in several languages.
        several: whether the vocabulary is one of several, so that links have domains
            (:class:`nymlink.linking.link.Domain`).
        located: whether the mentions have documents and offsets.
        has_documents: whether the writer gets the documents, through :meth:`LinkWriter.begin_document`.
        table: layout of the table that the mentions come from; ``None`` without a table.
        vocabulary: the vocabulary that was linked to, if known.
        subjects: the vocabulary whose concepts are the mentions; ``None`` for other mentions.
        title: a short name of the input, for example that of its file.
        options: options that the user gave on the command line, for example ``"--top-k"``.
    """

    calibrated: bool = False
    annotated: bool = False
    split: bool = False
    reviewed: bool = False
    multilingual: bool = False
    several: bool = False
    located: bool = False
    has_documents: bool = False
    table: UserTable | None = None
    vocabulary: Vocabulary | None = None
    subjects: Vocabulary | None = None
    title: str = ""
    options: frozenset[str] = frozenset()

    @property
    def confident(self) -> bool:
        """Whether the links have confidences, measured or not."""
        return self.calibrated or self.annotated


class LinkWriter(ABC):
    """Writes links one by one to a stream, which it leaves open, or into a folder."""

    def begin_document(self, document: Document) -> None:
        """Begin a document; the links of its mentions follow. Formats without texts ignore it."""
        return

    @abstractmethod
    def write(self, link: Link, row: Record | None = None) -> None:
        """Write a link.

        Args:
            link: the link.
            row: the row of the user's table with the mention, with as many fields as the header; ``None`` without
                a table.
        """

    def close(self) -> None:
        """Write the end of the file, after the last link."""
        return

    def abandon(self) -> None:
        """Release what is open, in place of :meth:`close`, when the output will not be used."""
        return


Need = Literal["documents"]
Target = Literal["text", "binary", "folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFormat:
    """One format of links.

    Attributes:
        name: value of ``--format``.
        description: one line for the help.
        open: makes a writer from the target and the information on the links. It may write a header at once, and
            raises :class:`~nymlink.core.errors.InputError` if it cannot write such links.
        endings: endings of file names that mean this format, for example ``(".jsonl",)``.
        needs: input that the format requires: ``"documents"`` with their texts.
        keeps_table: whether the columns of the user's table are written, too.
        ignores: options of `nymlink link` that have no effect on this format, for example ``{"--top-k"}``.
        target: what is written to: a stream of ``"text"`` or of bytes (``"binary"``), or an empty ``"folder"``. To
            standard output, a folder format writes the text of one document.
    """

    name: str
    description: str
    open: Callable[[Any, LinksInfo], LinkWriter]
    endings: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    keeps_table: bool = False
    ignores: frozenset[str] = frozenset()
    target: Target = "text"
