"""Turn the matches of an index into what a link says of them: its candidates and the domain of its mention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.calibration import CLEAR, DEPTH
from nymlink.linking.link import Candidate, Domain
from nymlink.rank.ranker import RankedMatches
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.concepts import Name

DICTIONARY: Final = "dictionary"
"""Score part for a name found in a text: similarity of the words of the mention and the words of the name."""

WRITING: Final = "writing"
"""Score part for a name that equals the mention: similarity of their spelling. No search computes it."""

RANKED: Final = "ranked"
"""Score part from the ranker: probability that the candidate is correct, by all evidence. Missing for the only
name that equals the mention if one candidate is asked for, because the ranker is then not asked."""


def candidates_of(
    index: Index, ranked: RankedMatches, depths: Sequence[int], questions: Sequence[Question]
) -> list[tuple[Candidate, ...]]:
    """Make the candidates of each question, best first.

    Args:
        index: the index that was searched.
        ranked: matches of Q questions.
        depths: largest number of candidates for each of the Q questions.
        questions: Q questions.
    """
    vocabulary, matches = index.vocabulary, ranked.matches
    deepest = max(depths, default=0)
    scores = matches.scores[:, :deepest].astype(float).round(6).tolist()
    given = dict(matches.parts)
    if ranked.probabilities is not None:
        given[RANKED] = ranked.probabilities
    parts = {name: values[:, :deepest].astype(float).round(6).tolist() for name, values in given.items()}
    concepts, names = matches.concepts[:, :deepest].tolist(), matches.names[:, :deepest].tolist()
    return [
        tuple(
            Candidate(
                concept_id=vocabulary.concept_id(concept),
                concept_name=vocabulary.preferred_name(concept),
                matched=matched,
                score=scores[query][rank],
                parts={
                    **{name: value for name, values in parts.items() if (value := values[query][rank]) == value},
                    **_writing(parts[EXACT_MATCH][query][rank], matched, questions[query].surface),
                },
            )
            for rank, concept in enumerate(line[: depths[query]])
            if concept != NONE
            for matched in (vocabulary.name(names[query][rank]),)
        )
        for query, line in enumerate(concepts)
    ]


def _writing(exact: float, matched: Name, surface: str | None) -> dict[str, float]:
    """Compare the spelling of a mention with a name that equals it, as a score part; empty for other names."""
    if surface is None or exact != 1 or normalise(surface) != normalise(matched.text):
        return {}
    return {WRITING: round(writing_likeness(surface, matched.text), 6)}


_UNSURE: Final = 0.5
"""Probability of the first candidate below which a higher score is worth a look."""


def rival(index: Index, ranked: RankedMatches, place: int) -> str | None:
    """Name the concept with a higher score than the first one of a question, if the ranker is unsure.

    Args:
        index: the index that was searched.
        ranked: matches of questions.
        place: place of a question that found a concept.

    Returns:
        Name and id; ``None`` if there is no such concept, or the ranker is sure, or was not asked.
    """
    if ranked.probabilities is None or not ranked.probabilities[place, 0] < _UNSURE:
        return None
    scores = ranked.matches.scores[place, :DEPTH].round(6)
    best = int(scores.argmax())
    if scores[best] <= scores[0]:
        return None
    row = int(ranked.matches.concepts[place, best])
    return f"{index.vocabulary.preferred_name(row)} ({index.vocabulary.concept_id(row)})"


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
