"""Misspelt words: a table of corrections, and a test for words that differ by one slip."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.text.normalise import normalise

_SHORTEST: Final = 6
"""Smallest number of letters of a misspelt word by itself; shorter words are too similar to each other ("nitro",
"nigro")."""


def may_be_misspelt(word: str, shortest: int = _SHORTEST) -> bool:
    """Whether nymlink may take a word of at least ``shortest`` letters for a misspelt one.

    The word must be long enough, and its script must have upper and lower case. In other scripts one letter
    changes too much, because it is a syllable, a consonant of the root, or a word.
    """
    return len(word) >= shortest and word.isalpha() and all(map(str.islower, word))


def is_slip(wrong: str, right: str) -> bool:
    """Whether two words differ by one slip.

    A slip is an additional, missing or wrong letter, or two exchanged neighbours (Damerau, "A technique for
    computer detection and correction of spelling errors", 1964). A difference in the first letter is no slip
    ("ethanol", "methanol"). A difference in the last letter alone is no slip either ("thrombi", "thrombin"). Such
    differences usually make another word or another ending.
    """
    same = (letter == meant for letter, meant in zip(wrong, right, strict=False))
    start = next((place for place, equal in enumerate(same) if not equal), min(len(wrong), len(right)))
    if start == 0 or start >= max(len(wrong), len(right)) - 1:
        return False
    rest, meant = wrong[start:], right[start:]
    swapped = rest[:2] == meant[1::-1] and rest[2:] == meant[2:]
    return swapped or rest[1:] in (meant, meant[1:]) or rest == meant[1:]


def correct(text: str, table: Mapping[str, str]) -> str:
    """Replace the words of a normalised text that the table lists.

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
        table: misspelt word → correct word or words. Each word is looked up once.
    """
    return " ".join([table.get(word, word) for word in text.split(" ")])


def read_table(path: Path, *, problems: Problems | None = None) -> dict[str, str]:
    """Read a table of misspelt words, with one ``wrong||right`` in each line. Both sides are normalised.

    Args:
        path: a plain or gzip text file.
        problems: receives unusable lines. A line is unusable if it lacks a side, if its wrong side has several
            words, or if an earlier line has another correction for its wrong side.

    Raises:
        InputError: the file cannot be read, or has no usable line.
    """
    problems = Problems() if problems is None else problems
    table: dict[str, str] = {}
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        wrong, mark, right = (normalise(side) if side != "||" else side for side in line.partition("||"))
        if not (mark and wrong and right):
            problems.reject(path, number, "not of the form wrong||right")
        elif " " in wrong:
            problems.reject(path, number, f"{wrong!r} is more than one word, and words are looked up one by one")
        elif table.setdefault(wrong, right) != right:
            problems.reject(path, number, f"{wrong!r} already stands for {table[wrong]!r}")
    if not table:
        raise InputError("no line of the form wrong||right in it", path=path)
    return table


_ALIKE: Final = {
    spelt: sound for sound in (("ph", "f"), ("y", "i"), ("th", "t"), ("ch", "k", "c")) for spelt in sound
}
"""Letters → letters that sound alike in words of Greek origin. Languages spell these words differently."""
_SOUND: Final = re.compile(f"({'|'.join(sorted(_ALIKE, key=len, reverse=True))})")
_MOST_WAYS: Final = 512
"""Largest number of spellings of a word that are tried."""
_SHORTEST_SOUND: Final = 8
"""Number of letters of the shortest word that is compared by sound."""


def sounds_alike(word: str, is_known: Callable[[str], bool]) -> str | None:
    """Find the known word that sounds like a misspelt one ("microcefaly", "microcephaly").

    Args:
        word: the misspelt word.
        is_known: whether a word is known.

    Returns:
        The known word; ``None`` if no known word or several known words sound like the misspelt one, or if the
        misspelt word is short or has too many possible spellings.
    """
    ways = [_ALIKE.get(piece, (piece,)) for piece in _SOUND.split(word)]
    if len(word) < _SHORTEST_SOUND or prod(map(len, ways)) > _MOST_WAYS:
        return None
    found = {spelt for way in product(*ways) if (spelt := "".join(way)) != word and is_known(spelt)}
    return found.pop() if len(found) == 1 else None
