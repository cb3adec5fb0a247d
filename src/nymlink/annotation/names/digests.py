"""Digests of names: sums of the keys of their words, which do not depend on order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nymlink.annotation.names.levels import Level
from nymlink.annotation.words.word import MASK, Kind, Word

_CORE_SALT: Final = 0x9E3779B97F4A7C15
"""Added to digests without empty words, to tell them from those of whole names."""

LONGEST: Final = 10
"""Words of the longest name that is looked for."""


def name_digests(words: Sequence[Word]) -> list[tuple[Level, int]]:
    """Digest the words of a name at each level at which it may be found.

    Names of one word are found by it and its derived forms only: there are too many words that may stand for one.
    """
    if not words or len(words) > LONGEST:
        return []
    digests = [
        (Level.EXACT, sum(word.exact for word in words) & MASK),
        (Level.FORM, sum(word.form for word in words) & MASK),
    ]
    if len(words) > 1:
        digests.append((Level.SENSE, sum(word.sense for word in words) & MASK))
    core = [word for word in words if not word.empty]
    if core and len(core) < len(words) and says_something(core):
        digests.append((Level.CORE, core_digest(sum(word.form for word in core))))
    return digests


def core_digest(forms: int) -> int:
    """Digest the words that are left of a name, by the sum of the keys of their forms."""
    return (_CORE_SALT + forms) & MASK


_SHORTEST_CORE: Final = 4
"""Letters of the shortest word that a name is found by alone, when others are left out."""


def says_something(words: Sequence[Word]) -> bool:
    """Whether words say more than that something is wrong, how much, when or where."""
    if len(words) == 1 and len(words[0].text) < _SHORTEST_CORE:
        return False
    return not all(word.qualifier or word.wrong or word.kind == Kind.CONJUNCTION for word in words)
