"""Links restricted to a part of the vocabulary: by branch, type and id, and without what is excluded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import many_names

NAMES = many_names(1200)
CONCEPTS = 300
"""Concept i has four names, and is below concept i // 5."""

CHOICES: list[dict[str, Any]] = [
    {"branch": "T:000011"},
    {"branch": ("T:000002", "T:000007")},
    {"types": "ODD"},
    {"ids": ["T:000100", "T:000299", "t_000007"]},
    {"exclude": "T:000001"},
    {"exclude": (NAMES[40], NAMES[41])},
    {"branch": "T:000002", "types": "odd", "exclude": ["T:000011", NAMES[232]]},
]


@cache
def index(encoder: bool = True) -> Index:
    builder = TableBuilder()
    for number in range(CONCEPTS):
        types = ("odd",) if number % 2 else ("even",)
        above = (f"T:{number // 5:06}",) if number else ()
        builder.concept(f"T:{number:06}", parents=above, semantic_types=types)
        for place, name in enumerate(NAMES[4 * number : 4 * number + 4]):
            builder.name(f"T:{number:06}", name, kind="exact" if place else "preferred")
    vocabulary = Vocabulary.of((Source("toy", "test"), builder.build()))
    return Index.build(vocabulary) if encoder else Index.build(vocabulary, encoder=None)


def allowed_names(choices: dict[str, Any]) -> set[str]:
    """The names that meet all conditions, found by walking up from each concept."""
    listed = {name: (values,) if isinstance(values, str) else values for name, values in choices.items()}
    above: dict[int, set[str]] = {}
    for number in range(CONCEPTS):
        above[number] = {f"T:{number:06}"} | (above[number // 5] if number else set())
    ids = {each.upper().replace("_", ":") for each in listed.get("ids", ())}
    kept = set()
    for number in range(CONCEPTS):
        if "branch" in listed and above[number].isdisjoint(listed["branch"]):
            continue
        if "types" in listed and ("odd" if number % 2 else "even") not in map(str.lower, listed["types"]):
            continue
        if ids and f"T:{number:06}" not in ids:
            continue
        if not above[number].isdisjoint(listed.get("exclude", ())):
            continue
        kept |= set(NAMES[4 * number : 4 * number + 4]) - set(listed.get("exclude", ()))
    return kept


@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("encoder", [True, False])
def test_the_best_of_what_is_allowed_is_found(choices: dict[str, Any], encoder: bool) -> None:
    whole = index(encoder)
    part = whole.restricted(Restriction.of(**choices))
    assert part is whole.restricted(Restriction.of(**choices))
    names = allowed_names(choices)
    queries = [*NAMES[::97], *(name[1:] + "a" for name in NAMES[::131])]
    found = part.match(queries, 10)
    # The twin looks at every name of every concept.
    depth = len(whole.entries)
    hits = whole.search.search(queries, depth)
    for place, query in enumerate(queries):
        wanted: list[int] = []
        for row in hits.hits.rows[place].tolist():
            if row >= 0 and whole.entries.text(row) in names:
                wanted += [each for each in sorted(whole.concepts_of(row)) if each not in wanted]
        got = [row for row in found.concepts[place].tolist() if row >= 0]
        assert got == wanted[:10], query


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_nothing_else_is_a_candidate(choices: dict[str, Any]) -> None:
    linker = Linker(index(), top_k=10, composites="always")
    names = allowed_names(choices)
    mentions = [*NAMES[::53], *(name.upper() for name in NAMES[::101]), f"{NAMES[0]} and {NAMES[900]}", "zzz qqq"]
    for link in linker.link(mentions, **choices):
        for single in link.singles:
            assert {each.matched.text for each in single.candidates} <= names
    # A single candidate is looked up without a search. "No" and "na" are no mentions.
    for link in linker.link(sorted(name for name in names if len(name) > 3)[:20], top_k=1, **choices):
        assert link.best is not None
        assert link.best.matched.text in names


def test_an_id_outside_is_nil() -> None:
    linker = Linker(index(), restriction=Restriction.of(branch="T:000011"))
    outside, inside = linker.link(["T:000001", "T:000055"])
    assert (outside.nil, outside.candidates, outside.notes) == (True, (), ("the id of an excluded concept",))
    assert inside.best is not None
    assert inside.best.concept_id == "T:000055"
    assert not linker.link(NAMES[4 * 56]).nil


def test_the_ranker_sees_only_what_is_allowed() -> None:
    whole, part = index(), index().restricted(Restriction.of(ids=["T:000100", "T:000101"]))
    assert part.ranker == whole.ranker is not None
    link = Linker(part, top_k=5).link(NAMES[0])
    assert {each.concept_id for each in link.candidates} == {"T:000100", "T:000101"}
    assert part.encoder is not None
    assert isinstance(part.encoder, Encoder)
    assert np.isclose(sum(each.parts["ranked"] for each in link.candidates), 0, atol=1)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"branch": "T:00011"}, "the branch 'T:00011' is no concept of the index; did you mean T:0000?11"),
        ({"exclude": "T:000311"}, "the excluded id 'T:000311' is no concept.*did you mean T:000"),
        ({"exclude": "no such name"}, "the excluded id 'no such name' is no concept"),
        ({"ids": [NAMES[8]]}, r"the id .* is no concept of the index; did you mean T:000002 \("),
        ({"types": "gene"}, "no semantic type 'gene' in the vocabulary; there are: even, odd"),
        ({"branch": "T:000011", "ids": "T:000012"}, "nothing is left"),
        ({"branch": "\ud800"}, "is no concept"),
        ({"branch": ""}, "is no concept"),
    ],
)
def test_what_there_is_not_is_said(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Linker(index()).link("a", **choices)


def test_few_parts_are_kept() -> None:
    whole = index(False)
    parts = [whole.restricted(Restriction.of(ids=f"T:{number:06}")) for number in range(20)]
    assert whole.restricted(Restriction.of(ids="T:000019")) is parts[-1]
    assert whole.restricted(Restriction.of(ids="T:000000")) is not parts[0]
    with pytest.raises(InputError, match="restricted index is not written"):
        parts[0].save("anywhere")
