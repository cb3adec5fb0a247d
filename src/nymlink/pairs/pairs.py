"""Synonym pairs of a vocabulary: numbered and shuffled, but computed when they are asked for.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021) train on all pairs of
names of one concept, at most 50 of them a concept. UMLS has twelve million. Here a pair is a number: cumulative
counts say which concept it belongs to, and un-ranking says which two of its names. Drawing without repeats and
shuffling are permutations of numbers (:mod:`nymlink.pairs.permutation`). So nothing is held but the name rows, any
stretch of any epoch is there at once, and a training that was stopped goes on from an integer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Ints
from nymlink.pairs.names import Rows, distinct_names, prepare
from nymlink.pairs.permutation import Keys, permute, seeded_keys
from nymlink.pairs.settings import PairSettings, Part
from nymlink.vocabulary.languages import with_regions
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

PAIRS: Final = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("concept", "name1", "name2")])
"""The columns of pairs spelt out: concept id and two prepared names."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of C concepts that have two or more distinct names, N altogether.

    Names are lower-cased; what is then equal is one name of its concept. Names of obsolete concepts are left out.

    Attributes:
        vocabulary: whose names.
        settings: how the pairs are made.
        concepts: int32 (C): concept rows.
        keys: uint64 (C): what is drawn at random of a concept depends on its key alone.
        names: int32 (N): name rows.
        name_offsets: int64 (C + 1): concept i has the names ``names[name_offsets[i]:name_offsets[i + 1]]``.
        pair_offsets: int64 (C + 1): and the pairs numbered from ``pair_offsets[i]`` to ``pair_offsets[i + 1]``.
    """

    vocabulary: Vocabulary
    settings: PairSettings
    concepts: Rows
    keys: Keys
    names: Rows
    name_offsets: Ints
    pair_offsets: Ints

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        *,
        cap: int = 50,
        seed: int = 0,
        languages: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        held_out: float = 0.0,
        part: Part = "train",
    ) -> Pairs:
        """The pairs of a vocabulary; what the settings mean is said in :class:`PairSettings`.

        Raises:
            InputError: no name of the vocabulary is in one of the languages.
            ValueError: a setting is out of its range.
        """
        settings = PairSettings(
            cap=cap,
            seed=seed,
            languages=None if languages is None else frozenset(languages),
            kinds=frozenset(SYNONYM_KINDS if kinds is None else kinds),
            held_out=held_out,
            part=part,
        )
        there = vocabulary.counts("lang")
        if unknown := sorted(one for one in set(languages or ()) if not with_regions([one], there)):
            raise InputError(f"no name is in language {unknown[0]!r}; there are: {', '.join(there)}")
        names, owners = distinct_names(vocabulary, languages=languages, kinds=settings.kinds)
        concepts, counts = np.unique(owners, return_counts=True)
        chosen = counts > 1
        keys = _keys(vocabulary, concepts[chosen], seed=seed)
        in_part = (keys < held_out * 2.0**64) == (part == "held-out")
        chosen[chosen] = in_part
        return cls(
            vocabulary=vocabulary,
            settings=settings,
            concepts=concepts[chosen],
            keys=keys[in_part],
            names=names[np.repeat(chosen, counts)],
            name_offsets=_offsets(counts[chosen]),
            pair_offsets=_offsets(np.minimum(_pairs_of(counts[chosen]), cap)),
        )

    def __len__(self) -> int:
        """The number of pairs."""
        return int(self.pair_offsets[-1])

    def rows(self, start: int, stop: int, *, epoch: int = 0) -> tuple[Rows, Rows, Rows]:
        """The pairs from ``start`` to before ``stop`` in the shuffled order of an epoch.

        Returns:
            Concept rows, left name rows and right name rows: int32 (stop − start) each. The left name is the one
            that stands first in the vocabulary.

        Raises:
            IndexError: there are no such pairs.
        """
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"no pairs {start:,} to {stop:,}: there are {len(self):,}")
        order = seeded_keys([f"epoch {epoch}"], seed=self.settings.seed)
        number = permute(np.arange(start, stop), size=len(self), key=order)
        concept = np.searchsorted(self.pair_offsets, number, side="right") - 1
        within = number - self.pair_offsets[concept]
        first = self.name_offsets[concept]
        total = _pairs_of(self.name_offsets[concept + 1] - first)
        drawn = np.flatnonzero(total > self.settings.cap)
        within[drawn] = permute(within[drawn], size=total[drawn], key=self.keys[concept[drawn]])
        left, right = _unrank(within)
        return self.concepts[concept], self.names[first + left], self.names[first + right]

    def texts(self, rows: Rows) -> list[str]:
        """The prepared names at name rows."""
        texts: list[str] = self._prepared(rows).to_pylist()
        return texts

    def batch(self, start: int, stop: int, *, epoch: int = 0) -> pa.RecordBatch:
        """The same pairs as :meth:`rows`, spelt out in the columns of :data:`PAIRS`.

        Raises:
            IndexError: there are no such pairs.
        """
        concepts, left, right = self.rows(start, stop, epoch=epoch)
        ids = self.vocabulary.columns.concepts["id"].take(pa.array(concepts)).combine_chunks()
        names = (self._prepared(rows).cast(pa.string()) for rows in (left, right))
        return pa.RecordBatch.from_arrays([ids, *names], schema=PAIRS)

    def _prepared(self, rows: Rows) -> pa.LargeStringArray:
        return prepare(self.vocabulary.columns.names["text"].take(pa.array(rows)).combine_chunks())


def _keys(vocabulary: Vocabulary, concepts: Rows, *, seed: int) -> Keys:
    return seeded_keys(vocabulary.columns.concepts["id"].take(pa.array(concepts)).to_pylist(), seed=seed)


def _offsets(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _pairs_of(names: Ints) -> Ints:
    """How many pairs so many names make."""
    return names * (names - 1) // 2


def _unrank(number: Ints) -> tuple[Ints, Ints]:
    """The two places that each number stands for, pairs being counted (0, 1), (0, 2), (1, 2), (0, 3) and so on."""
    # Exact in double precision for up to 2²⁵ names of one concept.
    right = ((1 + np.sqrt(1 + 8 * number)) / 2).astype(np.int64)
    return number - _pairs_of(right), right
