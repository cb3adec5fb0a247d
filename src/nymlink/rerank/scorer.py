"""The interface of scorers: they score the candidates of mentions by context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from nymlink.index.fusion.hits import Scores
from nymlink.rerank.passages import Passage

DEFAULT_CANDIDATES: Final = 64
"""The default number of candidates of a mention, as in Le & Nguyen (2023)."""


class ContextScorer(Protocol):
    """Scores concepts of a vocabulary as candidates of mentions in context."""

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score the candidates of N mentions, larger is better: for each mention an array, float32 (candidates).

        Args:
            passages: the mentions in context.
            candidates: concept rows of each mention, at least one.
        """
        ...
