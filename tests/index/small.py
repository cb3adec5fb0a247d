"""Small vocabularies for tests, and names to fill larger ones with."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from nymlink.index.entries.entries import Entries
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

Names = Sequence[str | tuple[str, str]]


def vocabulary(
    concepts: Mapping[str, Names],
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    redirects: Mapping[str, str] | None = None,
    replaced: Mapping[str, Sequence[str]] | None = None,
) -> Vocabulary:
    """Concepts by id, each with its names: the first one preferred, others exact unless given with a kind.

    Args:
        concepts: id → names, ``"text"`` or ``("text", kind)``.
        parents: id → ids of the concepts above it.
        redirects: alternate id → id.
        replaced: obsolete id → ids that replace it.
    """
    builder = TableBuilder()
    gone = replaced or {}
    for concept_id, names in concepts.items():
        builder.concept(
            concept_id,
            parents=(parents or {}).get(concept_id, ()),
            obsolete=concept_id in gone,
            replaced_by=gone.get(concept_id, ()),
        )
        for place, name in enumerate(names):
            text, kind = (name, "exact" if place else "preferred") if isinstance(name, str) else name
            builder.name(concept_id, text, kind=kind)
    for old, new in (redirects or {}).items():
        builder.redirect(old, new)
    return Vocabulary.of((Source("small", "test"), builder.build()))


def entries(texts: Sequence[str]) -> Entries:
    """Entries of these texts, each the name of a concept of its own."""
    return Entries.of(vocabulary({f"T:{number}": [text] for number, text in enumerate(texts)}))


def many_names(count: int, *, seed: int = 0) -> list[str]:
    """Distinct names of one to four words of one to three syllables; some words are common, most are rare."""
    draw = random.Random(seed)
    syllables = [consonant + vowel for consonant in "bcdfglmnprst" for vowel in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 3))) for _ in range(count // 2)]
    names: dict[str, None] = {}
    while len(names) < count:
        chosen = [words[int(len(words) * draw.random() ** 3)] for _ in range(draw.randint(1, 4))]
        names[" ".join(chosen)] = None
    return list(names)
