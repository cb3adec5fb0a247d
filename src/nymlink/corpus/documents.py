"""Documents, mentions and corpora, with the gold concepts of the mentions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of text that names a concept.

    Attributes:
        text: the surface form.
        start: offset of its first character in the document's text, 0-based, in Unicode code points; ``None``
            for a mention without offsets.
        end: offset one past its last character, or ``None``.
        type: its semantic type as annotated, for example ``"Disease"``.
        concept_ids: the gold concept ids; empty where there are none, or none are known.
        parts: surface forms of the single names in a composite mention ("breast and ovarian cancer" →
            ``("breast cancer", "ovarian cancer")``); empty for any other.
        prepared: whether ``text`` and ``parts`` are already normalised, with abbreviations expanded.
        language: code of the language it is in ("en", "pt-BR"); ``None`` where that is not known of this mention:
            it is in that of the others then (``language=`` of a linker).
        id: its identifier in the source: the code of a term to map, the id of an annotation ("T1"); ``None`` where
            it has none.
        spans: of a mention in several pieces ("breast … cancer" in "breast and ovarian cancer"), the offsets of
            each, in order; ``start`` is that of the first and ``end`` that of the last, ``text`` the pieces with
            blanks between them. Empty for any other mention.
        frequency: how often it occurs in the source, where a list of terms says so.
    """

    text: str
    start: int | None = None
    end: int | None = None
    type: str = ""
    concept_ids: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    prepared: bool = False
    language: str | None = None
    id: str | None = None
    spans: tuple[tuple[int, int], ...] = ()
    frequency: int = 1

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """The offsets of its pieces, one unless it has :attr:`spans`; empty for a mention without offsets."""
        if self.start is None or self.end is None:
            return ()
        return self.spans or ((self.start, self.end),)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its mentions. A list of mentions without text is a document too.

    Attributes:
        id: its identifier in the corpus, for example a PMID.
        text: the whole text, to which offsets refer; empty where the corpus gives none.
        mentions: its mentions, in the order of the corpus.
    """

    id: str
    text: str = ""
    mentions: tuple[Mention, ...] = ()

    def surface(self, mention: Mention) -> str:
        """Read a mention off the text, its pieces with blanks between them; empty where it has no offsets."""
        return " ".join(self.text[start:end] for start, end in mention.pieces)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of one split of a corpus.

    Attributes:
        name: the name of its file or folder, for reports.
        documents: its documents, in the order of the file.
    """

    name: str
    documents: tuple[Document, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.documents)

    def mentions(self) -> Iterator[tuple[Document, Mention]]:
        """Iterate over all mentions, each with its document."""
        return ((document, mention) for document in self.documents for mention in document.mentions)
