"""Turn the matches of an index into the candidates of links; find verbatim names without a search.

If a mention is written exactly like a name of one concept alone, that concept is its first candidate. A search
could neither replace it nor raise its confidence, so none is run. Its score is computed by comparing the name with
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion import EXACT_MATCH, WEIGHTED, weighted_sum
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
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
"""Score part from the ranker: probability that the candidate is correct, by all evidence. Missing for a verbatim
name if only one candidate is asked for, because the ranker is then not asked."""


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
    scores = matches.scores.astype(float).round(6).tolist()
    given = dict(matches.parts)
    if ranked.probabilities is not None:
        given[RANKED] = ranked.probabilities
    parts = {name: values.astype(float).round(6).tolist() for name, values in given.items()}
    concepts, names = matches.concepts.tolist(), matches.names.tolist()
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


def find_verbatim(index: Index, questions: Sequence[Question], k: int) -> tuple[list[Question], RankedMatches]:
    """Find the questions that are verbatim names of one concept alone, with that concept.

    Args:
        index: the index; nothing is found unless a weighted mean joins its searches.
        questions: the questions; each wants one candidate.
        k: number of places for concepts; all but the first stay empty.

    Returns:
        The Q questions that were answered, and their matches (Q, k). Their probabilities are NaN, because the
        ranker was not asked.
    """
    weights = index.search.weights
    found: dict[Question, tuple[int, int]] = {}
    if index.fusion.method == WEIGHTED and weights[EXACT_MATCH] > 0:
        named = ((question, _name_of(index, question)) for question in questions)
        found = {question: rows for question, rows in named if rows is not None}
    entries, names = np.array(list(found.values()), np.int32).reshape(-1, 2).T
    texts = [question.text for question in found]
    parts = {name: part.score(texts, entries[:, None])[:, 0] for name, part in index.search.parts.items() if texts}
    if not parts:
        return [], RankedMatches(Matches.empty(0, k, index.search.parts), None)
    scores = weighted_sum(parts, weights)
    # Other names score 0 in the exact search, so they lack its whole weight.
    sure = scores > 1 - weights[EXACT_MATCH] + _AHEAD
    matches = Matches.empty(int(sure.sum()), k, parts)
    matches.concepts[:, 0], matches.names[:, 0] = index.owners[names[sure]], names[sure]
    matches.scores[:, 0] = scores[sure]
    for name, values in parts.items():
        matches.parts[name][:, 0] = values[sure]
    chances = None if index.ranker is None else np.full(matches.scores.shape, np.nan, np.float32)
    answered = [question for question, is_sure in zip(found, sure, strict=True) if is_sure]
    return answered, RankedMatches(matches, chances)


def find_identified(index: Index, questions: Sequence[Question], k: int) -> tuple[list[Question], RankedMatches]:
    """Find the questions that are ids, with the preferred name of their concept.

    Args:
        index: of the concepts.
        questions: what is asked.
        k: number of places for concepts; all but the first stay empty.

    Returns:
        Q of the questions, and their matches (Q, k), like :func:`find_verbatim`.
    """
    found = [(question, question.concept) for question in questions if question.concept is not None]
    preferred = (index.vocabulary.preferred_row(concept) for _, concept in found)
    matches = Matches.empty(len(found), k, index.search.parts)
    for place, ((_, concept), name) in enumerate(zip(found, preferred, strict=True)):
        matches.concepts[place, 0], matches.names[place, 0] = concept, NONE if name is None else name
    matches.scores[:, 0] = 1.0
    for values in matches.parts.values():
        values[:, 0] = 1.0
    chances = None if index.ranker is None else np.full(matches.scores.shape, np.nan, np.float32)
    return [question for question, _ in found], RankedMatches(matches, chances)


def _name_of(index: Index, question: Question) -> tuple[int, int] | None:
    """Find the entry and the name that is written as the mention, if one concept alone has it; else ``None``."""
    entry = None if question.surface is None else index.entries.find(question.text)
    if entry is None or question.surface is None or normalise(question.surface) != question.text:
        return None
    names = index.entries.names_of(entry).tolist()
    if len(index.concepts_of(entry)) != 1:
        return None
    # Of the names with this spelling, take the most reliable kind.
    written = (name for name in names if index.vocabulary.name(name).text == question.surface)
    name = next(written, None)
    return None if name is None else (entry, name)
