"""Define a format of links: its description, its writer, and the information that the writer gets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

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
        code: index of the column of the terms' codes; ``None`` where none was named.
        frequency: index of the column of how often each term occurs; ``None`` where none was named.
    """

    header: Record
    delimiter: str
    code: int | None = None
    frequency: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinksInfo:
    """Information on links that is known before the first one.

    Attributes:
        calibrated: whether the links have confidences that are measured probabilities.
        annotated: whether the mentions were found in texts, by an annotator: the links then have confidences, and
            flags of what their sentences say of them (:class:`nymlink.linking.link.Context`).
        reviewed: whether people decided some of the links (:class:`nymlink.linking.link.Review`).
        multilingual: whether the names are in several languages.
        located: whether the mentions have documents and offsets.
        has_documents: whether the documents themselves are given, with :meth:`LinkWriter.begin_document`.
        table: the layout of the table that the mentions come from; ``None`` where they come from none.
        vocabulary: the concepts that were linked to, where these are known.
        title: a short name of what was linked, for example that of its file.
        options: options that the user gave on the command line, for example ``"--top-k"``.
    """

    calibrated: bool = False
    annotated: bool = False
    reviewed: bool = False
    multilingual: bool = False
    located: bool = False
    has_documents: bool = False
    table: UserTable | None = None
    vocabulary: Vocabulary | None = None
    title: str = ""
    options: frozenset[str] = frozenset()

    @property
    def confident(self) -> bool:
        """Whether the links have confidences, measured or not."""
        return self.calibrated or self.annotated


class LinkWriter(ABC):
    """Writes links one by one to a stream, which it leaves open, or into a folder."""

    def begin_document(self, document: Document) -> None:
        """Take the document whose links come next, one for each mention; a format without texts does nothing."""
        return

    def pass_over(self, document: Document) -> None:
        """Take note of a document that an earlier run has written, before the first that this one writes."""
        return

    @abstractmethod
    def write(self, link: Link, row: Record | None = None) -> None:
        """Write a link.

        Args:
            link: the link.
            row: the row of the user's table that the mention stands in, with as many fields as the header;
                ``None`` exactly where there is no such table.
        """

    def close(self) -> None:
        """Write what comes after the last link."""
        return


Need = Literal["documents"]
Target = Literal["text", "binary", "folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFormat:
    """One format of links.

    Attributes:
        name: as given to ``--format``.
        description: one line for the help.
        open: makes a writer, given the target and what is known of the links. It may write a header at once, and
            raises :class:`~nymlink.core.errors.InputError` where it cannot write such links.
        endings: endings of file names that mean this format, for example ``(".jsonl",)``.
        needs: input that the format cannot do without: ``"documents"`` with their texts.
        keeps_table: whether the columns of the user's table are written too.
        ignores: options of `nymlink link` that make no difference to this format, for example ``{"--top-k"}``.
        target: what is written to: a stream of ``"text"`` or of bytes (``"binary"``), or an empty ``"folder"``; to
            standard output such a format writes the text of one document.
        resumable: whether a run that was killed can go on behind a document: all is written document by document,
            but for a header that the writer writes when it is opened and an end when it is closed; or, of a
            ``"binary"`` format, its writer is a :class:`~nymlink.linking.writers.link_columns.RowWriter`, whose
            rows can be kept elsewhere until they are all there.
    """

    name: str
    description: str
    open: Callable[[Any, LinksInfo], LinkWriter]
    endings: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    keeps_table: bool = False
    ignores: frozenset[str] = frozenset()
    target: Target = "text"
    resumable: bool = False
