"""The language of a single name, by its letters.

Cavnar and Trenkle, "N-Gram-Based Text Categorization" (1994), classify texts by runs of letters. Here the
probabilities of such runs in each language are learned from open names of concepts (``recipes/languages.py``). A
name is short, and many are the same in several languages, so that the answer may be that the language is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from nymlink.text.normalise import normalise

FILE: Final = Path(__file__).parent / "data" / "languages.npz"

PLACES: Final = 1 << 15
"""Number of places of the table; runs of letters are hashed to places."""

STEP: Final = 1 / 16
"""Step of the stored log-probabilities."""

SIZES: Final = (1, 2, 3, 4, 5)
"""Lengths of the runs of letters, with a space before and after each word."""

SURE: Final = 0.9
"""Smallest probability of a language that is taken for known."""

_FEWEST: Final = 4
"""Fewest letters of a name in an alphabet whose language is guessed."""

_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30ff]"), re.compile("[\u3041-\u30ff\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7a3]"), re.compile("[\uac00-\ud7a3]")),
)
"""Languages that have a script of their own, kana or Hangul, with its letters and all letters of the language."""

_LEAST: Final = 4
"""A text is in such a language if one letter in four is: an English text may contain a Japanese name."""

NAMES: Final[Mapping[str, str]] = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "gl": "Galician",
    "he": "Hebrew",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "la": "Latin",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovene",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def language_name(code: str) -> str:
    """Write a language in words ("de" becomes "German"); the code itself if it is not among :data:`NAMES`."""
    name = NAMES.get(code.split("-")[0])
    return code if name is None else name if "-" not in code else f"{name} ({code})"


class Guess(NamedTuple):
    """A guess of the language of a name.

    Attributes:
        language: code of the most probable language.
        probability: its probability, 0 to 1.
    """

    language: str
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class Detector:
    """Probabilities of runs of letters in languages.

    Attributes:
        languages: codes of L languages.
        table: uint8 (:data:`PLACES`, L): minus the log-probabilities, in steps.
        sharpness: factor of the sum of log-probabilities. Runs overlap, so that their sum is too sure.
    """

    languages: tuple[str, ...]
    table: npt.NDArray[np.uint8]
    sharpness: float

    def log_probabilities(self, text: str) -> npt.NDArray[np.float64] | None:
        """Add up the log-probabilities of a prepared text in each language; ``None`` without letters."""
        places = [crc32(run.encode("utf-8", "surrogatepass")) % PLACES for run in runs(text)]
        return None if not places else -STEP * self.table[places].sum(axis=0, dtype=np.float64)

    def guess(self, text: str) -> Guess | None:
        """Guess the most probable language of a prepared text; ``None`` for a text without letters."""
        sums = self.log_probabilities(text)
        if sums is None:
            return None
        shares = np.exp(self.sharpness * (sums - sums.max()))
        best = int(shares.argmax())
        return Guess(self.languages[best], float(shares[best] / shares.sum()))

    def save(self, path: Path) -> None:
        """Write the detector as a NumPy archive."""
        np.savez_compressed(
            path, languages=np.array(self.languages), table=self.table, sharpness=np.float64(self.sharpness)
        )

    @classmethod
    def load(cls, path: Path) -> Detector:
        """Read the result of :meth:`save`."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(tuple(arrays["languages"].tolist()), arrays["table"], float(arrays["sharpness"]))


def runs(text: str) -> Iterator[str]:
    """Yield the runs of letters of a prepared text; words without letters have none."""
    for word in text.split(" "):
        if any(map(str.isalpha, word)):
            padded = f" {word} "
            for size in SIZES:
                yield from (padded[at : at + size] for at in range(len(padded) - size + 1))


@lru_cache(maxsize=1 << 14)
def detect_language(text: str) -> str | None:
    """Find the language of a single name; ``None`` if it is not sure.

    Names in Latin are in use in many languages, so that their language counts as unknown.

    Args:
        text: a name, as written or prepared.

    Example:
        >>> detect_language("Schwindel und Erbrechen"), detect_language("diabetes")
        ('de', None)
    """
    prepared = normalise(text)
    letters = sum(map(str.isalpha, prepared))
    for code, own, written in _SCRIPTS:
        if own.search(prepared) and len(written.findall(prepared)) * _LEAST >= letters:
            return code
    if letters < (_FEWEST if prepared.isascii() else 2):
        return None
    guess = _detector().guess(prepared)
    if guess is None or guess.probability < SURE or guess.language == "la":
        return None
    return guess.language


@cache
def _detector() -> Detector:
    return Detector.load(FILE)
