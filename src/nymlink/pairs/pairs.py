"""Synonym pairs of a vocabulary, numbered, shuffled, and computed on demand.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021) train on all pairs of
names of one concept, at most 50 per concept; UMLS has twelve million. Here a pair is a number: cumulative counts
give its concept and its two names. Drawing without replacement and shuffling are permutations of
numbers (:mod:`nymlink.pairs.permutation`). So only the name rows are held in memory, any range of any epoch is
available at once, and a training resumes from an integer.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Ints
from nymlink.pairs.names import Rows, distinct_names, lower_case
from nymlink.pairs.permutation import Keys, permute, seeded_keys
from nymlink.pairs.settings import PairSettings, Part
from nymlink.vocabulary.languages import matching_languages
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

PAIRS: Final = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("concept", "name1", "name2")])
"""The columns of pairs as text: concept id and two lower-cased names."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The synonym pairs of C concepts that each have two or more distinct names, N names in all.

    Names are lower-cased; equal names of a concept are then one. Names of obsolete concepts are left out.

    Attributes:
        vocabulary: the vocabulary of the names.
        settings: how the pairs are made.
        concepts: int32 (C): concept rows.
        keys: uint64 (C): random key of each concept, which determines its sample of pairs.
        names: int32 (N): name rows.
        name_offsets: int64 (C + 1): concept i has the names ``names[name_offsets[i]:name_offsets[i + 1]]``.
        pairs_before: int64 (N + 1): before any are left out by the cap, name i is the right name of the pairs
            numbered ``pairs_before[i]`` to ``pairs_before[i + 1] - 1``, with the first names of its concept.
        pair_offsets: int64 (C + 1): concept i has the pairs numbered ``pair_offsets[i]`` to
            ``pair_offsets[i + 1] - 1``.
    """

    vocabulary: Vocabulary
    settings: PairSettings
    concepts: Rows
    keys: Keys
    names: Rows
    name_offsets: Ints
    pairs_before: Ints
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
        across_languages: bool = False,
        held_out: float = 0.0,
        part: Part = "train",
    ) -> Pairs:
        """Make the pairs of a vocabulary; the arguments are those of :class:`PairSettings`.

        Raises:
            InputError: no name of the vocabulary is in one of the languages.
            ValueError: a setting is out of its range.
        """
        settings = PairSettings(
            cap=cap,
            seed=seed,
            languages=None if languages is None else frozenset(languages),
            kinds=frozenset(SYNONYM_KINDS if kinds is None else kinds),
            across_languages=across_languages,
            held_out=held_out,
            part=part,
        )
        available = vocabulary.counts("lang")
        if unknown := sorted(code for code in set(languages or ()) if not matching_languages([code], available)):
            raise InputError(
                f"no name is in the language {unknown[0]!r}; the vocabulary has: {', '.join(available)}"
            )
        if languages is not None and not matching_languages(languages, [UNKNOWN_LANGUAGE]):
            _warn_of_unknown(available.get(UNKNOWN_LANGUAGE, 0))
        names, owners = distinct_names(vocabulary, languages=languages, kinds=settings.kinds)
        # With how many of the names before it, from the first of its concept, each name is a pair.
        partners = np.arange(len(names))
        if across_languages:
            names, owners, partners = _by_language(vocabulary, names, owners)
        concepts, first, counts = np.unique(owners, return_index=True, return_counts=True)
        partners = partners - np.repeat(first, counts)
        totals = np.diff(_offsets(partners)[np.append(first, len(names))])
        chosen = totals > 0
        keys = _keys(vocabulary, concepts[chosen], seed=seed)
        in_part = (keys < held_out * 2.0**64) == (part == "held-out")
        chosen[chosen] = in_part
        kept = np.repeat(chosen, counts)
        return cls(
            vocabulary=vocabulary,
            settings=settings,
            concepts=concepts[chosen],
            keys=keys[in_part],
            names=names[kept],
            name_offsets=_offsets(counts[chosen]),
            pairs_before=_offsets(partners[kept]),
            pair_offsets=_offsets(np.minimum(totals[chosen], cap)),
        )

    def __len__(self) -> int:
        """Count the pairs."""
        return int(self.pair_offsets[-1])

    def rows(self, start: int, stop: int, *, epoch: int = 0) -> tuple[Rows, Rows, Rows]:
        """Compute the pairs ``start`` to ``stop - 1`` in the shuffled order of an epoch.

        Returns:
            Concept rows, left name rows and right name rows: int32 (stop − start) each. The left name is the one
            that comes first in the vocabulary, or with ``across_languages`` that of the language counted first.

        Raises:
            IndexError: the range exceeds the number of pairs.
        """
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"no pairs {start:,} to {stop:,}: there are {len(self):,}")
        order = seeded_keys([f"epoch {epoch}"], seed=self.settings.seed)
        number = permute(np.arange(start, stop), size=len(self), key=order)
        concept = np.searchsorted(self.pair_offsets, number, side="right") - 1
        within = number - self.pair_offsets[concept]
        first = self.name_offsets[concept]
        before = self.pairs_before[first]
        total = self.pairs_before[self.name_offsets[concept + 1]] - before
        sampled = np.flatnonzero(total > self.settings.cap)
        within[sampled] = permute(within[sampled], size=total[sampled], key=self.keys[concept[sampled]])
        number = before + within
        right = np.searchsorted(self.pairs_before, number, side="right") - 1
        left = first + number - self.pairs_before[right]
        return self.concepts[concept], self.names[left], self.names[right]

    def texts(self, rows: Rows) -> list[str]:
        """Return the lower-cased names at name rows."""
        texts: list[str] = self._lower_cased(rows).to_pylist()
        return texts

    def batch(self, start: int, stop: int, *, epoch: int = 0) -> pa.RecordBatch:
        """Compute the same pairs as :meth:`rows`, as text in the columns of :data:`PAIRS`.

        Raises:
            IndexError: the range exceeds the number of pairs.
        """
        concepts, left, right = self.rows(start, stop, epoch=epoch)
        ids = self.vocabulary.columns.concepts["id"].take(pa.array(concepts)).combine_chunks()
        names = (self._lower_cased(rows).cast(pa.string()) for rows in (left, right))
        return pa.RecordBatch.from_arrays([ids, *names], schema=PAIRS)

    def _lower_cased(self, rows: Rows) -> pa.LargeStringArray:
        return lower_case(self.vocabulary.columns.names["text"].take(pa.array(rows)).combine_chunks())


def _warn_of_unknown(count: int) -> None:
    if count:
        warnings.warn(
            f"{count:,} names whose language is unknown make no pairs: choose the language {UNKNOWN_LANGUAGE}, "
            "too, to take them in",
            stacklevel=3,
        )


def _by_language(vocabulary: Vocabulary, names: Rows, owners: Rows) -> tuple[Rows, Rows, Ints]:
    """Sort the names of each concept by language, regions aside, without those of unknown language.

    Returns:
        Name rows and their concept rows (int32), and for each the place of the first one of its concept and
        language (int64).
    """
    column = vocabulary.columns.names["lang"].take(pa.array(names)).combine_chunks()
    codes = np.array([code.partition("-")[0] for code in column.dictionary.to_pylist()])
    languages = np.unique(codes, return_inverse=True)[1][column.indices.to_numpy()]
    order = np.lexsort((languages, owners))
    order = order[(codes != UNKNOWN_LANGUAGE)[column.indices.to_numpy()][order]]
    names, owners, languages = names[order], owners[order], languages[order]
    begins = (np.diff(owners, prepend=-1) != 0) | (np.diff(languages, prepend=-1) != 0)
    return names, owners, np.maximum.accumulate(np.where(begins, np.arange(len(names)), 0))


def _keys(vocabulary: Vocabulary, concepts: Rows, *, seed: int) -> Keys:
    return seeded_keys(vocabulary.columns.concepts["id"].take(pa.array(concepts)).to_pylist(), seed=seed)


def _offsets(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
