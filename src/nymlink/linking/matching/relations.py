"""Find a broader or narrower partner for the concepts that have no equal one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from nymlink.linking.matching.names import RELIABILITY, KnownName, Names, Pair, are_comparable
from nymlink.linking.matching.structure import Hierarchy
from nymlink.vocabulary.name_matching import loose_form

Direction = Literal["broader", "narrower"]
"""Relation of the concept of the second vocabulary to the one of the first."""

_STATED: Final = 0.6
_MODIFIED: Final = 0.6
_PARENT: Final = 0.8
"""Confidence of a name that a vocabulary calls narrow or broad, and of a name without its modifier; factor of the
confidence that the parent of a concept is mapped. Measured in ``docs/evidence/matching.md``."""

_LEAST_WORDS: Final = 2
"""Smallest number of words that are left without a modifier: "acute hepatitis" says less about "hepatitis" than
about nothing, but "syndrome" is no concept."""

_ENDINGS: Final = frozenset("type form stage grade variant i ii iii iv v vi vii viii ix x".split())
"""Words at the end of a name that a broader name lacks, beside numbers and letters: "torsion dystonia 2"."""


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

    In this order, the first that is found counts: a name that a vocabulary calls narrow or broad; a name of the
    concept without its modifier ("acute hepatitis", hepatitis); a name of the partner without its modifier; the
    partner of a parent.

    Args:
        names: names of the first vocabulary.
        others: names of the second vocabulary.
        hierarchies: their hierarchies.
        exact: concept row of the first → its equal concept in the second, and the confidence.
        common: languages of both.
    """
    taken = {image for image, _ in exact.values()}
    narrower = _without_modifiers(
        (name for name in others.all if name.concept not in taken), names, common, without=exact.keys()
    )
    found: dict[Pair, Inexact] = {}
    for concept, own in names.by_concept.items():
        if concept in exact:
            continue
        for pair, inexact in (
            *_stated(own, others, common),
            *_broader(own, others, common),
            *narrower.get(concept, ()),
            *_of_parents(own, hierarchies[0], exact, others),
        ):
            found[pair] = inexact
            break
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


def _broader(own: Iterable[KnownName], others: Names, common: Collection[str]) -> Iterator[tuple[Pair, Inexact]]:
    """Yield partners whose name is a name of the concept without a modifier, the longest name first."""
    found = [
        (words, (name, other))
        for name in own
        if name.kind in ("preferred", "exact")
        for words, form in _shorter(name.prepared)
        for other in others.by_loose.get(form, ())
        if other.kind in ("preferred", "exact") and are_comparable(name.lang, other.lang, common)
    ]
    for _, pair in sorted(found, key=lambda each: (-each[0], each[1][1].kind != "preferred", each[1][1].row)):
        yield (pair[0].concept, pair[1].concept), Inexact("broader", _MODIFIED, pair)


def _without_modifiers(
    names: Iterable[KnownName], others: Names, common: Collection[str], *, without: Collection[int]
) -> dict[int, list[tuple[Pair, Inexact]]]:
    """Find, for concepts of the first vocabulary, partners whose name has a modifier that theirs lacks."""
    found = defaultdict[int, list[tuple[Pair, Inexact]]](list)
    for name in names:
        for pair, inexact in _broader([name], others, common):
            if pair[1] not in without:
                narrower = Inexact("narrower", inexact.confidence, inexact.names[::-1])
                found[pair[1]].append(((pair[1], pair[0]), narrower))
                break
    return found


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


def _shorter(prepared: str) -> Iterator[tuple[int, str]]:
    """Yield the number of words and the loose form of a name without words at its beginning, or at its end."""
    words = prepared.split()
    for start in range(1, len(words) - _LEAST_WORDS + 1):
        yield len(words) - start, loose_form(" ".join(words[start:]))
    end = len(words)
    while end > _LEAST_WORDS and (
        words[end - 1] in _ENDINGS or len(words[end - 1]) == 1 or words[end - 1][0].isdigit()
    ):
        end -= 1
        yield end, loose_form(" ".join(words[:end]))
