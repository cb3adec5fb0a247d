"""Mentions that need no search: dates and numbers, ids, and names of one concept alone.

If a mention equals a name of one concept alone, apart from capitals and signs, that concept is its first
candidate. A search could neither replace it nor raise its confidence, so none is run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Bools
from nymlink.index.fusion import EXACT_MATCH, WEIGHTED
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches, likeliest_name
from nymlink.rank.ranker import RankedMatches
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.text.word_tables import read_kinds
from nymlink.vocabulary.concepts import Name

_TABLE: Final = Path(__file__).parent / "data" / "no_answers.tsv"

_LONGEST_NOTHING: Final = 40
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
    if not text or len(text) > _LONGEST_NOTHING:
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


_ID: Final = re.compile(r"[A-Za-z][\w.-]{0,30}[:_][\w.-]+|https?://\S+|[A-Za-z]{0,3}\d{4,}")
_LOCAL: Final = re.compile(r"[A-Za-z]{0,3}\d{4,}")
_LONGEST_ID: Final = 200
"""Number of characters of the longest mention that may be an id."""


def may_be_id(mention: str) -> bool:
    """Whether a mention is written like an id: it has a prefix or an address, or is a number of four digits."""
    return len(mention) <= _LONGEST_ID and _ID.fullmatch(mention.strip()) is not None


class Ids:
    """The ids of an index, in the ways in which people write them.

    Args:
        index: of the concepts.
    """

    def __init__(self, index: Index) -> None:
        self._vocabulary = index.vocabulary
        self._named: Bools | None = None
        if index.restriction:
            self._named = np.zeros(len(index.vocabulary), bool)
            self._named[index.owners[index.entries.names]] = True

    def read(self, mention: str) -> tuple[int | None, str] | None:
        """Find the row and the preferred name of the concept that a mention is an id of; ``None`` for none.

        The row is ``None`` if the restriction of the index excludes the concept.
        """
        row = self.find(mention) if may_be_id(mention) else None
        if row is None:
            return None
        if self._named is not None and not self._named[row]:
            return None, ""
        return row, self._vocabulary.preferred_name(row)

    def find(self, mention: str) -> int | None:
        """Find the row of the concept with an id; of an old id, of the one concept that replaces it."""
        for written in self._ways(mention.strip()):
            current = self._vocabulary.resolve(written)
            row = self._vocabulary.row(current[0]) if len(current) == 1 else None
            if row is not None and self._is_live(row):
                return row
        return None

    def former(self, text: str, name: Name) -> str | None:
        """Find the obsolete concept that a mention means, if the concept of its name replaces it.

        Args:
            text: the mention.
            name: the name that matched.
        """
        known = [*self._ways(text.strip())] if may_be_id(text) else []
        if name.kind == "related":
            known += [each.concept_id for each in self._vocabulary.find(name.text)]
        if not known:
            return None
        replaced_by = self._vocabulary.columns.concepts["replaced_by"]
        for concept_id in known:
            row = self._vocabulary.row(concept_id)
            if row is not None and name.concept_id in replaced_by[row].as_py():
                return concept_id
        return None

    def _is_live(self, row: int) -> bool:
        obsolete: bool = self._vocabulary.columns.concepts["obsolete"][row].as_py()
        return not obsolete and self._vocabulary.preferred_row(row) is not None

    def _ways(self, mention: str) -> Iterator[str]:
        """Yield a mention and, without a prefix, the mention with each prefix of the vocabulary."""
        yield mention
        if _LOCAL.fullmatch(mention):
            yield from (f"{own}:{mention}" for names in self._vocabulary.id_prefixes.values() for own in names)


_AHEAD: Final = 2e-6
"""Smallest lead over every other name that rounding cannot remove."""


def find_verbatim(index: Index, questions: Sequence[Question]) -> dict[Question, tuple[int, int]]:
    """Find the questions that equal a name of one concept alone: question → rows (concept, name).

    Args:
        index: the index; nothing is found unless a weighted mean joins its searches.
        questions: the questions; each wants one candidate.
    """
    # The exact search alone puts an equal name first if its weight is more than a rounding error.
    if index.fusion.method != WEIGHTED or index.search.weights[EXACT_MATCH] <= _AHEAD:
        return {}
    named = ((question, _name_of(index, question)) for question in questions)
    return {question: name for question, name in named if name is not None}


def find_identified(index: Index, questions: Sequence[Question]) -> dict[Question, tuple[int, int]]:
    """Find the questions that are ids: question → rows of the concept and of its preferred name."""
    rows = {question: question.concept for question in questions if question.concept is not None}
    named = ((question, row, index.vocabulary.preferred_row(row)) for question, row in rows.items())
    return {question: (row, NONE if name is None else name) for question, row, name in named}


def certain_matches(index: Index, found: Collection[tuple[int, int]], k: int) -> RankedMatches:
    """Make the matches of questions with one certain concept each.

    Args:
        index: the index.
        found: rows (concept, name) of Q questions.
        k: number of places for concepts; all but the first stay empty.

    Returns:
        Matches (Q, k). Their probabilities are NaN, because the ranker was not asked.
    """
    matches = Matches.empty(len(found), k, index.search.parts)
    matches.concepts[:, 0], matches.names[:, 0] = np.array([*found], np.int32).reshape(-1, 2).T
    for values in (matches.scores, *matches.parts.values()):
        values[:, 0] = 1.0
    chances = None if index.ranker is None else np.full(matches.scores.shape, np.nan, np.float32)
    return RankedMatches(matches, chances)


def _name_of(index: Index, question: Question) -> tuple[int, int] | None:
    """Find the rows (concept, name) of the name that a question equals, if one concept alone has it."""
    text, surface = question.text, question.surface
    entry = index.entries.find(text)
    if entry is None or question.rewritten or question.guessed:
        return None
    concepts = index.concepts_of(entry)
    if len(concepts) != 1 or (surface is not None and normalise(surface) != text):
        return None
    [concept] = concepts
    return concept, likeliest_name(index.vocabulary, index.entries.names_of(entry).tolist(), text, surface)
