"""Find concepts of two vocabularies that share a name, and say how sure the name is.

A name means its concept with a probability that depends on its kind (:data:`RELIABILITY`). The probability that a
shared name means one thing is the product for both concepts, divided among the concepts of a vocabulary that have
the name. Several shared names support each other as if they were independent (noisy or).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.vocabulary.columns import normalise_all_with_signs
from nymlink.vocabulary.name_matching import loose_form
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""A concept row of the first vocabulary, and one of the second."""

RELIABILITY: Final[Mapping[str, float]] = {
    "preferred": 0.99,
    "exact": 0.8,
    "tradename": 0.8,
    "abbreviation": 0.4,
    "related": 0.4,
}
"""Kind of a name → probability that the name means exactly its concept. Chosen on development pairs of
vocabularies (``docs/evidence/matching.md``)."""

_FORMS: Final = (1.0, 0.98, 0.95)
"""Factor if the names are equal, if the order of words differs, and if words have different forms."""


class KnownName(NamedTuple):
    """A name of a live concept.

    Attributes:
        concept: row of its concept.
        row: its name row.
        kind: its kind.
        lang: its language, without region.
        prepared: its normal form.
        loose: form that variants of the name share, see :func:`~nymlink.vocabulary.name_matching.loose_form`.
    """

    concept: int
    row: int
    kind: str
    lang: str
    prepared: str
    loose: str


class Names:
    """The names of the live concepts of a vocabulary.

    Attributes:
        all: the names, in the order of the vocabulary.
        by_loose: loose form → names.
        by_concept: concept row → its names, preferred first.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.all: list[KnownName] = []
        for batch in vocabulary.name_batches():
            texts = pa.chunked_array([batch.column("text")])
            prepared = normalise_all_with_signs(texts).to_pylist()
            columns = (batch[name].to_pylist() for name in ("concept", "row", "kind", "lang"))
            self.all += [
                KnownName(concept, row, kind, lang.partition("-")[0], text, loose_form(text))
                for concept, row, kind, lang, text in zip(*columns, prepared, strict=True)
                if text
            ]
        self.by_loose = defaultdict[str, list[KnownName]](list)
        self.by_concept = defaultdict[int, list[KnownName]](list)
        for name in self.all:
            self.by_loose[name.loose].append(name)
            self.by_concept[name.concept].append(name)

    def languages(self) -> set[str]:
        """Return the languages, without regions."""
        return {name.lang for name in self.all}


def are_comparable(one: str, other: str, common: Collection[str]) -> bool:
    """Whether names in two languages are compared: in the same language, or if a language is unknown.

    Without a common language, all names are compared.
    """
    return not common or one == other or UNKNOWN_LANGUAGE in (one, other)


@dataclass(slots=True)
class Shared:
    """The names that two concepts share.

    Attributes:
        strength: probability that both concepts are the same, by their names.
        best: strength of the surest shared name.
        names: the surest shared name, as a name of the first concept and of the second.
        loose: the loose forms that were counted.
    """

    strength: float = 0.0
    best: float = 0.0
    names: tuple[KnownName, KnownName] | None = None
    loose: set[str] = field(default_factory=set)

    def add(self, strength: float, one: KnownName, other: KnownName) -> None:
        """Count a shared name; each loose form counts once."""
        if strength > self.best:
            self.best, self.names = strength, (one, other)
        if one.loose not in self.loose:
            self.loose.add(one.loose)
            self.strength = 1 - (1 - self.strength) * (1 - strength)


def shared_names(one: Names, other: Names, common: Collection[str]) -> dict[Pair, Shared]:
    """Find the pairs of concepts that share a name which is not narrow or broad.

    Args:
        one: names of the first vocabulary; may be those of the second, and then no concept is paired with itself,
            and each pair comes once.
        other: names of the second vocabulary.
        common: languages of both vocabularies.
    """
    found: dict[Pair, Shared] = {}
    for loose, names in one.by_loose.items():
        if loose not in other.by_loose:
            continue
        others_of = other.by_loose[loose]
        own = _best_kinds(_comparable(names, others_of, common))
        others = _best_kinds(_comparable(others_of, names, common))
        if not own or not others:
            continue
        own_odds, other_odds = (sum(map(_odds, each.values())) for each in (own, others))
        for pair, (name, named) in _pairs(own, others, common, same=one is other):
            if one is other:
                strength = RELIABILITY[name.kind] * RELIABILITY[named.kind]
            else:
                strength = (
                    RELIABILITY[name.kind]
                    * RELIABILITY[named.kind]
                    * _odds(name)
                    / own_odds
                    * _odds(named)
                    / other_odds
                )
            found.setdefault(pair, Shared()).add(strength * _likeness(name, named), name, named)
    return found


def _comparable(
    names: Collection[KnownName], others: Collection[KnownName], common: Collection[str]
) -> list[KnownName]:
    """Keep the names in a language that can be compared with that of one of the others."""
    languages = {name.lang for name in others}
    return [name for name in names if any(are_comparable(name.lang, lang, common) for lang in languages)]


def _best_kinds(names: Collection[KnownName]) -> dict[int, KnownName]:
    """Choose the most reliable name of each concept among names with one loose form."""
    best: dict[int, KnownName] = {}
    for name in names:
        if name.kind not in RELIABILITY:
            continue
        present = best.get(name.concept)
        if present is None or RELIABILITY[name.kind] > RELIABILITY[present.kind]:
            best[name.concept] = name
    return best


def _pairs(
    own: Mapping[int, KnownName], others: Mapping[int, KnownName], common: Collection[str], *, same: bool
) -> Iterator[tuple[Pair, tuple[KnownName, KnownName]]]:
    for concept, name in own.items():
        for another, named in others.items():
            if same and concept >= another:
                continue
            if are_comparable(name.lang, named.lang, common):
                yield (concept, another), (name, named)


def _odds(name: KnownName) -> float:
    return RELIABILITY[name.kind] / (1 - RELIABILITY[name.kind])


def _likeness(one: KnownName, other: KnownName) -> float:
    if one.prepared == other.prepared:
        return _FORMS[0]
    return _FORMS[1 if sorted(one.prepared.split()) == sorted(other.prepared.split()) else 2]
