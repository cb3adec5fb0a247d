"""Vectors of the concepts of a vocabulary: each is encoded once, and kept in a cache for other processes."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import Vectors
from nymlink.encode.cache.blocks import Keys, name_keys
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.cache.encoder_cache import ABSENT
from nymlink.rerank.dual.dual_encoder import DualEncoder
from nymlink.rerank.entities import Entity, entities
from nymlink.vocabulary.vocabulary import Vocabulary

_BLOCK: Final = 1 << 10
"""Vectors written at once: a killed process loses at most so many, some ten seconds of encoding on a CPU."""


class ConceptVectors:
    """The vectors of concepts by the entity encoder of a dual encoder.

    Args:
        model: encodes the concepts; it must not change.
        vocabulary: the vocabulary of the concepts.
        cache: keeps vectors between processes, by the type and names of a concept. The last ones are written when
            this object is deleted, at the latest when the process ends.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, cache: EmbeddingCache | None = None) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._known: dict[int, Vectors] = {}
        self._store = None if cache is None else _Store(cache, model)
        if self._store is not None:
            weakref.finalize(self, self._store.write)

    def add(self, rows: Iterable[int]) -> None:
        """Encode those of some concepts that have no vector yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        concepts = list(entities(self._vocabulary, new))
        if self._store is None:
            vectors = self._model.encode_entities(concepts)
        else:
            vectors = self._from_store(self._store, concepts)
        self._known.update(zip(new, vectors, strict=True))

    def get(self, rows: Iterable[int]) -> Vectors:
        """Return the vectors of N concepts that were added: float32 (N, D)."""
        return np.stack([self._known[row] for row in rows])

    def _from_store(self, store: _Store, concepts: list[Entity]) -> Vectors:
        keys = name_keys([json.dumps([concept.type, *concept.names]) for concept in concepts])
        kept, vectors = store.read(keys)
        missing = np.flatnonzero(~kept)
        if len(missing):
            vectors[missing] = self._model.encode_entities([concepts[place] for place in missing.tolist()])
            store.add(keys[missing], vectors[missing])
        return vectors


class _Store:
    """The cached vectors of a model, and those that are still to be written to the cache."""

    def __init__(self, cache: EmbeddingCache, model: DualEncoder) -> None:
        self._width = model.width
        # The cache holds values of 16 bits: each float32 is stored as two of them, without rounding.
        self._cache = cache.for_encoder(model.entity_fingerprint, width=2 * self._width)
        self._waiting: list[tuple[Keys, Vectors]] = []

    def read(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Vectors]:
        """Read N vectors: bool (N), whether each is in the cache, and float32 (N, D), 0 where it is not."""
        vectors = np.zeros((len(keys), self._width), np.float32)
        places = self._cache.places(keys)
        kept = places != ABSENT
        try:
            vectors[kept] = self._cache.vectors(places[kept]).view(np.float32)
        except StoreError:
            # The cache was emptied meanwhile.
            kept[:] = False
        return kept, vectors

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Add vectors that are not in the cache; they are written in blocks."""
        self._waiting.append((keys, vectors))
        if sum(len(waiting) for waiting, _ in self._waiting) >= _BLOCK:
            self.write()

    def write(self) -> None:
        """Write the added vectors, as far as the cache can be written."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            keys, vectors = (np.concatenate(column) for column in zip(*waiting, strict=True))
            self._cache.try_add(keys, vectors.view(np.float16))
