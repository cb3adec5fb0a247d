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
        end: offset after its last character, or ``None``.
        type: its semantic type as annotated, for example ``"Disease"``.
        concept_ids: the gold concept ids; empty if there are none, or they are unknown.
        parts: surface forms of the single names in a composite mention ("breast and ovarian cancer" →
            ``("breast cancer", "ovarian cancer")``); empty for any other mention.
        prepared: whether ``text`` and ``parts`` are already normalised, with abbreviations expanded.
        language: code of its language ("en", "pt-BR"). ``None`` if the corpus does not state it; then the language
            that the caller gives for all mentions counts (``language=`` of a linker).
        id: its identifier in the source, for example the code of a term, or the id of an annotation ("T1");
            ``None`` if it has none.
        spans: for a mention in several pieces ("breast … cancer" in "breast and ovarian cancer"), the offsets of
            each piece, in order. Then ``start`` is the start of the first piece, ``end`` the end of the last, and
            ``text`` the pieces joined by blanks. Empty for any other mention.
        frequency: how often it occurs in the source; 1 if the source does not state it.

    Example:
        >>> from nymlink import Mention
        >>> Mention("DM", 38, 40).text
        'DM'
        >>> mention = Mention("Krampfanfall", language="de")  # of no text
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
        """The offsets of its pieces: :attr:`spans`, or a single piece; empty for a mention without offsets."""
        if self.start is None or self.end is None:
            return ()
        return self.spans or ((self.start, self.end),)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its mentions. A list of mentions without text is a document, too.

    Attributes:
        id: its identifier in the corpus, for example a PMID.
        text: the whole text, to which offsets refer; empty if the corpus has none.
        mentions: its mentions, in the order of the corpus.

    Example:
        >>> from nymlink import Document, Linker, Mention
        >>> text = "Multiple sclerosis (MS) is chronic. MS is rare."
        >>> document = Document("1", text, (Mention("MS", 36, 38),))
        >>> Linker.build("diseases.obo", encoder=None).link(document)[0].query
        'multiple sclerosis'
    """

    id: str
    text: str = ""
    mentions: tuple[Mention, ...] = ()

    def surface(self, mention: Mention) -> str:
        """Return a mention as written in the text, its pieces joined by blanks; empty without offsets."""
        return " ".join(self.text[start:end] for start, end in mention.pieces)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of one split of a corpus.

    Attributes:
        name: the name of its file or folder, for reports.
        documents: its documents, in the order of the file.

    Example:
        >>> from nymlink import Corpus, Document
        >>> corpus = Corpus("notes", (Document("1", "No gout."), Document("2", "Asthma.")))
        >>> [document.id for document in corpus.documents]
        ['1', '2']
    """

    name: str
    documents: tuple[Document, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.documents)

    def mentions(self) -> Iterator[tuple[Document, Mention]]:
        """Iterate over all mentions, each with its document."""
        return ((document, mention) for document in self.documents for mention in document.mentions)
