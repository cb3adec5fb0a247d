"""Names that are absent from an index: mentions without an answer, whose confidence must be low."""

from __future__ import annotations

import random
import string
from typing import Final

from nymlink.index.index import Index
from nymlink.text.english.known_words import known_words

_UNITS: Final = "cm days g hours iu kg kPa mg ml mmHg mmol ng percent units weeks years".split()


def draw_absent_names(index: Index, count: int, *, seed: int = 0) -> list[str]:
    """Draw words, pairs of words and codes that are no names of an index.

    Half are words of English or of biomedical names, a quarter such words beside a word of the index ("John
    Crohn"), a quarter numbers with units and codes of letters and digits.

    Args:
        index: the index that lacks them.
        count: the number of names; fewer are returned where the index has nearly all words.
        seed: the seed of the draw.
    """
    rng = random.Random(seed)
    # English whatever the language: any words that are no names will do, and these are listed.
    words = sorted(known_words())

    def pair() -> str:
        name = index.entries.text(rng.randrange(len(index.entries)))
        return f"{rng.choice(words)} {rng.choice(name.split())}"

    draws = (lambda: rng.choice(words), lambda: rng.choice(words), pair, lambda: _code(rng))
    attempts = (draws[number % len(draws)]() for number in range(4 * count))
    return [name for name in dict.fromkeys(attempts) if index.entries.find(name) is None][:count]


def _code(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return f"{rng.randint(1, 500)} {rng.choice(_UNITS).lower()}"
    letters = rng.choice((string.ascii_lowercase, string.ascii_lowercase + string.digits))
    return "".join(rng.choices(letters, k=rng.randint(3, 6)))
