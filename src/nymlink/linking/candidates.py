"""Turn the matches of an index into the candidates of links."""

from __future__ import annotations

from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.model import Candidate


def candidates_of(index: Index, matches: Matches, depth: int) -> list[tuple[Candidate, ...]]:
    """Make the candidates of each query, at most ``depth``, best first."""
    vocabulary = index.vocabulary
    scores = matches.scores.astype(float).round(6).tolist()
    parts = {name: values.astype(float).round(6).tolist() for name, values in matches.parts.items()}
    concepts, names = matches.concepts.tolist(), matches.names.tolist()
    return [
        tuple(
            Candidate(
                concept_id=vocabulary.concept_id(concept),
                concept_name=vocabulary.preferred_name(concept),
                matched=vocabulary.name(names[query][rank]),
                score=scores[query][rank],
                parts={name: values[query][rank] for name, values in parts.items()},
            )
            for rank, concept in enumerate(line[:depth])
            if concept != NONE
        )
        for query, line in enumerate(concepts)
    ]
