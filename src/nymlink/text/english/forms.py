"""Regular forms of an English name: American spelling, singular and plural.

The letters of British words and the ends of singulars and plurals are in ``data/forms.tsv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "forms.tsv"

_SHORTEST: Final = 4
"""Letters of the shortest word that has other forms: "als" is no plural."""

_MOST_WORDS: Final = 8
"""A longer text is a description: it is no other form of a name, and would have too many forms itself."""


def forms(text: str) -> Iterator[str]:
    """Yield American spellings, plurals and singulars of a text, the likeliest first.

    They are candidates, and many are no words: look each up, and pass over those that are no name. British words
    become American ones ("anaemia", "anemia"); one word, the last first, becomes plural or singular ("hip
    fracture", "hip fractures").

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalisation.normalise.normalise`
            gives them.
    """
    words = text.split(" ")
    if len(words) > _MOST_WORDS:
        return
    spelt = american(text)
    if spelt != text:
        yield spelt
    for base in [words] if spelt == text else [spelt.split(" "), words]:
        for place in reversed(range(len(base))):
            for other in _other_number(base[place]):
                yield " ".join([*base[:place], other, *base[place + 1 :]])


def american(text: str) -> str:
    """Convert words to American spelling, by rules for letters."""
    return " ".join([_american(word) for word in text.split(" ")])


class _Rules(NamedTuple):
    """Rules that change words.

    Attributes:
        american: British letters and the American ones for them.
        numbers: ends of words and those of the other number, singular or plural; the first that fits counts.
    """

    american: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, tuple[str, ...]], ...]


@cache
def _rules() -> _Rules:
    rows = [(row["kind"], row["from"], split_cell(row["to"])) for row in read_rows(_TABLE)]
    return _Rules(
        tuple((british, american) for kind, british, (american, *_) in rows if kind == "american"),
        tuple(
            (end.removeprefix("-"), tuple(other.removeprefix("-") for other in others))
            for kind, end, others in rows
            if kind == "number"
        ),
    )


def _american(word: str) -> str:
    if len(word) >= _SHORTEST:
        for british, american in _rules().american:
            word = word.replace(british, american)
    return word


def _other_number(word: str) -> Iterator[str]:
    """Yield the plurals of a singular, or the singulars of a plural."""
    if len(word) < _SHORTEST:
        return
    end, others = next((end, others) for end, others in _rules().numbers if word.endswith(end))
    for other in others:
        yield word.removesuffix(end) + other
