"""Formats of translation pairs: how the two columns of a line are separated, found from the first lines of a file.

=====================  ==============================  ==============================================
format                 a line                          where from
=====================  ==============================  ==============================================
parallel titles        ``heart ||| coeur``             titles of linked Wikipedia pages
TSV, CSV               ``heart<TAB>coeur``             word lists of Wiktionary, XLing, spreadsheets
words                  ``heart coeur``                 MUSE: two words without spaces in them
=====================  ==============================  ==============================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from nymlink.core.delimited import Record, parse_records

WORDS: Final = " "
"""The separator of lines of two words: any white space."""

_TITLES: Final = "|||"
_DELIMITERS: Final = (_TITLES, "\t", ";", ",")
_TWO_WORDS: Final = 0.9
"""The share of lines of two words from which a file is taken for one of words: in MUSE's own it is 1."""


def find_separator(lines: list[str]) -> str | None:
    """Choose the separator that at least half of the lines have.

    Args:
        lines: the first lines of a file, without blank ones.

    Returns:
        ``|||``, a tab, a semicolon, a comma or :data:`WORDS`; ``None`` where the lines have one column.
    """
    for separator in _DELIMITERS:
        if sum(separator in line for line in lines) * 2 >= len(lines):
            return separator
    two_words = sum(len(line.split()) == 2 for line in lines)
    return WORDS if two_words >= _TWO_WORDS * len(lines) else None


def split_lines(lines: Iterable[tuple[int, str]], separator: str) -> Iterator[Record]:
    """Split numbered lines into the fields between separators; only those of TSV and CSV may be quoted."""
    if separator in (_TITLES, WORDS):
        between = None if separator == WORDS else separator
        return (Record(number, line.split(between), line) for number, line in lines if line.strip())
    return parse_records(lines, separator)
