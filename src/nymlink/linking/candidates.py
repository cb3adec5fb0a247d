"""Turn the matches of an index into the candidates of links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nymlink.index.fusion.fusion import EXACT_MATCH
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.model import Candidate
from nymlink.text.normalisation.normalise import normalise
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.model import Name

WRITING: Final = "writing"
"""Part of a score that no search gives: how alike the mention and a name that equals it are written."""


def candidates_of(
    index: Index, matches: Matches, depths: Sequence[int], surfaces: Sequence[str | None]
) -> list[tuple[Candidate, ...]]:
    """Make the candidates of each query, best first.

    Args:
        index: that found them.
        matches: of Q queries.
        depths: how many candidates each of the Q queries has at most.
        surfaces: Q mentions as they were written, ``None`` where that is not known.
    """
    vocabulary = index.vocabulary
    scores = matches.scores.astype(float).round(6).tolist()
    parts = {name: values.astype(float).round(6).tolist() for name, values in matches.parts.items()}
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
                    **_writing(parts[EXACT_MATCH][query][rank], matched, surfaces[query]),
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
