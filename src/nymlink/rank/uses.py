"""How often people meant each concept by a text: the prior among concepts that share a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import Bools
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.index.phrases import Meanings, main_meaning
from nymlink.rank.features import Feature
from nymlink.rank.retrieval import Question

USED: Final = Feature("used", "share of the annotated mentions with this text that mean it", "0 to 1")


class Uses:
    """Counts of the concepts that people meant by texts.

    Args:
        times: prepared text → id of a concept → number of mentions with this text in each corpus.
    """

    def __init__(self, times: Meanings) -> None:
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
            for each in index.uses.values():
                _ = [int(count) for times in each.values() for count in times.values()]
            return UsesOfIndex(cls(index.uses), index)
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreError(f"the uses of names are damaged ({error}): build the index again") from error

    def first(self, text: str) -> tuple[str, float] | None:
        """Find the concept that most mentions with a text mean: :func:`~nymlink.index.phrases.main_meaning`."""
        return main_meaning(self.times.get(text, {}))

    def replacing(self, former: Meanings | None) -> Uses:
        """Add the counts of other texts."""
        return Uses({**(former or {}), **self.times})

    def to_dict(self) -> dict[str, Any]:
        return {text: {concept: dict(times) for concept, times in own.items()} for text, own in self.times.items()}


class UsesOfIndex:
    """The counts with the rows of an index.

    Args:
        uses: the counts.
        index: the index.
    """

    def __init__(self, uses: Uses, index: Index) -> None:
        self.uses = uses
        self._row = index.vocabulary.row

    def is_first(self, text: str, concept: str) -> bool:
        """Whether most mentions with a text mean a concept."""
        known = self.uses.first(text)
        return known is not None and known[0] == concept

    def share(self, text: str, row: int) -> float:
        """Return the share of the mentions with a text that mean a concept; NaN if the text is unknown."""
        meanings = self.uses.times.get(text, {})
        own = {self._row(concept): sum(times.values()) for concept, times in meanings.items()}
        return own.get(row, 0) / sum(own.values()) if own else float("nan")

    def said(self, text: str, concept: str) -> str | None:
        """Say how often the mentions with a text mean a concept, and in which corpora; ``None`` if never."""
        if not (times := self.uses.times.get(text, {}).get(concept)):
            return None
        count = sum(times.values())
        return f"annotated {'once' if count == 1 else f'{count:,} times'} in {', '.join(sorted(times))}"

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
