"""Look up names by digests of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.name_words import NameWords
from nymlink.annotation.tokens import AND, LONGEST, MASK, Kind, Word
from nymlink.annotation.word_classes import classes_of, find_exchanges
from nymlink.annotation.word_rules import WordRules
from nymlink.core.store.arrays import distinct, map_array, save_array, starts_of_runs
from nymlink.core.terminal import track
from nymlink.vocabulary.vocabulary import Vocabulary


class Level(IntEnum):
    """Level of agreement between the words of a phrase and of a name, in any order."""

    EXACT = 1
    """The same words: singular or plural, British or American."""
    FORM = 2
    """Words derived from each other: "aorta", "aortic"."""
    SENSE = 3
    """Words that may stand for each other: "renal", "kidney"."""
    CORE = 4
    """The same words without those that add nothing: "childhood", "Childhood onset"."""


_CORE_SALT: Final = 0x9E3779B97F4A7C15
"""Added to digests of informative words, to separate them from digests of whole names."""


def core_digest(forms: int) -> int:
    """Digest the informative words of a name, from the sum of the keys of their forms."""
    return (_CORE_SALT + forms) & MASK


_HANGUL: Final = "\uac00"
"""The first Korean syllable."""

_SHORTEST_CORE: Final = 4
"""Number of letters of the shortest word that may be the only informative one."""


def says_something(words: Sequence[Word]) -> bool:
    """Whether words contain more than qualifiers and words for an abnormality."""
    return (len(words) != 1 or _is_long(words[0])) and any(map(_is_specific, words))


def _is_long(word: Word) -> bool:
    """Whether a word may be the only informative one of a name."""
    return letters_of(word.text) >= _SHORTEST_CORE


def letters_of(word: str) -> int:
    """Count the letters of a word; a Korean syllable has about three."""
    return len(word) * (3 if word >= _HANGUL else 1)


def _is_specific(word: Word) -> bool:
    return not (word.qualifier or word.wrong or word.kind == Kind.CONJUNCTION)


_SPARSE: Final = 16
"""Places of the filter for each digest; with more places, fewer wrong digests pass."""

_SMALLEST, _LARGEST = 10, 28
"""Bits of the smallest and the largest filter."""


@dataclass(slots=True)
class NameTable:
    """K digests of names in order, and a filter that rejects most other digests.

    Attributes:
        digests: uint64 (K), ascending.
        levels: uint8 (K): the level of each.
        rows: int32 (K): the row of its name in the vocabulary.
        filter: uint8 (2**b): whether any digest begins with these b bits.
        places: the filter as a memory view, whose items are read faster.
        shift: number of bits by which a digest is shifted to its place in the filter.
    """

    FILES: ClassVar = ("digests.npy", "levels.npy", "rows.npy", "filter.npy")

    digests: npt.NDArray[np.uint64]
    levels: npt.NDArray[np.uint8]
    rows: npt.NDArray[np.int32]
    filter: npt.NDArray[np.uint8]
    places: memoryview = field(init=False)
    shift: int = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.digests) == len(self.levels) == len(self.rows):
            raise ValueError("the digests of names do not fit their levels and rows")
        bits = len(self.filter).bit_length() - 1
        if len(self.filter) != 1 << bits:
            raise ValueError("the filter of the names is none")
        self.places = memoryview(np.ascontiguousarray(self.filter))  # type: ignore[arg-type]
        self.shift = 64 - bits

    @classmethod
    def of(
        cls, digests: npt.NDArray[np.uint64], levels: npt.NDArray[np.uint8], rows: npt.NDArray[np.int32]
    ) -> NameTable:
        """Make a table of digests (K) in any order, their levels (K), and the rows of their names (K)."""
        order = np.argsort(digests, kind="stable")
        digests = digests[order]
        bits = min(max((_SPARSE * len(digests)).bit_length(), _SMALLEST), _LARGEST)
        places = np.zeros(1 << bits, np.uint8)
        places[digests >> np.uint64(64 - bits)] = 1
        return cls(digests, levels[order], rows[order], places)

    def passes(self, digest: int) -> int:
        """Whether names with a digest may exist; 0 if there are none."""
        return self.places[digest >> self.shift]

    def find(self, digest: int) -> list[tuple[Level, int]]:
        """Find the names with a digest, each with the level at which it has it."""
        if not self.places[digest >> self.shift]:
            return []
        wanted = np.uint64(digest)
        start, end = (int(np.searchsorted(self.digests, wanted, side)) for side in ("left", "right"))
        return [
            (Level(level), row)
            for level, row in zip(self.levels[start:end].tolist(), self.rows[start:end].tolist(), strict=True)
        ]

    def save(self, directory: Path) -> None:
        """Write the table into a directory."""
        for name in self.FILES:
            stem = name.removesuffix(".npy")
            save_array(directory, stem, getattr(self, stem))

    @classmethod
    def load(cls, directory: Path) -> NameTable:
        """Map the table of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files hold something else, or do not fit each other.
        """
        return cls(*(map_array(directory, name.removesuffix(".npy")) for name in cls.FILES))


_MOST: Final = 20
"""Most concepts with a word that may be the only informative word of a name."""


def build_lexicon(names: NameWords, rules: WordRules) -> Lexicon:
    """Group the words of names into classes."""
    lemmas = {names.lemmas[number] for number in distinct(names.words).tolist()} - {AND}
    numbers: dict[str, int] = {AND: 0}
    same = [numbers.setdefault(rules.same(lemma), len(numbers)) for lemma in names.lemmas[1:]]
    meanings = np.array([0, *same], np.int32)[names.words]
    exchanges = find_exchanges(names.concepts, names.starts, meanings, [*numbers])
    return Lexicon.of(rules, lemmas, *classes_of(lemmas, exchanges, rules))


def build_table(
    names: NameWords, lexicon: Lexicon, vocabulary: Vocabulary, *, progress: bool = False
) -> NameTable:
    """Make the sorted table of the digests of names.

    A name has a digest for each level at which it may be found. Names of one word are not found by words with the
    same sense, because these match too much.
    """
    names = names.with_pairs(lexicon)
    texts = zip(names.texts[1:], names.lemmas[1:], strict=True)
    tracked = track(texts, "looking up words", total=len(names.texts) - 1, shown=progress)
    lexical = [lexicon.conjunction, *(lexicon.word(*each) for each in tracked)]
    keys = np.array([(word.exact, word.form, word.sense) for word in lexical], np.uint64)
    lengths = np.diff(names.starts)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    # A word of many names does not identify one of them.
    forms = np.unique(keys[:, 1], return_inverse=True)[1]
    spread = distinct(forms[names.words] << 32 | names.concepts[owners]) >> 32
    is_common = (np.bincount(spread, minlength=len(forms)) > _MOST)[forms]
    is_short = lengths[owners] <= LONGEST
    owners, words = owners[is_short], names.words[is_short]

    counts = np.bincount(owners, minlength=len(lengths))
    digests = np.stack([_sums(keys[words, level], owners, len(lengths)) for level in range(3)], axis=1)
    levels = np.broadcast_to(np.array([Level.EXACT, Level.FORM, Level.SENSE], np.uint8), digests.shape)
    is_digest = np.stack([counts > 0, counts > 0, counts > 1], axis=1)

    is_informative = ~np.array([word.empty for word in lexical])[words]
    owners, words = owners[is_informative], words[is_informative]

    def count(is_so: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Count the informative words with a property in each name."""
        return np.bincount(owners[np.asarray(is_so, bool)[words]], minlength=len(lengths))

    informative = np.bincount(owners, minlength=len(lengths))
    is_core = (informative > 0) & (informative < counts) & (count([_is_specific(word) for word in lexical]) > 0)
    # A single word must be long, and of few concepts.
    may_be_single = np.array([_is_long(word) for word in lexical]) & ~is_common
    places = np.flatnonzero(is_core & ((informative > 1) | (count(may_be_single) > 0)))
    cores = _sums(keys[words, 1], owners, len(lengths))[places] + np.uint64(_CORE_SALT)
    own = _unambiguous(cores, names.concepts[places], vocabulary)
    return NameTable.of(
        np.concatenate([digests[is_digest], cores[own]]),
        np.concatenate([levels[is_digest], np.full(len(own), Level.CORE, np.uint8)]),
        np.concatenate([np.repeat(names.rows, is_digest.sum(axis=1)), names.rows[places[own]]]),
    )


