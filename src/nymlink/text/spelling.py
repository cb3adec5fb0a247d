"""Misspelt words: a table of corrections, and words that differ by one slip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.text.normalise import normalise

_SHORTEST: Final = 6
"""Letters of words that may be misspelt: shorter ones are too like each other ("nitro", "nigro")."""


def may_be_misspelt(word: str) -> bool:
    """Whether a word is long enough to tell a misspelling, and of letters that have upper and lower case.

    In scripts without case one letter says too much: it is a syllable, a root's consonant, or a word.
    """
    return len(word) >= _SHORTEST and word.isalpha() and all(map(str.islower, word))


def is_slip(wrong: str, right: str) -> bool:
    """Whether two words are one edit apart, so that the wrong one is a slip.

    A slip is a letter too many, one too few, another one, or two neighbours in each other's place (Damerau, "A
    technique for computer detection and correction of spelling errors", 1964). The first letter is right, and the
    last alone is not wrong: that is another word ("ethanol", "methanol") or ending ("thrombi", "thrombin").
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
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise`
            gives them.
        table: misspelt word → right word, or words. Each word is looked up once.
    """
    return " ".join([table.get(word, word) for word in text.split(" ")])


def read_table(path: Path, *, problems: Problems | None = None) -> dict[str, str]:
    """Read a typo table: one ``wrong||right`` a line, both normalised here.

    Args:
        path: a plain or gzip text file.
        problems: where unusable lines are reported: those without the two sides, those whose wrong side is not
            one word, and a second line that says otherwise than the first.

    Raises:
        InputError: the file cannot be read, or no line of it can be used.
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
