"""Pairs of names of the same concept.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021) train on all pairs of
names of one concept, at most 50 per concept. UMLS has twelve million such pairs. nymlink does not store pairs: it
numbers them, and computes the concept and the two names of a number from cumulative counts. Samples and shuffled
orders are permutations of numbers (:mod:`nymlink.pairs.permutation`). Therefore only the rows of names are held in
memory, any range of pairs of any epoch can be computed at once, and the number of a pair is enough to resume a
training.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Ints
from nymlink.pairs.permutation import Keys, permute, seeded_keys
from nymlink.vocabulary.concepts import KINDS, SYNONYM_KINDS, matching_languages
from nymlink.vocabulary.vocabulary import Vocabulary

Part = Literal["train", "held-out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """Settings of pairs from a vocabulary.

    Attributes:
        cap: largest number of pairs of a concept. If a concept has more, they are sampled without replacement.
        seed: seed of the samples, of the choice of held-out concepts, and of the order of pairs.
        languages: languages of names, ``None`` for all.
        kinds: kinds of names.
        across_languages: whether to make only pairs of names in two different, known languages.
        held_out: share of concepts that are held out. The choice depends only on the seed and the ids of concepts.
        part: which concepts give pairs: those that are not held out (``"train"``), or those that are
            (``"held-out"``).

    Raises:
        ValueError: a setting is out of its range.
    """

    cap: int = 50
    seed: int = 0
    languages: Collection[str] | None = None
    kinds: Collection[str] = SYNONYM_KINDS
    across_languages: bool = False
    held_out: float = 0.0
    part: Part = "train"

    def __post_init__(self) -> None:
        if self.cap < 1:
            raise ValueError(f"the cap must be at least 1, not {self.cap}")
        if not 0 <= self.held_out < 1:
            raise ValueError(f"the held-out share must be at least 0 and less than 1, not {self.held_out}")
        if self.part not in get_args(Part):
            raise ValueError(f"unknown part {self.part!r}; known: {', '.join(get_args(Part))}")
        if unknown := sorted(set(self.kinds) - set(KINDS)):
            raise ValueError(f"unknown kind of name {unknown[0]!r}; known: {', '.join(KINDS)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        lists = {
            "languages": None if self.languages is None else sorted(self.languages),
            "kinds": sorted(self.kinds, key=KINDS.index),
        }
        return asdict(self) | lists


Rows = npt.NDArray[np.int32]
"""Rows of names, or of concepts, of a vocabulary."""

_BATCH: Final = 1 << 20


def lower_case(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Apply ``str.lower`` to each text, without Python objects for ASCII texts.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    others = pc.invert(pc.string_is_ascii(texts))
    lowered = [text.lower() for text in texts.filter(others).to_pylist()]
    return pc.replace_with_mask(pc.ascii_lower(texts), others, pa.array(lowered, pa.large_string()))


def distinct_names(
    vocabulary: Vocabulary, *, languages: Collection[str] | None, kinds: Collection[str]
) -> tuple[Rows, Rows]:
    """Collect the names of concepts that are not obsolete.

    A name is left out if it repeats an earlier name of its concept in lower case.

    Args:
        vocabulary: the vocabulary.
        languages: languages to which names are restricted.
        kinds: kinds to which names are restricted.

    Returns:
        Name rows (int32, ascending), and the concept row of each (int32).
    """
    rows, owners = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    batches = vocabulary.name_batches(languages=languages, kinds=kinds, batch_size=_BATCH)
    for batch in _whole_concepts(batches):
        owner = batch["concept"].to_numpy()
        encoded = lower_case(batch["text"].combine_chunks()).dictionary_encode()
        key = (owner - owner[0]).astype(np.int64) * len(encoded.dictionary) + encoded.indices.to_numpy()
        first = np.sort(np.unique(key, return_index=True)[1])
        rows.append(batch["row"].to_numpy()[first].astype(np.int32))
        owners.append(owner[first])
    return np.concatenate(rows), np.concatenate(owners)


def _whole_concepts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Regroup batches into tables of whole concepts."""
    pending: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if pending is not None:
            table = pa.concat_tables([pending, table]).unify_dictionaries()
        owners = table["concept"].to_numpy()
        # The last concept may continue in the next batch.
        cut = int(np.searchsorted(owners, owners[-1]))
        if cut:
            yield table.slice(0, cut)
        pending = table.slice(cut)
    if pending is not None:
        yield pending


PAIRS: Final = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("concept", "name1", "name2")])
"""The columns of pairs as text: concept id and two lower-cased names."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The synonym pairs of C concepts with two or more distinct names, N names in all.

    Names are lower-cased before they are compared. Names of obsolete concepts are left out.

    Attributes:
        vocabulary: the vocabulary of the names.
        settings: settings of the pairs.
        concepts: int32 (C): concept rows.
        keys: uint64 (C): random key of each concept. It determines which of its pairs are sampled.
        names: int32 (N): name rows.
        name_offsets: int64 (C + 1): concept i has the names ``names[name_offsets[i]:name_offsets[i + 1]]``.
        pairs_before: int64 (N + 1): numbers of pairs if there were no cap. Name i is the right name of the pairs
            ``pairs_before[i]`` to ``pairs_before[i + 1] - 1``; the first names of its concept are the left names.
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
        # Number of pairs of each name with earlier names of its concept.
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
            that comes first in the vocabulary. With ``across_languages``, it is the one whose language code comes
            first in the alphabet.

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
    """Sort the names of each concept by language, ignoring regions and leaving out unknown languages.

    Returns:
        Name rows and their concept rows (int32). For each name also the place of the first name that has the same
        concept and language (int64).
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


@dataclass(frozen=True, slots=True)
class NamedPairs:
    """A batch of n pairs as text.

    Attributes:
        concepts: (n): identifiers of the concepts, integers or texts.
        left: the first name of each pair.
        right: the second name of each pair.
        groups: (n): number of the group of each pair. Names of one group are never negatives of each other. If
            ``None``, the pairs of a concept are a group.
    """

    concepts: npt.NDArray[Any]
    left: list[str]
    right: list[str]
    groups: npt.NDArray[Any] | None = None


class PairSequence(Protocol):
    """Numbered pairs in a shuffled order that differs in each epoch, with random access."""

    def __len__(self) -> int:
        """Count the pairs."""
        ...

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        """Return the pairs ``start`` to ``stop - 1`` in the order of an epoch."""
        ...


class VocabularyPairs:
    """The synonym pairs of a vocabulary as a :class:`PairSequence`."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        concepts, left, right = self._pairs.rows(start, stop, epoch=epoch)
        names = self._pairs.texts(np.concatenate([left, right]))
        return NamedPairs(concepts, names[: len(left)], names[len(left) :])
