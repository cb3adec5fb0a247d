"""Look up names by digests of their words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.annotation.lexicon import AND, Lexicon
from nymlink.annotation.tokens import MASK, PASSED, Kind, Token, Word, tokens_of_name
from nymlink.annotation.word_classes import classes_of, find_exchanges
from nymlink.annotation.word_rules import WordRules
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import map_array, save_array
from nymlink.core.terminal import track
from nymlink.vocabulary.concepts import matching_languages
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

LONGEST: Final = 10
"""Most words of a name to find."""


def name_digests(words: Sequence[Word]) -> list[tuple[Level, int]]:
    """Digest the words of a name at each level at which it may be found.

    Names of one word are not found by words with the same sense, because these match too much.
    """
    if not words or len(words) > LONGEST:
        return []
    exact = form = sense = 0
    for word in words:
        exact += word.exact
        form += word.form
        sense += word.sense
    digests = [(Level.EXACT, exact & MASK), (Level.FORM, form & MASK)]
    if len(words) > 1:
        digests.append((Level.SENSE, sense & MASK))
    core = [word for word in words if not word.empty]
    if core and len(core) < len(words) and says_something(core):
        digests.append((Level.CORE, core_digest(sum(word.form for word in core))))
    return digests


def core_digest(forms: int) -> int:
    """Digest the informative words of a name, from the sum of the keys of their forms."""
    return (_CORE_SALT + forms) & MASK


_SHORTEST_CORE: Final = 4
"""Number of letters of the shortest word that may be the only informative one."""


def says_something(words: Sequence[Word]) -> bool:
    """Whether words contain more than qualifiers and words for an abnormality."""
    if len(words) == 1 and len(words[0].text) < _SHORTEST_CORE:
        return False
    return not all(word.qualifier or word.wrong or word.kind == Kind.CONJUNCTION for word in words)


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
    def of(cls, entries: Sequence[tuple[int, Level, int]]) -> NameTable:
        """Make a table of (digest, level, row of the name)."""
        digests = np.array([digest for digest, _, _ in entries], np.uint64)
        order = np.argsort(digests, kind="stable")
        digests = digests[order]
        bits = min(max((_SPARSE * len(digests)).bit_length(), _SMALLEST), _LARGEST)
        places = np.zeros(1 << bits, np.uint8)
        places[digests >> np.uint64(64 - bits)] = 1
        levels = np.array([level for _, level, _ in entries], np.uint8)[order]
        return cls(digests, levels, np.array([row for _, _, row in entries], np.int32)[order], places)

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


class NameWords(NamedTuple):
    """A name: its row, the row of its concept, and its text."""

    row: int
    concept: int
    text: str


def names_of(vocabulary: Vocabulary, language: str | None) -> list[NameWords]:
    """List the names in a language and those in an unknown language; all names if no language is given."""
    counts = vocabulary.counts("lang")
    languages = None if language is None else [*matching_languages([language], counts), UNKNOWN_LANGUAGE]
    return [
        NameWords(row, concept, text)
        for batch in vocabulary.name_batches(languages=languages)
        for row, concept, text in zip(
            batch["row"].to_pylist(), batch["concept"].to_pylist(), batch["text"].to_pylist(), strict=True
        )
    ]


def words_of_name(tokens: Sequence[Token]) -> list[Word]:
    """List the words of a name, including conjunctions but not signs.

    The list is empty if the name contains a word that ends names in a text; such a name cannot be found.
    """
    if any(token.word.kind == Kind.BREAK and token.start < token.end for token in tokens):
        return []
    return [token.word for token in tokens if token.word.kind in (Kind.WORD, Kind.CONJUNCTION)]


_PLAIN: Final = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_IN_NAMES: Final = frozenset((Kind.WORD, *PASSED))


def _words(text: str, lexicon: Lexicon) -> list[Word]:
    """List the words of a name; see :func:`words_of_name`."""
    # Half of the names are plain words, which need no tokens.
    if _PLAIN.fullmatch(text):
        words = [lexicon.find(word) for word in text.split(" ")]
        if all(word.kind in _IN_NAMES for word in words):
            return [word for word in words if word.kind == Kind.WORD]
    return words_of_name(tokens_of_name(text, lexicon.find, conjunction=lexicon.conjunction))


def build_lexicon(names: Sequence[NameWords], rules: WordRules, *, progress: bool = False) -> Lexicon:
    """Group the words of names into classes."""
    plain = Lexicon.of(rules, [], {}, {})
    by_concept: defaultdict[int, list[frozenset[str]]] = defaultdict(list)
    lemmas: set[str] = set()
    for _, concept, text in track(names, "words", shown=progress):
        words = _words(text, plain)
        lemmas.update(word.lemma for word in words)
        if len(words) <= LONGEST:
            own = (rules.same(word.lemma) if word.kind == Kind.WORD else AND for word in words)
            by_concept[concept].append(frozenset(own))
    exchanges = [pair for pair in find_exchanges(by_concept.values()) if AND not in pair.words]
    lemmas.discard(AND)
    return Lexicon.of(rules, lemmas, *classes_of(lemmas, exchanges, rules))


def build_table(
    names: Sequence[NameWords], lexicon: Lexicon, vocabulary: Vocabulary, *, progress: bool = False
) -> NameTable:
    """Make the sorted table of the digests of names."""
    entries: list[tuple[int, Level, int]] = []
    cores: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    spread: defaultdict[int, set[int]] = defaultdict(set)
    for row, concept, text in track(names, "names", shown=progress):
        words = _words(text, lexicon)
        for word in words:
            spread[word.form].add(concept)
        for level, digest in name_digests(words):
            if level is Level.CORE:
                cores[digest].append((concept, row))
            else:
                entries.append((digest, level, row))
    # A word of many names does not identify one of them.
    common = {core_digest(form) for form, concepts in spread.items() if len(concepts) > _MOST}
    entries.extend(_cores({digest: found for digest, found in cores.items() if digest not in common}, vocabulary))
    return NameTable.of(entries)


def _cores(cores: dict[int, list[tuple[int, int]]], vocabulary: Vocabulary) -> Iterator[tuple[int, Level, int]]:
    """Yield the cores of names of a single concept, or of one concept and its descendants."""
    for digest, found in cores.items():
        concepts = {concept for concept, _ in found}
        root = _common_root(concepts, vocabulary)
        yield from ((digest, Level.CORE, row) for concept, row in found if concept == root)


def _common_root(concepts: set[int], vocabulary: Vocabulary) -> int | None:
    """Find the concept that is an ancestor of all others; ``None`` for none."""
    if len(concepts) == 1:
        return next(iter(concepts))
    above = {concept: set(vocabulary.ancestors(vocabulary.concept_id(concept))) for concept in concepts}
    for concept in sorted(concepts):
        own = vocabulary.concept_id(concept)
        if all(other == concept or own in above[other] for other in concepts):
            return concept
    return None
