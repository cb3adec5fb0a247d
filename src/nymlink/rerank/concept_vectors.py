"""The vectors of the concepts of a vocabulary: each is encoded once, and kept for the next process."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import Vectors
from nymlink.encode.cache.embedding_cache import ABSENT, EmbeddingCache, Keys, keys_of
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.rerank.entities import Entity, entities
from nymlink.vocabulary.vocabulary import Vocabulary

_BLOCK: Final = 1 << 10
"""Vectors that are written at once: what a killed process loses at most, some ten seconds of encoding on a CPU."""


class ConceptVectors:
    """What the entity encoder of a dual encoder makes of concepts.

    Args:
        model: encodes the concepts; it must not change.
        vocabulary: has them.
        cache: where vectors encoded before are, and new ones are kept, by what the encoder reads of a concept.
            What is left to be kept is written when this object goes, at the latest when the process ends.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, cache: EmbeddingCache | None = None) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._known: dict[int, Vectors] = {}
        self._store = None if cache is None else _Store(cache, model)
        if self._store is not None:
            weakref.finalize(self, self._store.write)

    def learn(self, rows: Iterable[int]) -> None:
        """Encode the concepts among these that are not known yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        given = list(entities(self._vocabulary, new))
        vectors = self._model.encode_entities(given) if self._store is None else self._recalled(self._store, given)
        self._known.update(zip(new, vectors, strict=True))

    def of(self, rows: Iterable[int]) -> Vectors:
        """float32 (N, D): the vectors of N concepts that were learned."""
        return np.stack([self._known[row] for row in rows])

    def _recalled(self, store: _Store, given: list[Entity]) -> Vectors:
        keys = keys_of([json.dumps([one.type, *one.names]) for one in given])
        kept, vectors = store.read(keys)
        missing = np.flatnonzero(~kept)
        if len(missing):
            vectors[missing] = self._model.encode_entities([given[place] for place in missing.tolist()])
            store.add(keys[missing], vectors[missing])
        return vectors


class _Store:
    """Vectors on a shelf of a cache, and those that wait to be put there."""

    def __init__(self, cache: EmbeddingCache, model: DualEncoder) -> None:
        self._width = model.width
        # A shelf keeps values of 16 bits, of which two are one of ours: nothing is rounded.
        self._shelf = cache.shelf(model.entity_fingerprint, width=2 * self._width)
        self._waiting: list[tuple[Keys, Vectors]] = []

    def read(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Vectors]:
        """Which of N vectors are there, bool (N), and these, float32 (N, D)."""
        vectors = np.zeros((len(keys), self._width), np.float32)
        places = self._shelf.places(keys)
        kept = places != ABSENT
        try:
            vectors[kept] = self._shelf.vectors(places[kept]).view(np.float32)
        except StoreError:
            # Someone emptied the cache.
            kept[:] = False
        return kept, vectors

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Take vectors that are not there; every so many of them are written."""
        self._waiting.append((keys, vectors))
        if sum(len(waiting) for waiting, _ in self._waiting) >= _BLOCK:
            self.write()

    def write(self) -> None:
        """Write what waits, if it can be."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            keys, vectors = (np.concatenate(column) for column in zip(*waiting, strict=True))
            self._shelf.keep(keys, vectors.view(np.float16))
