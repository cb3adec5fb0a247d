"""Find a broader or narrower partner for the concepts that have no equal one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from math import log
from typing import Final, Literal

from nymlink.linking.matching.names import RELIABILITY, KnownName, Names, Pair, are_comparable
from nymlink.linking.matching.structure import Hierarchy

Direction = Literal["broader", "narrower"]
"""Relation of the concept of the second vocabulary to the one of the first."""

_STATED: Final = 0.6
_COVERED: Final = 0.35
_PARENT: Final = 0.8
"""Confidence of a name that a vocabulary calls narrow or broad, and of a name whose specific words are all in the
name of the concept; factor of the confidence that the parent of a concept is mapped. The second is measured in
``docs/evidence/matching.md``."""

_COMMON: Final = 0.03
"""Share of the concepts of a vocabulary above which a word of their names is not specific ("abnormal")."""

_MEANING: Final = ("preferred", "exact")
"""Kinds of the names whose words are compared."""

_LEAST_COVERED: Final = 0.4
"""Smallest share of a name that the specific words make up, each word weighted by its rarity."""


@dataclass(frozen=True, slots=True)
class Inexact:
    """A broader or narrower partner of a concept.

    Attributes:
        direction: relation of the partner to the concept.
        confidence: probability that the relation holds.
        names: the name of the concept and the name of the partner that led to it.
    """

    direction: Direction
    confidence: float
    names: tuple[KnownName, KnownName]


def inexact_partners(
    names: Names,
    others: Names,
    hierarchies: tuple[Hierarchy, Hierarchy],
    exact: Mapping[int, tuple[int, float]],
    common: Collection[str],
) -> dict[Pair, Inexact]:
    """Find partners that are broader or narrower, one for each concept that has no equal partner.

    In this order, the first that is found counts: a name that a vocabulary calls narrow or broad; the partner of a
    parent; a name of a partner whose specific words are all in a name of the concept ("small vomer bone", abnormal
    vomer morphology).

    Args:
        names: names of the first vocabulary.
        others: names of the second vocabulary.
        hierarchies: their hierarchies.
        exact: concept row of the first → its equal concept in the second, and the confidence.
        common: languages of both.
    """
    words = _SpecificWords(others, common)
    found: dict[Pair, Inexact] = {}
    for concept, own in names.by_concept.items():
        if concept in exact:
            continue
        ways = (
            _stated(own, others, common),
            _of_parents(own, hierarchies[0], exact, others),
            words.broader(own),
        )
        found.update(islice(chain.from_iterable(ways), 1))
    return found


def _stated(own: Iterable[KnownName], others: Names, common: Collection[str]) -> Iterator[tuple[Pair, Inexact]]:
    """Yield partners with an equal name that one of the vocabularies calls narrow or broad."""
    for name in own:
        for other in others.by_loose.get(name.loose, ()):
            kinds = name.kind, other.kind
            if not are_comparable(name.lang, other.lang, common) or not (set(kinds) & RELIABILITY.keys()):
                continue
            if "narrow" in kinds or "broad" in kinds:
                up = kinds[1] == "narrow" or kinds[0] == "broad"
                yield (
                    (name.concept, other.concept),
                    Inexact("broader" if up else "narrower", _STATED, (name, other)),
                )


def _of_parents(
    own: list[KnownName], hierarchy: Hierarchy, exact: Mapping[int, tuple[int, float]], others: Names
) -> Iterator[tuple[Pair, Inexact]]:
    """Yield the partners of the parents of a concept, the surest first."""
    concept = own[0].concept
    images = sorted(
        (-exact[parent][1], exact[parent][0]) for parent in hierarchy.parents[concept] if parent in exact
    )
    for confidence, image in images:
        yield (concept, image), Inexact("broader", -confidence * _PARENT, (own[0], others.by_concept[image][0]))


class _SpecificWords:
    """The specific words of the names of a vocabulary, in loose form: words that few of its concepts have.

    Args:
        names: names of the vocabulary.
        common: languages that are compared.
    """

    def __init__(self, names: Names, common: Collection[str]) -> None:
        self._common = common
        self._count = len(names.by_concept)
        known = [(name, frozenset(name.loose.split())) for name in names.all if name.kind in _MEANING]
        self._concepts = Counter(
            word for word, _ in {(word, name.concept) for name, words in known for word in words}
        )
        self._by_rarest = defaultdict[str, list[tuple[KnownName, frozenset[str]]]](list)
        for name, words in known:
            specific = frozenset(word for word in words if self._concepts[word] <= _COMMON * self._count + 1)
            if specific:
                self._by_rarest[min(specific, key=lambda word: (self._concepts[word], word))].append(
                    (name, specific)
                )

    def broader(self, own: Iterable[KnownName]) -> Iterator[tuple[Pair, Inexact]]:
        """Yield the concept whose specific words cover most of a name of a concept, if they cover enough."""
        found = [
            (covered, -len(other.loose), other.kind == "preferred", -other.row, (name, other))
            for name in own
            if name.kind in _MEANING
            for words in (frozenset(name.loose.split()),)
            for word in sorted(words)
            for other, specific in self._by_rarest.get(word, ())
            if specific <= words
            and name.loose != other.loose
            and are_comparable(name.lang, other.lang, self._common)
            for covered in (self._weight(specific) / self._weight(words),)
            if covered >= _LEAST_COVERED
        ]
        if found:
            *_, pair = max(found)
            yield (pair[0].concept, pair[1].concept), Inexact("broader", _COVERED, pair)

    def _weight(self, words: Iterable[str]) -> float:
        return sum(log((self._count + 1) / max(self._concepts[word], 0.5)) for word in words)