def _sums(keys: npt.NDArray[np.uint64], owners: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.uint64]:
    """Add up the keys of the words of each name, modulo 2^64.

    Args:
        keys: uint64 (W): keys of words.
        owners: int64 (W): the name of each word.
        count: number of names.
    """
    sums = np.zeros(count, np.uint64)
    np.add.at(sums, owners, keys)
    return sums


def _unambiguous(
    cores: npt.NDArray[np.uint64], concepts: npt.NDArray[np.int32], vocabulary: Vocabulary
) -> npt.NDArray[np.int64]:
    """Select cores that are of a single concept, or of one concept and its descendants.

    Args:
        cores: uint64 (n): digests of cores.
        concepts: int32 (n): the concept of each.
        vocabulary: the vocabulary.

    Returns:
        int64 (m), ascending: places of the cores; of several concepts, those of the concept above the others.
    """
    order = np.argsort(cores, kind="stable")
    starts = starts_of_runs(cores[order])
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    pairs = distinct(group << 32 | concepts[order])
    sizes = np.bincount(pairs >> 32, minlength=len(starts))
    ends = np.cumsum(sizes)
    # The row of the only concept with a core, or of the one above the others; -1 for none.
    owners = pairs & 0xFFFFFFFF
    roots = owners[ends - 1]
    for number in np.flatnonzero(sizes > 1).tolist():
        several = owners[ends[number] - sizes[number] : ends[number]].tolist()
        root = _common_root(several, vocabulary)
        roots[number] = -1 if root is None else root
    return np.sort(order[concepts[order] == roots[group]])


def _common_root(concepts: Sequence[int], vocabulary: Vocabulary) -> int | None:
    """Find the first concept that is an ancestor of all others; ``None`` for none."""
    above = {concept: set(vocabulary.ancestors(vocabulary.concept_id(concept))) for concept in concepts}
    for concept in concepts:
        own = vocabulary.concept_id(concept)
        if all(other == concept or own in above[other] for other in concepts):
            return concept
    return None
