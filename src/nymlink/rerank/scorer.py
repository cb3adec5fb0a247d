"""What scores candidates by the context of their mention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from nymlink.index.fusion.hits import Scores
from nymlink.rerank.passages import Passage

CANDIDATES: Final = 64
"""Of a mention, where nothing else is said: as many as in the paper."""


class ContextScorer(Protocol):
    """Says how well concepts of a vocabulary fit mentions in their contexts."""

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """The scores of N mentions' candidates, larger is better: for each an array, float32 (candidates).

        Args:
            passages: the mentions.
            candidates: rows of concepts of the vocabulary, of each mention at least one.
        """
        ...
