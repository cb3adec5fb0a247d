"""Classes of words that may stand for each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.annotation.tokens import AND, LONGEST
from nymlink.annotation.word_rules import WordRules
from nymlink.core.store.arrays import distinct, mix, starts_of_runs

FEWEST: Final = 3
"""Smallest number of concepts whose synonyms exchange two words of the same meaning."""

_MOST: Final = 8
"""Largest number of words in one place of the names of a concept. More words are a list of kinds, not synonyms."""


class Exchange(NamedTuple):
    """Two words that stand for each other in synonyms.

    Attributes:
        words: the two lemmas, in order.
        concepts: number of concepts with synonyms that differ only in these words.
        strength: that number divided by the geometric mean of the numbers of names with each word, 0 to 1.
    """

    words: tuple[str, str]
    concepts: int
    strength: float


def find_exchanges(
    concepts: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    words: npt.NDArray[np.int32],
    texts: Sequence[str],
) -> list[Exchange]:
    """Find pairs of words in which synonyms differ.

    Sets of words are compared by the sums of their hashes. Two of the sums are equal by chance once in 10^19
    comparisons.

    Args:
        concepts: int32 (N): the concept of each name.
        starts: int64 (N + 1): name i has the words ``starts[i]`` to ``starts[i + 1]``. A name of more than
            :data:`~nymlink.annotation.tokens.LONGEST` words does not count.
        words: int32 (W): places in ``texts`` of the words of all names, one name after the other.
        texts: the lemmas; :data:`~nymlink.annotation.tokens.AND` is exchanged with no other.
    """
    lengths = np.diff(starts)
    names = np.repeat(np.arange(len(concepts)), lengths)
    counted = lengths[names] <= LONGEST
    # Each name as a set of words.
    pairs = distinct(names[counted] << 32 | words[counted])
    names, words = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
    starts = starts_of_runs(names)
    sizes = np.diff(starts, append=len(names))
    of_word = mix(np.arange(1, len(texts) + 1, dtype=np.uint64))
    sums = np.add.reduceat(of_word[words], starts) if len(starts) else np.zeros(0, np.uint64)
    # The concept is part of the sum, so that only names of one concept are compared. No word has the same hash,
    # because ~ gives numbers larger than those of words.
    sums += mix(~concepts[names[starts]].astype(np.uint64))
    # Each set of words once for each concept.
    kept = np.zeros(len(starts), bool)
    kept[np.unique(sums, return_index=True)[1]] = True
    words, sums, sizes, owners = (
        values[np.repeat(kept, sizes)]
        for values in (words, *(np.repeat(each, sizes) for each in (sums, sizes, concepts[names[starts]])))
    )
    total = np.bincount(words, minlength=len(texts))
    # The sum without a word stands for its place: names with the same sum differ in this word alone.
    several = (sizes > 1) & (sizes <= _MOST)
    words, places, owners = words[several], sums[several] - of_word[words[several]], owners[several]
    order = np.argsort(places, kind="stable")
    words, places, owners = words[order], places[order], owners[order]
    starts = starts_of_runs(places)
    sizes = np.diff(starts, append=len(places))
    found: list[npt.NDArray[np.int64]] = [np.zeros((2, 0), np.int64)]
    for size in range(2, _MOST + 1):
        first = starts[sizes == size]
        exchanged = np.sort(words[first[:, None] + np.arange(size)], axis=1).astype(np.int64)
        for one, other in combinations(range(size), 2):
            found.append(np.stack([owners[first], exchanged[:, one] * len(texts) + exchanged[:, other]]))
    by, exchanged = np.concatenate(found, axis=1)
    exchanges, numbers = np.unique(exchanged, return_inverse=True)
    # Each pair of words once for each concept.
    counts = np.bincount(distinct(by << 32 | numbers) & 0xFFFFFFFF, minlength=len(exchanges))
    ones, others = np.divmod(exchanges, max(len(texts), 1))
    strengths = counts / np.sqrt(total[ones] * total[others])
    named = (sorted((texts[one], texts[other])) for one, other in zip(ones.tolist(), others.tolist(), strict=True))
    return [
        Exchange((first, last), count, strength)
        for (first, last), count, strength in zip(named, counts.tolist(), strengths.tolist(), strict=True)
        if AND not in (first, last)
    ]


_WEAKEST: Final = 0.06
"""Strength of the weakest tie that joins two classes."""

_AVERAGE: Final = 0.6
"""Two classes are joined if the average tie between their words has this share of the weakest strength."""

_DERIVED: Final = 0.2
_TOLD: Final = 1.0
"""Strength of a tie between derived words, and between words in one row of a table."""

_CAP: Final = 0.3
"""Highest strength that counts in an average, so that one strong tie does not outweigh many weak ones."""

_BEGINNING: Final = 4
"""Number of first letters that two forms of a word share."""

_INFLAMMATION: Final = "iti"
"""Ending of the lemmas of inflammations. They are only joined with each other."""

Ties = dict[str, dict[str, float]]


class WordClasses(NamedTuple):
    """Classes of lemmas: for each lemma the one that stands for its class.

    Attributes:
        forms: classes by derivation: the same root, adjectives with nouns, irregular plurals.
        senses: classes by sense, too: lemmas that synonyms exchange, or that a table says are the same.
    """

    forms: dict[str, str]
    senses: dict[str, str]


def classes_of(lemmas: Collection[str], exchanges: Sequence[Exchange], rules: WordRules) -> WordClasses:
    """Class lemmas by their form and by their sense."""
    derived: Ties = defaultdict(dict)
    _tie_derived(derived, lemmas, rules)
    by_form, by_sense = (defaultdict(dict, {one: dict(tied) for one, tied in derived.items()}) for _ in range(2))
    _tie_exchanged(by_form, (exchange for exchange in exchanges if _begin_alike(*exchange.words)))
    _tie_exchanged(by_sense, exchanges)
    known = frozenset(lemmas)
    for group in rules.groups():
        _tie_all(by_sense, sorted(group & known), _TOLD)
    return WordClasses(_cluster(lemmas, by_form), _cluster(lemmas, by_sense))


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
