"""Turn the matches of an index into the candidates of links; find verbatim names without a search.

If a mention equals a name of one concept alone, apart from capitals and signs, that concept is its first
candidate. A search could neither replace it nor raise its confidence, so none is run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion import EXACT_MATCH, WEIGHTED
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches, likeliest_name
from nymlink.linking.link import Candidate
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


_AHEAD: Final = 2e-6
"""Smallest lead over every other name that rounding cannot remove."""


def find_verbatim(index: Index, questions: Sequence[Question]) -> dict[Question, tuple[int, int]]:
    """Find the questions that equal a name of one concept alone: question → rows (concept, name).

    Args:
        index: the index; nothing is found unless a weighted mean joins its searches.
        questions: the questions; each wants one candidate.
    """
    # The exact search alone puts an equal name first if its weight is more than a rounding error.
    if index.fusion.method != WEIGHTED or index.search.weights[EXACT_MATCH] <= _AHEAD:
        return {}
    named = ((question, _name_of(index, question)) for question in questions)
    return {question: name for question, name in named if name is not None}


def find_identified(index: Index, questions: Sequence[Question]) -> dict[Question, tuple[int, int]]:
    """Find the questions that are ids: question → rows of the concept and of its preferred name."""
    rows = {question: question.concept for question in questions if question.concept is not None}
    named = ((question, row, index.vocabulary.preferred_row(row)) for question, row in rows.items())
    return {question: (row, NONE if name is None else name) for question, row, name in named}


def certain_matches(index: Index, found: Collection[tuple[int, int]], k: int) -> RankedMatches:
    """Make the matches of questions with one certain concept each.

    Args:
        index: the index.
        found: rows (concept, name) of Q questions.
        k: number of places for concepts; all but the first stay empty.

    Returns:
        Matches (Q, k). Their probabilities are NaN, because the ranker was not asked.
    """
    matches = Matches.empty(len(found), k, index.search.parts)
    matches.concepts[:, 0], matches.names[:, 0] = np.array([*found], np.int32).reshape(-1, 2).T
    for values in (matches.scores, *matches.parts.values()):
        values[:, 0] = 1.0
    chances = None if index.ranker is None else np.full(matches.scores.shape, np.nan, np.float32)
    return RankedMatches(matches, chances)


def _name_of(index: Index, question: Question) -> tuple[int, int] | None:
    """Find the rows (concept, name) of the name that a question equals, if one concept alone has it."""
    text, surface = question.text, question.surface
    entry = index.entries.find(text)
    if entry is None or question.rewritten or question.guessed:
        return None
    concepts = index.concepts_of(entry)
    if len(concepts) != 1 or (surface is not None and normalise(surface) != text):
        return None
    [concept] = concepts
    return concept, likeliest_name(index.vocabulary, index.entries.names_of(entry).tolist(), text, surface)
