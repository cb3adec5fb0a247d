"""Documents, mentions and corpora: what there is to link, and what it should link to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of text that names a concept.

    Attributes:
        text: the surface form.
        start: offset of its first character in the document's text, 0-based, in Unicode code points; ``None``
            for a mention that stands alone.
        end: offset one past its last character, or ``None``.
        type: what sort of thing the annotator says it is, for example ``"Disease"``.
        concept_ids: the gold ids; empty when there are none (or none are known).
        parts: surface forms of the single names in a composite mention ("breast and ovarian cancer" →
            ``("breast cancer", "ovarian cancer")``); empty for any other.
        prepared: whether ``text`` (and ``parts``) are normalised already, and their abbreviations expanded.
    """

    text: str
    start: int | None = None
    end: int | None = None
    type: str = ""
    concept_ids: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    prepared: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its mentions. A bare list of mentions is a document without text.

    Attributes:
        id: identifier in its corpus, for example a PMID.
        text: the whole text that offsets count in; empty where the corpus gives none.
        mentions: its mentions, in the corpus's order.
    """

    id: str
    text: str = ""
    mentions: tuple[Mention, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents of one split of a corpus.

    Attributes:
        name: where it came from, for reports.
        documents: in the corpus's order.
    """

    name: str
    documents: tuple[Document, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.documents)

    def mentions(self) -> Iterator[tuple[Document, Mention]]:
        """All mentions, each with its document."""
        return ((document, mention) for document in self.documents for mention in document.mentions)
