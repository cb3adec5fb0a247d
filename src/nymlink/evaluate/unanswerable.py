"""Mentions that have no answer in an index: what a confidence must be low for."""

from __future__ import annotations

import random
import string
from typing import Final

from nymlink.index.index import Index
from nymlink.text.english.known_words import known_words

_UNITS: Final = "cm days g hours iu kg kPa mg ml mmHg mmol ng percent units weeks years".split()


def lacking_names(index: Index, count: int, *, seed: int = 0) -> list[str]:
    """Draw words, pairs of words and codes that are no names of an index.

    Half are words of English or of biomedical names, a quarter such words beside a word of the index ("John
    Crohn"), a quarter numbers with units and codes of letters and digits.

    Args:
        index: that lacks them.
        count: how many; fewer where the index has nearly all words.
        seed: of the draw.
    """
    drawn = random.Random(seed)
    words = sorted(known_words())

    def pair() -> str:
        name = index.entries.text(drawn.randrange(len(index.entries)))
        return f"{drawn.choice(words)} {drawn.choice(name.split())}"

    makers = (lambda: drawn.choice(words), lambda: drawn.choice(words), pair, lambda: _code(drawn))
    tried = (makers[number % len(makers)]() for number in range(4 * count))
    return [name for name in dict.fromkeys(tried) if index.entries.find(name) is None][:count]


def _code(drawn: random.Random) -> str:
    if drawn.random() < 0.5:
        return f"{drawn.randint(1, 500)} {drawn.choice(_UNITS).lower()}"
    letters = drawn.choice((string.ascii_lowercase, string.ascii_lowercase + string.digits))
    return "".join(drawn.choices(letters, k=drawn.randint(3, 6)))
