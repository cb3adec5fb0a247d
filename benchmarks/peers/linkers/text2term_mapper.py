"""text2term: its TF-IDF mapper over terms of the dictionary; it weighs all names anew in every call."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.peers.dictionary import CONCEPTS, Dictionary, Search

_LEAST: Final = 0.3
"""Least similarity, by default."""

_IRI: Final = "http://purl.obolibrary.org/obo/HP_"
"""Before the number of a concept: it complains of each IRI of no known ontology."""


def load(dictionary: Dictionary, index: Path) -> Search:
    """Make terms of all concepts."""
    from text2term.term import OntologyTerm
    from text2term.tfidf_mapper import TFIDFMapper

    names: dict[int, list[str]] = {}
    for name, concepts in zip(dictionary.names, dictionary.concepts, strict=True):
        for concept in concepts:
            names.setdefault(concept, []).append(name)
    mapper = TFIDFMapper(
        {concept: OntologyTerm(f"{_IRI}{concept:07}", own[:1], synonyms=own[1:]) for concept, own in names.items()}
    )
    logging.disable(logging.WARNING)

    def search(block: Sequence[str]) -> list[list[int]]:
        # Rows are told apart by their ids: mentions may be equal.
        ids = [str(number) for number in range(len(block))]
        made = mapper.map(list(block), ids, max_mappings=CONCEPTS, min_score=_LEAST)
        found: dict[str, list[int]] = {one: [] for one in ids}
        if len(made):
            for source, concept in zip(made["Source Term ID"], made["Mapped Term IRI"], strict=True):
                found[source].append(int(concept.removeprefix(_IRI)))
        return [found[one] for one in ids]

    return search
