"""Turn the matches of an index into the candidates of links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.model import Candidate
from nymlink.rank.ranker import RankedMatches
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.model import Name

DICTIONARY: Final = "dictionary"
"""Part of a score: of a name found in a text, how much alike the words of the mention and of the name are."""

WRITING: Final = "writing"
"""Part of a score that no search gives: how alike the mention and a name that equals it are written."""

RANKED: Final = "ranked"
"""Part of a score that the ranker gives: how probable it is that the candidate is right, by all evidence."""


def candidates_of(
    index: Index, ranked: RankedMatches, depths: Sequence[int], questions: Sequence[Question]
) -> list[tuple[Candidate, ...]]:
    """Make the candidates of each question, best first.

    Args:
        index: that found them.
        ranked: of Q questions.
        depths: how many candidates each of the Q questions has at most.
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
                    **{name: values[query][rank] for name, values in parts.items()},
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
    """Compare how a mention and a name that equals it are written, as a part of a score; none for other names."""
    if surface is None or exact != 1 or normalise(surface) != normalise(matched.text):
        return {}
    return {WRITING: round(writing_likeness(surface, matched.text), 6)}
