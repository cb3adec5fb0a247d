"""Settle ties: a name of several concepts means the one that the rest of the document supports.

Within a document, a word usually has one meaning (Gale et al., "One sense per discourse", 1992).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import log, sqrt
from typing import Final, NamedTuple

from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.text.writing import compact

_RUN: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d{1,2}")

_SHORTEST: Final = 3
"""Smallest number of letters of another name that is looked for in the text."""

CLEAR: Final = 0.25
"""Smallest lead, in words that a single name has, with which words settle a tie; chosen on genes of GNormPlus."""


class TiedMention(NamedTuple):
    """A mention with the concepts that share its query as a name.

    Attributes:
        query: its query.
        tied: place among its candidates → row of the concept; empty if no name equals the query.
        same_kind: those of these places whose name is of the same kind as that of the first.
    """

    query: str
    tied: Mapping[int, int]
    same_kind: Collection[int] = ()


def settle_ties(text: str, mentions: Sequence[TiedMention], index: Index) -> list[int | None]:
    """For each tie find the one concept that the rest of the document supports.

    A concept is supported by another of its names in the text, or by another mention that names it alone. If none
    or several are, words decide among names of the same kind: the concept comes first whose other names share the
    most with the text, by a clear lead. A tie stays open if the text has other members of a series ("AKT1, AKT2":
    "AKT" may mean all of them).

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
        self._text = text

    @cached_property
    def normal_words(self) -> frozenset[str]:
        """The words of the text in their normal form."""
        return frozenset(normalise(self._text).split(" "))

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
    if len(supported) == 1:
        [chosen] = supported
    else:
        places = [place for place in supported or mention.tied if place in mention.same_kind]
        if len(places) < 2:
            return None
        weights = [_shared(text, others[mention.tied[place]], mention.query, index) for place in places]
        *_, second, first = sorted(weights)
        if first - second < CLEAR * log(len(index.entries) + 1):
            return None
        chosen = places[weights.index(first)]
    members = {word for word in text.words if word.startswith(own) and _NUMBER.fullmatch(word, len(own))}
    if not members <= {compact(normalise(name)) for name in others[mention.tied[chosen]]}:
        return None
    return chosen


def _other_names(index: Index, concept: int, own: str) -> list[str]:
    """List the names of a concept whose spelling differs from the mention's."""
    names = (name.text for name in index.vocabulary.names(index.vocabulary.concept_id(concept)))
    return [name for name in names if compact(normalise(name)) != own]


def _shared(text: _Text, names: Sequence[str], query: str, index: Index) -> float:
    """Weigh the words that a text shares with names of a concept, other than the words of the mention.

    A name of one word is no evidence: "REST" is not the word "rest".

    Returns:
        For the name with the largest value: the sum of the weights of its words that the text has, divided by the
        square root of one more than the number of its words. The weight of a word is its rarity among the names
        of the index.
    """
    ours = frozenset(query.split(" "))
    written = [each for each in (normalise(name).split(" ") for name in names) if len(each) > 1]
    words = [[word for word in dict.fromkeys(each) if word not in ours] for each in written]
    said = [word for word in dict.fromkeys(chain(*words)) if len(word) > 1 and word in text.normal_words]
    rarity = (
        dict(zip(said, index.entries.word_numbers.of_texts(said).weights.tolist(), strict=True)) if said else {}
    )
    return max((sum(rarity.get(word, 0.0) for word in each) / sqrt(1 + len(each)) for each in words), default=0.0)
