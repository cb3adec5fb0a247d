"""Probabilities of candidates and what mentions tell each other, against plain loops."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.index.fusion.hits import NONE
from nymlink.rerank.log_linear import (
    CandidatePool,
    EvidenceWeights,
    Floats,
    document_support,
    join_pools,
    log_probabilities,
    total_scores,
)

Line = tuple[int, list[tuple[int, float, float]]]
"""A mention: its group, and its candidates as (concept, context, retrieval)."""

NUMBERS = st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0])
CANDIDATES = st.lists(st.tuples(st.integers(0, 5), NUMBERS, NUMBERS), min_size=1, unique_by=lambda one: one[0])
LINES = st.lists(st.tuples(st.integers(0, 2), CANDIDATES), min_size=1, max_size=6)
WEIGHTS = st.builds(
    EvidenceWeights, context=st.sampled_from([0.5, 4.0]), retrieval=NUMBERS.map(abs), document=NUMBERS.map(abs)
)


def pool(lines: list[Line]) -> CandidatePool:
    shape = len(lines), max(len(candidates) for _, candidates in lines)
    made = CandidatePool(
        np.full(shape, NONE), np.zeros(shape), np.zeros(shape), np.array([group for group, _ in lines])
    )
    for at, (_, candidates) in enumerate(lines):
        for values, column in zip(
            (made.concepts, made.context, made.retrieval), zip(*candidates, strict=True), strict=True
        ):
            values[at, : len(candidates)] = column
    return made


def computed(given: CandidatePool, weights: EvidenceWeights) -> tuple[Floats, Floats]:
    """The totals and the evidence of documents."""
    own = log_probabilities(given, weights)
    heard = document_support(given, own)
    return total_scores(own, heard, weights), heard


def naive(lines: list[Line], weights: EvidenceWeights) -> tuple[list[list[float]], list[list[float]]]:
    """The same by plain loops."""
    own: list[dict[int, float]] = []
    for _, candidates in lines:
        raw = {one: exp(weights.context * s + weights.retrieval * r) for one, s, r in candidates}
        own.append({one: value / sum(raw.values()) for one, value in raw.items()})
    evidence = [
        [
            max((own[j].get(one, 0.0) for j in range(len(lines)) if j != i and lines[j][0] == group), default=0.0)
            for one, _, _ in candidates
        ]
        for i, (group, candidates) in enumerate(lines)
    ]
    total = [
        [
            log(own[i][one]) + weights.document * log(0.01 + said)
            for (one, _, _), said in zip(lines[i][1], heard, strict=True)
        ]
        for i, heard in enumerate(evidence)
    ]
    return total, evidence


@settings(deadline=None)
@given(LINES, WEIGHTS)
def test_totals_are_those_of_plain_loops(lines: list[Line], weights: EvidenceWeights) -> None:
    given = pool(lines)
    found, heard = computed(given, weights)
    for i, (total, evidence) in enumerate(zip(*naive(lines, weights), strict=True)):
        assert found[i, : len(total)] == pytest.approx(total)
        assert found[i, len(total) :].tolist() == [-inf] * (found.shape[1] - len(total))
        assert heard[i, : len(total)] == pytest.approx(evidence)
        assert not heard[i, len(total) :].any()


@settings(deadline=None)
@given(st.lists(LINES, min_size=1, max_size=4), WEIGHTS)
def test_joined_pools_do_not_inform_each_other(documents: list[list[Line]], weights: EvidenceWeights) -> None:
    found, _ = computed(join_pools([pool(lines) for lines in documents]), weights)
    expected = [total for lines in documents for total in naive(lines, weights)[0]]
    assert [line[: len(total)].tolist() for line, total in zip(found, expected, strict=True)] == [
        pytest.approx(total) for total in expected
    ]


def test_a_mention_alone_hears_nothing() -> None:
    given = pool([(0, [(1, 0.0, 0.5), (2, 1.0, 0.4)]), (1, [(1, 0.0, 0.0)])])
    assert not computed(given, EvidenceWeights(document=1))[1].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": 0.0}, "the weight context must be above 0 and finite, not 0.0"),
        ({"retrieval": -1.0}, "the weight retrieval must be at least 0 and finite, not -1.0"),
        ({"document": inf}, "the weight document must be at least 0 and finite, not inf"),
    ],
)
def test_weights_have_their_ranges(changes: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EvidenceWeights(**changes)
