"""Joining by evidence: it depends on no order, on nothing far away, and never breaks what is ruled out."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.merge.clustering import Clusters, cluster
from nymlink.vocabulary.merge.evidence import Agreement, Evidence
from nymlink.vocabulary.merge.identifiers import Key

ROWS = 14
# Rows 0 to 13 are concepts 0 to 3 of A, B, C, and 0 and 1 of D.
KEYS: dict[int, list[Key]] = {row: [("ABCD"[row // 4], str(row % 4))] for row in range(ROWS)}


def known(one: int, other: int, confidence: float, *, denied: bool = False) -> Evidence:
    pair = (min(one, other), max(one, other))
    return Evidence(pair, ("test",), Agreement.NONE, 0.0 if denied else confidence, denied=denied)


@st.composite
def evidence(draw: st.DrawFn, rows: range = range(ROWS)) -> list[Evidence]:
    pairs = draw(st.lists(st.sampled_from(list(combinations(rows, 2))), unique=True, max_size=30))
    return [
        known(*pair, draw(st.sampled_from([0.0, 0.5, 0.9, 0.95])), denied=draw(st.integers(0, 9)) == 0)
        for pair in pairs
    ]


def parts(clusters: Clusters) -> set[tuple[int, ...]]:
    return set(clusters.members)


@given(evidence(), st.randoms())
def test_the_order_of_the_evidence_makes_no_difference(found: list[Evidence], random: object) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert cluster(shuffled, keys=KEYS) == cluster(found, keys=KEYS)


@given(evidence(range(8)), evidence(range(8, ROWS)))
def test_evidence_in_another_component_makes_no_difference(near: list[Evidence], far: list[Evidence]) -> None:
    assert parts(cluster([*near, *far], keys=KEYS)) == parts(cluster(near, keys=KEYS)) | parts(
        cluster(far, keys=KEYS)
    )


@given(evidence())
def test_nothing_that_is_ruled_out_happens_and_all_else_is_told(found: list[Evidence]) -> None:
    clusters = cluster(found, keys=KEYS)
    for members in clusters.members:
        namespaces = [KEYS[row][0][0] for row in members]
        assert len(set(namespaces)) == len(namespaces)
        assert not any(piece.denied and set(piece.pair) <= set(members) for piece in found)
    assert sorted(piece.pair for piece in (*clusters.joins, *clusters.refusals)) == sorted(
        piece.pair for piece in found
    )
    cluster_of = {row: members for members in clusters.members for row in members}
    assert all(cluster_of[one] == cluster_of[other] for one, other in (piece.pair for piece in clusters.joins))
    assert all(piece.against for piece in clusters.refusals if piece.confidence)


@given(evidence())
def test_every_refusal_of_sure_evidence_has_its_reason(found: list[Evidence]) -> None:
    """A naive twin: joining the pair on top of the result would break a rule."""
    clusters = cluster(found, keys=KEYS)
    cluster_of = {row: set(members) for members in clusters.members for row in members}
    denied = [set(piece.pair) for piece in found if piece.denied]
    for piece in clusters.refusals:
        if piece.confidence:
            union = set().union(*(cluster_of.get(row, {row}) for row in piece.pair))
            namespaces = [KEYS[row][0][0] for row in union]
            assert len(set(namespaces)) < len(namespaces) or any(pair <= union for pair in denied)


def test_of_two_claims_the_surer_holds() -> None:
    clusters = cluster([known(0, 4, 0.9), known(1, 4, 0.95)], keys=KEYS)
    assert clusters.members == ((1, 4),)
    assert clusters.refusals[0].against == "would join two concepts of A: 0 and 1"


def test_two_concepts_of_a_namespace_come_together_where_it_is_said() -> None:
    both = [frozenset((KEYS[0][0], KEYS[1][0]))]
    assert cluster([known(0, 4, 0.9), known(1, 4, 0.95)], keys=KEYS, one_concept=both).members == ((0, 1, 4),)


def test_alternate_keys_count() -> None:
    keys = {**KEYS, 0: [("A", "0"), ("B", "1")]}
    assert cluster([known(0, 4, 0.9)], keys=keys).members == ()
    assert cluster([known(0, 5, 0.9)], keys=keys).members == ((0, 5),)
