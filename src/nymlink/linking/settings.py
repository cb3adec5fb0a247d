"""The settings of a linker, and what it needs of a re-ranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypedDict

from nymlink.corpus.model import Document
from nymlink.linking.explanation import Explanation
from nymlink.linking.model import Link
from nymlink.text.prepare import Composites


class Reranking(Protocol):
    """Puts the candidates of mentions into another order: :class:`nymlink.rerank.reranker.Reranker` does.

    Attributes:
        candidates: how many it is to be given.
    """

    candidates: int

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """Put the candidates of the links of a document, one for each mention, into another order."""
        ...

    def explain(self, document: Document, links: Sequence[Link]) -> list[Explanation]:
        """Say of each link why its first candidate is then before the second."""
        ...


class LinkerSettings(TypedDict, total=False):
    """The settings of a :class:`~nymlink.linking.linker.Linker`, by keyword."""

    top_k: int
    rerank: Reranking | None
    target_precision: float | None
    spelling: Mapping[str, str] | None
    guesses: bool
    language: str | None
    composites: Composites
