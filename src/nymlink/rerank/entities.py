"""Entities: a concept as a re-ranker reads it, its type and names (Le & Nguyen 2023, section 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Entity:
    """The text of a concept.

    Attributes:
        type: its semantic types, lower-cased; empty if the vocabulary has none.
        names: its distinct names, lower-cased, the preferred one first; narrow and broad ones only if it has no
            others, its id if it has no name.
    """

    type: str
    names: tuple[str, ...]


def entities(vocabulary: Vocabulary, rows: Iterable[int]) -> Iterator[Entity]:
    """Make the entities of some concept rows, in their order."""
    columns = vocabulary.columns
    types = columns.concepts["semantic_types"]
    for row in rows:
        start, end = columns.name_offsets[row : row + 2].tolist()
        texts, kinds = (columns.names[name].slice(start, end - start).to_pylist() for name in ("text", "kind"))
        synonyms = [text for text, kind in zip(texts, kinds, strict=True) if kind in SYNONYM_KINDS]
        names = synonyms or texts or [vocabulary.concept_id(row)]
        yield Entity(", ".join(types[row].as_py()).lower(), tuple(dict.fromkeys(name.lower() for name in names)))
