"""Class the words of a vocabulary: those derived from each other, and those that may stand for each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final

from nymlink.annotation.words.exchanges import FEWEST, Exchange
from nymlink.annotation.words.rules import WordRules

_WEAKEST: Final = 0.06
"""Strength of the weakest tie that joins two classes."""

_AVERAGE: Final = 0.6
"""Share of it that the average tie between the words of two classes must have."""

_DERIVED: Final = 0.2
_TOLD: Final = 1.0
"""Strength of a tie between words that rules derive from each other, and between words of a row of a table."""

_CAP: Final = 0.3
"""No tie counts more in an average: many weak ones are not to be outvoted by one."""

_BEGINNING: Final = 4
"""Letters with which two forms of a word begin."""

_INFLAMMATION: Final = "iti"
"""Ends the lemmas of inflammations, which no other word stands for."""

Ties = dict[str, dict[str, float]]


def form_classes(lemmas: Collection[str], exchanges: Iterable[Exchange], rules: WordRules) -> dict[str, str]:
    """Class lemmas by derivation: those with the same root, adjectives with nouns, irregular plurals.

    Returns:
        For each lemma the one that stands for its class.
    """
    ties: Ties = defaultdict(dict)
    _tie_derived(ties, lemmas, rules)
    _tie_exchanged(ties, (exchange for exchange in exchanges if _begin_alike(*exchange.words)))
    return _cluster(lemmas, ties)


def sense_classes(lemmas: Collection[str], exchanges: Iterable[Exchange], rules: WordRules) -> dict[str, str]:
    """Class lemmas by derivation and by sense: those that synonyms exchange or a table says are the same, too."""
    ties: Ties = defaultdict(dict)
    _tie_derived(ties, lemmas, rules)
    _tie_exchanged(ties, exchanges)
    for group in rules.groups():
        _tie_all(ties, sorted(group & set(lemmas)), _TOLD)
    return _cluster(lemmas, ties)


def _tie_derived(ties: Ties, lemmas: Collection[str], rules: WordRules) -> None:
    by_root: defaultdict[str, list[str]] = defaultdict(list)
    for lemma in lemmas:
        if len(lemma) >= _BEGINNING:
            by_root[rules.root(lemma)].append(lemma)
        for noun in rules.nouns(lemma):
            if noun in lemmas and noun != lemma:
                _tie(ties, lemma, noun, _DERIVED)
    for derived in by_root.values():
        _tie_all(ties, derived, _DERIVED)


def _tie_exchanged(ties: Ties, exchanges: Iterable[Exchange]) -> None:
    for (first, second), concepts, strength in exchanges:
        alike = _begin_alike(first, second)
        if min(len(first), len(second)) > 1 and not (first.isdigit() or second.isdigit()):
            if concepts >= FEWEST:
                _tie(ties, first, second, max(strength, _DERIVED / 2) if alike else strength)
            elif alike and min(len(first), len(second)) > _BEGINNING:
                _tie(ties, first, second, _DERIVED / 2)


def _tie_all(ties: Ties, words: Iterable[str], strength: float) -> None:
    words = list(words)
    for place, first in enumerate(words):
        for second in words[place + 1 :]:
            _tie(ties, first, second, strength)


def _tie(ties: Ties, first: str, second: str, strength: float) -> None:
    if first.endswith(_INFLAMMATION) != second.endswith(_INFLAMMATION):
        return
    for one, other in ((first, second), (second, first)):
        ties[one][other] = max(ties[one].get(other, 0.0), strength)


def _begin_alike(first: str, second: str) -> bool:
    common = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        common += 1
    return common >= _BEGINNING or (common == _BEGINNING - 1 and min(len(first), len(second)) <= _BEGINNING + 1)


def _cluster(lemmas: Collection[str], ties: Ties) -> dict[str, str]:
    """Join classes along their ties, the strongest first, while the average tie between them is strong enough."""
    members = {lemma: [lemma] for lemma in ties}
    class_of = {lemma: lemma for lemma in lemmas}
    ordered = sorted(
        ((strength, one, other) for one, tied in ties.items() for other, strength in tied.items() if one < other),
        key=lambda tie: (-tie[0], tie[1], tie[2]),
    )
    for strength, one, other in ordered:
        if strength < _WEAKEST:
            break
        left, right = class_of[one], class_of[other]
        if left == right:
            continue
        ours, theirs = members[left], members[right]
        between = sum(min(ties[a].get(b, 0.0), _CAP) for a in ours for b in theirs)
        if between < _WEAKEST * _AVERAGE * len(ours) * len(theirs):
            continue
        if len(ours) < len(theirs):
            left, right, ours, theirs = right, left, theirs, ours
        ours.extend(theirs)
        class_of.update(dict.fromkeys(theirs, left))
        del members[right]
    return class_of
