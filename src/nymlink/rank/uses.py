"""How often people meant each concept by a text: the prior among concepts that share a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import Bools
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.rank.features import Feature
from nymlink.rank.retrieval import Question

USED: Final = Feature("used", "share of the annotated mentions with this text that mean it", "0 to 1")


class Uses:
    """Counts of the concepts that people meant by texts.

    Args:
        times: prepared text → id of a concept → number of mentions with this text that mean the concept.
    """

    def __init__(self, times: Mapping[str, Mapping[str, int]]) -> None:
        self.times = times

    @classmethod
    def of(cls, index: Index) -> UsesOfIndex | None:
        """Load the counts of an index; ``None`` if it has none.

        Raises:
            StoreError: they are damaged.
        """
        if index.uses is None:
            return None
        try:
            times = {text: {id_: int(count) for id_, count in own.items()} for text, own in index.uses.items()}
            return UsesOfIndex(cls(times), index)
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreError(f"the uses of names are damaged ({error}): run `nymlink adapt` again") from error

    def first(self, text: str) -> tuple[str, float] | None:
        """Find the concept that most mentions with a text mean.

        Returns:
            Its id, and its share of the mentions by Laplace's rule of succession: (n + 1) / (N + 2). ``None`` if
            the text is unknown, or if the share is not above one half.
        """
        if not (own := self.times.get(text)):
            return None
        concept, count = max(own.items(), key=lambda item: item[1])
        share = (count + 1) / (sum(own.values()) + 2)
        return (concept, share) if share > 0.5 else None

    def to_dict(self) -> dict[str, Any]:
        return {text: dict(own) for text, own in self.times.items()}


class UsesOfIndex:
    """The counts with the rows of an index.

    Args:
        uses: the counts.
        index: the index.
    """

    def __init__(self, uses: Uses, index: Index) -> None:
        self.uses = uses
        self._row = index.vocabulary.row

    def share(self, text: str, row: int) -> float:
        """Return the share of the mentions with a text that mean a concept; NaN if the text is unknown."""
        own = {self._row(concept): times for concept, times in self.uses.times.get(text, {}).items()}
        return own.get(row, 0) / sum(own.values()) if own else float("nan")

    def raised(self, questions: Sequence[Question], concepts: Rows, scores: Scores) -> tuple[Bools, Scores]:
        """Put the concept first that people mean by the text of a question.

        Its score becomes the highest of all candidates, and of "no candidate is right", plus the log-odds of its
        share.

        Args:
            questions: Q questions.
            concepts: int32 (Q, K): rows of their candidates.
            scores: float32 (Q, K): scores of the candidates.

        Returns:
            bool (Q, K): the candidates that come first; and the new scores.
        """
        used, raised = np.zeros(concepts.shape, bool), scores
        for number, question in enumerate(questions):
            known = self.uses.first(question.text)
            row = None if known is None or question.guessed else self._row(known[0])
            if known is None or row is None or row == NONE:
                continue
            places = np.flatnonzero(concepts[number] == row)
            if len(places):
                raised = raised.copy() if raised is scores else raised
                used[number, places[0]] = True
                odds = np.log(known[1] / (1 - known[1]))
                raised[number, places[0]] = max(float(scores[number].max()), 0.0) + odds
        return used, raised
