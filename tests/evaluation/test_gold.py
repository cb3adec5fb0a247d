"""Gold ids however they are written."""

from __future__ import annotations

import pytest

from nymlink.evaluation.outcomes import GoldResolver
from tests.index.small import vocabulary

PREFIXED = vocabulary(
    {"MESH:D1": ["a"], "MESH:D2": ["b"], "OMIM:100": ["c"], "MESH:100": ["d"], "MESH:old": ["e"]},
    redirects={"DO:5": "MESH:D1", "DO:6": "MESH:D1", "MESH:D9": "MESH:D2"},
    replaced={"MESH:old": ["MESH:D2"]},
)
BARE = vocabulary({"D1": ["a"], "100": ["b"]}, redirects={"200": "D1"})


@pytest.mark.parametrize(
    ("gold_id", "expected"),
    [
        ("MESH:D1", {"MESH:D1"}),
        ("mesh:D1", {"MESH:D1"}),
        ("D1", {"MESH:D1"}),
        ("MESH:D9", {"MESH:D2"}),
        ("D9", {"MESH:D2"}),
        ("DO:5", {"MESH:D1"}),
        ("5", {"MESH:D1"}),
        ("do:5", {"MESH:D1"}),
        ("MESH:old", {"MESH:D2"}),
        ("old", {"MESH:D2"}),
        ("OMIM:100", {"OMIM:100"}),
        ("omim:100", {"OMIM:100"}),
        ("100", set()),  # two prefixes know it
        ("OMIM:D1", set()),  # another prefix than it is known by
        ("UMLS:D1", set()),
        ("", set()),
        (":", set()),
        ("MESH:", set()),
        ("D1 ", {"MESH:D1"}),
    ],
)
def test_a_vocabulary_with_prefixes(gold_id: str, expected: set[str]) -> None:
    assert {PREFIXED.concept_id(row) for row in GoldResolver(PREFIXED).rows([gold_id])} == expected


@pytest.mark.parametrize(
    ("gold_id", "expected"),
    [
        ("D1", {"D1"}),
        ("MESH:D1", {"D1"}),
        ("OMIM:100", {"100"}),
        ("OMIM:200", {"D1"}),
        ("X", set()),
        ("d1", set()),
    ],
)
def test_a_vocabulary_without(gold_id: str, expected: set[str]) -> None:
    assert {BARE.concept_id(row) for row in GoldResolver(BARE).rows([gold_id])} == expected


def test_several_ids_stand_for_all_their_concepts() -> None:
    resolver = GoldResolver(BARE)
    assert resolver.rows(["MESH:D1", "100", "unknown"]) == resolver.rows(["200", "OMIM:100"])
    assert len(resolver.rows(["D1", "100"])) == 2
    assert resolver.rows([]) == frozenset()
