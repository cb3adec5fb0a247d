"""Settle ties: a name of several concepts means the one that the rest of the document supports.

Within a document, a word usually has one meaning (Gale et al., "One sense per discourse", 1992).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.text.writing import compact

_RUN: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d{1,2}")

_SHORTEST: Final = 3
"""Smallest number of letters of another name that is looked for in the text."""


class TiedMention(NamedTuple):
    """A mention with the concepts that share its query as a name.

    Attributes:
        query: its query.
        tied: place among its candidates → row of the concept; empty if no name equals the query.
    """

    query: str
    tied: Mapping[int, int]


def settle_ties(text: str, mentions: Sequence[TiedMention], index: Index) -> list[int | None]:
    """For each tie find the one concept that the rest of the document supports.

    A concept is supported by another of its names in the text, or by another mention that names it alone. A tie
    stays open if several of its concepts are supported, or if the text has other members of a series ("AKT1,
    AKT2": "AKT" may mean all of them).

    Args:
        text: text of the document.
        mentions: all mentions of the document.
        index: the index that was searched.

    Returns:
        For each mention the place of that concept among its candidates; ``None`` if no tie was settled.
    """
    if all(len(mention.tied) < 2 for mention in mentions):
        return [None] * len(mentions)
    words = _Text(text)
    named = {concept for mention in mentions if len(mention.tied) == 1 for concept in mention.tied.values()}
    return [None if len(mention.tied) < 2 else _settle(mention, words, named, index) for mention in mentions]


class _Text:
    """The words of a text, in which names are looked for.

    Args:
        text: text of a document.
    """

    def __init__(self, text: str) -> None:
        runs = _RUN.findall(text)
        self.words = frozenset(run.casefold() for run in runs)
        self._written = f" {' '.join(runs)} "
        self._folded = self._written.casefold()

    def has(self, name: str) -> bool:
        """Whether a name is in the text. The capitals of a name made of letters only must be the same there."""
        runs = " ".join(_RUN.findall(name))
        if len(runs) < _SHORTEST:
            return False
        return f" {runs} " in self._written if runs.isalpha() else f" {runs.casefold()} " in self._folded


def _settle(mention: TiedMention, text: _Text, named: Collection[int], index: Index) -> int | None:
    own = compact(mention.query)
    others = {concept: _other_names(index, concept, own) for concept in mention.tied.values()}
    supported = [
        place
        for place, concept in mention.tied.items()
        if concept in named or any(text.has(name) for name in others[concept])
    ]
    if len(supported) != 1:
        return None
    [chosen] = supported
    members = {word for word in text.words if word.startswith(own) and _NUMBER.fullmatch(word, len(own))}
    if not members <= {compact(normalise(name)) for name in others[mention.tied[chosen]]}:
        return None
    return chosen


def _other_names(index: Index, concept: int, own: str) -> list[str]:
    """List the names of a concept whose spelling differs from the mention's."""
    names = (name.text for name in index.vocabulary.names(index.vocabulary.concept_id(concept)))
    return [name for name in names if compact(normalise(name)) != own]
