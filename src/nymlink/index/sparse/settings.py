"""Settings of sparse search: the features of texts, and by which of them entries are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from nymlink.core.errors import UnknownNameError
from nymlink.core.json_files import to_dataclass
from nymlink.index.sparse.features import CodePoints, Pairs, renumber
from nymlink.text.english.words import stop_words
from nymlink.text.normalise import romanise

_LONGEST: Final = 64
"""Characters of an n-gram; a text has features of each length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSettings:
    """Settings of the features of texts, and of how they are weighted and searched.

    Attributes:
        chars: shortest and longest character n-gram of the whole text; ``None`` for none.
        word_chars: shortest and longest character n-gram of each word, padded with a space on either side; they
            do not change when words change places. ``None`` for none.
        words: whether words are features.
        shortest_word: shorter words are not features.
        stop_words: whether English function words are features.
        romanised: whether texts that are not ASCII have the features of their romanised form, too: names of drugs
            and diseases in other scripts are mostly transliterated.
        sublinear: take 1 + ln n instead of n for the frequency of a feature that occurs n times.
        search_share: find entries only by the features that at most this share of the entries have (where a query
            has such). Commoner features make a search slow and change little; they still count in the scores of
            the entries found.
    """

    chars: tuple[int, int] | None = None
    word_chars: tuple[int, int] | None = None
    words: bool = False
    shortest_word: int = 1
    stop_words: bool = True
    romanised: bool = False
    sublinear: bool = False
    search_share: float = 1.0

    def __post_init__(self) -> None:
        if self.chars is None and self.word_chars is None and not self.words:
            raise ValueError("sparse settings need character n-grams, words or both")
        for sizes in (self.chars, self.word_chars):
            if sizes is not None and not _are_lengths(sizes):
                raise ValueError(f"character n-grams must go from 1 or more to at most {_LONGEST}, not {sizes}")
        if self.shortest_word < 1:
            raise ValueError(f"shortest_word must be at least 1, not {self.shortest_word}")
        if not 0 < self.search_share <= 1:
            raise ValueError(f"search_share must be above 0 and at most 1, not {self.search_share}")

    def features(self, texts: Sequence[str]) -> Pairs:
        """Collect the features of at most 65,536 texts whose words are separated by single spaces."""
        pairs = self._features(texts)
        others = [number for number, text in enumerate(texts) if not text.isascii()] if self.romanised else []
        if not others:
            return pairs
        romanised = renumber(self._features([romanise(texts[number]) for number in others]), others)
        return np.concatenate([pairs, romanised])

    def _features(self, texts: Sequence[str]) -> Pairs:
        points = CodePoints(texts)
        pairs = []
        if self.chars is not None:
            pairs.append(points.ngrams(range(self.chars[0], self.chars[1] + 1)))
        if self.word_chars is not None:
            pairs.append(points.word_ngrams(range(self.word_chars[0], self.word_chars[1] + 1)))
        if self.words:
            # English whatever the language: the published system has these. No other settings leave words out.
            without = () if self.stop_words else stop_words()
            pairs.append(points.words(shortest=self.shortest_word, without=without))
        return np.concatenate(pairs)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any) -> SparseSettings:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        if isinstance(value, dict):
            # JSON has lists in place of tuples.
            value = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
        return to_dataclass(cls, value)


def _are_lengths(sizes: Any) -> bool:
    return (
        isinstance(sizes, tuple)
        and [type(size) for size in sizes] == [int, int]
        and 1 <= sizes[0] <= sizes[1] <= _LONGEST
    )


DEFAULT_PRESET: Final = "nymlink"

PRESETS: Final[Mapping[str, Mapping[str, SparseSettings]]] = MappingProxyType(
    {
        # Chosen on the development sets of NCBI and BC5CDR: see docs/howto/evaluation.md.
        "nymlink": {"sparse": SparseSettings(chars=(1, 2), word_chars=(3, 4), romanised=True, search_share=0.15)},
        # Sung et al. 2020 (BioSyn), section 3.2.
        "biosyn": {"sparse": SparseSettings(chars=(1, 2))},
        # Le & Nguyen 2023, section 3.1: two searches whose lists are merged, here by the mean of their scores.
        "le-nguyen": {
            "characters": SparseSettings(chars=(2, 5)),
            "words": SparseSettings(words=True, shortest_word=2, stop_words=False),
        },
        # Exact search alone: the baseline of other searches.
        "none": {},
    }
)
"""Preset → its sparse searches, by the name of their score part."""


def preset(name: str) -> Mapping[str, SparseSettings]:
    """Look up the sparse searches of a preset.

    Raises:
        UnknownNameError: there is none of that name; the message lists the known ones.
    """
    if name not in PRESETS:
        raise UnknownNameError(f"unknown sparse setting {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]
