"""scispaCy's candidate generator: TF-IDF of character 3-grams in nmslib's graph, built and asked by its own code.

xMEN's n-gram candidates are made by the same code, with the same defaults (30 names, the most similar first).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.dictionary import Dictionary, Search, first

_NEIGHBOURS: Final = 30
"""``k`` of scispaCy's linker."""


def build(dictionary: Dictionary, index: Path) -> None:
    """Fit the weights and build the graph."""
    import contextlib
    import sys

    from scispacy.candidate_generation import create_tfidf_ann_index

    with contextlib.redirect_stdout(sys.stderr):
        create_tfidf_ann_index(str(index), _knowledge(dictionary))


def load(dictionary: Dictionary, index: Path) -> Search:
    """Load the graph and make the generator."""
    from scispacy.candidate_generation import CandidateGenerator, LinkerPaths

    aliases, vectorizer, graph = LinkerPaths.from_directory(index).load()
    generator = CandidateGenerator(graph, vectorizer, aliases, _knowledge(dictionary))

    def search(block: Sequence[str]) -> list[list[int]]:
        return [
            first(int(one.concept_id) for one in sorted(found, key=lambda one: -max(one.similarities)))
            for found in generator(list(block), _NEIGHBOURS)
        ]

    return search


def _knowledge(dictionary: Dictionary) -> Any:
    """Make a knowledge base of the names."""
    from scispacy.linking_utils import Entity, KnowledgeBase

    aliases: dict[int, list[str]] = {}
    for name, concepts in zip(dictionary.names, dictionary.concepts, strict=True):
        for concept in concepts:
            aliases.setdefault(concept, []).append(name)
    return KnowledgeBase(Entity(str(concept), own[0], own, [], None) for concept, own in aliases.items())
