"""Explain the order of the first two candidates; define the settings of a linker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final, Protocol, TypedDict

from nymlink.corpus.documents import Document
from nymlink.linking.candidates import WRITING
from nymlink.linking.judge import Judge
from nymlink.linking.link import Candidate, Link
from nymlink.rank.ranker import Reason
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import Restriction, Values

_SHOWN: Final = 6
"""Number of reasons that are printed, those with the largest effect."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The first two candidates of a mention, and the reasons for their order.

    Attributes:
        link: the mention with its candidates.
        first: the first candidate; ``None`` if nothing was found.
        second: the second candidate; ``None`` if there is none.
        reasons: features that moved them apart, the strongest first; empty if no ranker ordered them.
        unexplained: what ordered them if there are no reasons, in words.
        has_verbatim_first: whether a name that is written exactly as the mention always comes first, and so does
            the only name that equals it.
        annotated: how often the mentions with this text mean the first candidate, and in which corpora;
            ``None`` if the index does not know.
    """

    link: Link
    first: Candidate | None
    second: Candidate | None
    reasons: tuple[Reason, ...]
    unexplained: str = "by their scores alone: the index has no ranker"
    has_verbatim_first: bool = True
    annotated: str | None = None

    @property
    def is_verbatim(self) -> bool:
        """Whether the first candidate is before the second because its name, and no other, equals the mention."""
        if not self.has_verbatim_first or self.first is None or self.second is None:
            return False
        first, second = self.first.parts.get(WRITING), self.second.parts.get(WRITING)
        return first is not None and (first == 1 or second is None) and first != second

    def __str__(self) -> str:
        """Write the link, the second candidate, and the strongest reasons, one a line."""
        lines = [str(self.link)]
        if self.link.domain is not None:
            lines.append(f"  {self.link.domain}")
        if self.annotated is not None:
            lines.append(f"  {self.annotated}")
        if self.second is not None:
            lines.append(f"  before {self.second}")
        if self.is_verbatim:
            lines.append("  regardless of these reasons: its name equals the mention")
        for reason in self.reasons[:_SHOWN]:
            values = f"{_value(reason.first)} against {_value(reason.second)}"
            lines.append(f"  {reason.moved:+.2f} {reason.feature.name}: {values} ({reason.feature.meaning})")
        if self.second is not None and not self.reasons:
            lines.append(f"  {self.unexplained}")
        return "\n".join(lines)


def _value(value: float) -> str:
    return "none" if isnan(value) else f"{value:.3g}"


class Reranking(Protocol):
    """Reorders the candidates of mentions; :class:`nymlink.rerank.reranker.Reranker` implements it.

    Attributes:
        candidates: number of candidates that it needs for each mention.
    """

    candidates: int

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """Reorder the candidates of the links of a document, one link for each mention."""
        ...

    def explain(self, document: Document, links: Sequence[Link]) -> list[Explanation]:
        """Explain for each link why its first candidate comes before the second after reordering."""
        ...


class LinkerSettings(TypedDict, total=False):
    """The settings of a :class:`~nymlink.linking.linker.Linker`, by keyword."""

    top_k: int
    rerank: Reranking | None
    judge: Judge | None
    target_precision: float | None
    spelling: Mapping[str, str] | None
    guesses: bool
    language: str | None
    composites: Composites
    restriction: Restriction


class LinkChoices(TypedDict, total=False):
    """The choices of a call of :meth:`~nymlink.linking.linker.Linker.link`, by keyword."""

    language: str | None
    top_k: int | None
    types: Values
    branch: Values
    ids: Values
    exclude: Values
