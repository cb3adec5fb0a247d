"""Completing what is typed: compared with a loop over all names."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.completion import Completer
from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from tests.index.small import many_names, vocabulary

NAMES = many_names(120, seed=5)

VOCABULARY = vocabulary(
    {
        "HP:01": ["Seizure", "Epileptic seizure", "Seizures"],
        "HP:02": ["Focal seizure"],
        "HP:03": ["Stature short", "Short stature"],
        "HP:10": ["Gone"],
        "HPV:1": ["Papilloma", "HP infection"],
        **{f"X:{number}": NAMES[2 * number : 2 * number + 2] for number in range(60)},
    },
    redirects={"OLD:1": "HP:01"},
    replaced={"HP:10": ["HP:02"]},
)


@cache
def built_index() -> Index:
    return Index.build(VOCABULARY, encoder=None)


@cache
def the_completer() -> Completer:
    return Completer(built_index())


def ids(text: str, limit: int = 10) -> list[str]:
    return [completion.concept_id for completion in the_completer().complete(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seiz", ["HP:01", "HP:02"]),
        ("SEIZURES", ["HP:01"]),
        ("epileptic s", ["HP:01"]),
        ("short", ["HP:03"]),
        ("stature sh", ["HP:03"]),
        ("HP:01", ["HP:01"]),
        ("hp:0", ["HP:01", "HP:02", "HP:03"]),
        ("OLD:1", ["HP:01"]),
        ("HP:10", ["HP:02"]),
        ("hp", ["HPV:1", "HP:01", "HP:02", "HP:03"]),
        ("seizure ", []),
        ("gone", []),
        ("  ", []),
        ("", []),
        ("\ud800", []),
        ("x" * 100_000, []),
    ],
)
def test_names_and_ids_are_completed(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_the_matched_name_is_told() -> None:
    [first, second] = the_completer().complete("seiz", 2)
    assert (first.concept_name, first.matched and first.matched.text) == ("Seizure", "Seizure")
    assert (second.concept_name, second.matched and second.matched.text) == ("Focal seizure", "Focal seizure")
    assert the_completer().complete("HP:01", 1)[0].matched is None


@given(
    st.sampled_from([normalise(name)[:length] for name in NAMES for length in (1, 2, 3, 5)]), st.integers(1, 200)
)
def test_all_names_with_the_beginning_are_found(text: str, limit: int) -> None:
    begun, later = set(), set()
    for concept in VOCABULARY:
        names = [normalise(name.text) for name in VOCABULARY.names(concept.id)]
        if not concept.obsolete and any(name.startswith(text) for name in names):
            begun.add(concept.id)
        elif not concept.obsolete and any(f" {text}" in name for name in names):
            later.add(concept.id)
    found = ids(text, limit)
    assert len(found) == len(set(found)) <= limit
    assert set(found[: len(begun)]) <= begun
    if limit >= len(begun) + len(later):
        assert set(found) >= begun | later
