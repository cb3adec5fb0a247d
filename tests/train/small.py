"""Small vocabularies, and pairs made the plain way."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[str, str, str]


def vocabulary(*names: tuple[str, str, str, str], obsolete: Collection[str] = ()) -> Vocabulary:
    """A vocabulary of (concept id, text, language, kind)."""
    builder = TableBuilder()
    for concept_id, text, lang, kind in names:
        builder.concept(concept_id, obsolete=concept_id in obsolete)
        builder.name(concept_id, text, lang=lang, kind=kind)
    return Vocabulary.of((Source("small", "table", licence="CC0"), builder.build()), settings={"lang": "en"})


def crowd(concept_id: str, names: int) -> list[tuple[str, str, str, str]]:
    """A concept with so many names."""
    return [(concept_id, f"{concept_id} name {number}", "en", "exact") for number in range(names)]


def spelt(pairs: Pairs, *, epoch: int = 0) -> list[Pair]:
    """All pairs, in the order of an epoch."""
    return [tuple(row.values()) for row in pairs.batch(0, len(pairs), epoch=epoch).to_pylist()]


def naive_pairs(
    vocabulary: Vocabulary, *, kinds: Iterable[str], languages: Collection[str] | None = None
) -> dict[str, list[Pair]]:
    """All pairs of each concept, without a cap."""
    made = {}
    for concept in vocabulary:
        names = [
            name.text.lower()
            for name in vocabulary.names(concept.id)
            if not concept.obsolete and name.kind in kinds and (languages is None or name.lang in languages)
        ]
        pairs = [(concept.id, *pair) for pair in combinations(dict.fromkeys(names), 2)]
        if pairs:
            made[concept.id] = pairs
    return made
