"""Recognise cells of tables that name nothing: dates, numbers, marks without letters, and answers ("none")."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "no_answers.tsv"

_LONGEST: Final = 40
"""Number of characters of the longest mention that may name nothing."""
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_TIME: Final = r"(?:[T\s]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:am|pm|z|[+-]\d{2}:?\d{2})?)?"
_DATE: Final = re.compile(
    rf"(?:\d{{1,4}}([-/.])\d{{1,2}}\1\d{{1,4}}|\d{{1,2}}\.?\s{_MONTH},?\s\d{{2,4}}|{_MONTH}\s\d{{1,2}},?\s\d{{4}}"
    rf"|{_MONTH}\s\d{{4}}){_TIME}",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"[<>≤≥~≈=+-]{0,2}\s?\d[\d.,\s]*(?:[eE][+-]?\d+)?\s?(?:%|°?c|mg|g|kg|ml|l|cm|mm|m|years?|yrs?|y|months?|days?|d|h)?",
    re.IGNORECASE,
)


def says_nothing(mention: str) -> str | None:
    """Say why a mention names nothing.

    Args:
        mention: a mention, as written.

    Returns:
        "no answer", "a date", "a number" or "no letter"; ``None`` if the mention may name something.
    """
    text = mention.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _DATE.fullmatch(text):
        return "a date"
    if _NUMBER.fullmatch(text):
        return "a number"
    if not any(map(str.isalnum, text)):
        return "no letter"
    return "no answer" if text in _written() or text.lower() in _answers() else None


@cache
def _answers() -> frozenset[str]:
    return frozenset(word for row in read_kinds(_TABLE)["any case"] for word in row)


@cache
def _written() -> frozenset[str]:
    return frozenset(word for row in read_kinds(_TABLE)["as written"] for word in row)
