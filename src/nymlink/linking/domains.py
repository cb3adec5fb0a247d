"""Domain of a mention in an index of several vocabularies: which of them has its concept."""

from __future__ import annotations

from typing import Final

import numpy as np

from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.calibration import CLEAR, DEPTH
from nymlink.linking.link import Domain

_FEWEST: Final = 0.01
"""Smallest share of the concepts of an index that counts as a vocabulary of its own."""


class Domains:
    """Guesses the vocabulary of mentions, by the prefixes of the ids of the nearest concepts.

    Args:
        index: the index.
    """

    def __init__(self, index: Index) -> None:
        self._codes, self._labels = index.vocabulary.concept_prefixes
        counts = np.bincount(self._codes, minlength=len(self._labels))
        self.are_several = int((counts >= _FEWEST * len(self._codes)).sum()) > 1
        """Whether the index has several vocabularies, each with a hundredth of the concepts."""

    def guess(self, matches: Matches, place: int, first: int, confidence: float | None) -> Domain | None:
        """Guess the domain of a query.

        The confidence that is left for concepts beside the first one is shared among them by their scores. If the
        query equals a name, only the concepts that have it count.

        Args:
            matches: matches of queries.
            place: place of the query.
            first: place of the first concept among its matches.
            confidence: confidence in the first concept; ``None`` if unknown.

        Returns:
            The most probable domain; without a confidence that of the first concept. ``None`` if the index has a
            single vocabulary, or nothing was found.
        """
        if not self.are_several:
            return None
        rows = matches.concepts[place, :DEPTH]
        exact = np.round(matches.parts[EXACT_MATCH][place, :DEPTH], 6) == 1
        # Beside an equal name, similar ones do not count; they are not always searched for.
        found = (rows != NONE) & (exact | ~exact[first])
        if not found[first]:
            return None
        codes, own = self._codes[rows], int(self._codes[rows[first]])
        guessed, sure = own, None
        if confidence is not None:
            scores = matches.scores[place, :DEPTH].astype(np.float64)
            # Without another concept, what is left is for concepts that were not found, of any domain.
            others = np.where(found, np.exp((scores - scores[first]) / CLEAR), 0.0)
            others[first] = 0.0
            shares = np.bincount(codes, others, len(self._labels)) * (1 - confidence) / max(others.sum(), 1e-9)
            shares[own] += confidence
            guessed = int(shares.argmax())
            sure = round(float(shares[guessed]), 6)
        nearest = int((codes[found] == guessed).sum())
        return Domain(self._labels[guessed], sure, nearest, int(found.sum()))
