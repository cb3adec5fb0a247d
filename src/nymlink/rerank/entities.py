"""A concept as the re-ranker reads it: what sort of thing it is, and its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Entity:
    """A concept.

    Attributes:
        type: its semantic types, lower-cased; empty where the vocabulary gives none.
        names: its names, lower-cased and distinct, the preferred one first, but no narrow or broad ones unless it
            has no others; its id where it has none.
    """

    type: str
    names: tuple[str, ...]


def entities(vocabulary: Vocabulary, rows: Iterable[int]) -> Iterator[Entity]:
    """The concepts of some rows, in their order."""
    columns = vocabulary.columns
    types = columns.concepts["semantic_types"]
    for row in rows:
        start, end = columns.name_offsets[row : row + 2].tolist()
        texts, kinds = (columns.names[name].slice(start, end - start).to_pylist() for name in ("text", "kind"))
        synonyms = [text for text, kind in zip(texts, kinds, strict=True) if kind in SYNONYM_KINDS]
        names = synonyms or texts or [vocabulary.concept_id(row)]
        yield Entity(", ".join(types[row].as_py()).lower(), tuple(dict.fromkeys(name.lower() for name in names)))
