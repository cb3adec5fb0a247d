"""Correct misspelt words by a table, word by word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.text.normalisation.normalise import normalise


def correct(text: str, table: Mapping[str, str]) -> str:
    """Replace the words of a normalised text that the table lists.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalisation.normalise.normalise`
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
