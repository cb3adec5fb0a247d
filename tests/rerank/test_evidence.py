"""The table of evidence, against plain loops."""

from __future__ import annotations

from math import exp, isnan, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.hits import NONE
from nymlink.rerank.evidence import KNOWN, NAMES, describe, type_shares
from nymlink.rerank.scorer import CandidatePool

Candidate = dict[str, float]
Line = tuple[int, str, list[Candidate]]
"""A mention: number of its document, its type, and its candidates: their concept and what is known of them."""

NUMBERS = st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0])
SHARES = st.sampled_from([0.0, 0.125, 0.5, 1.0])
CANDIDATES = st.lists(
    st.fixed_dictionaries(
        {"concept": st.integers(0, 5), "score": SHARES},
        optional={"ranked": SHARES, "sparse": SHARES, "context": NUMBERS},
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one["concept"],
)
LINES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["Disease", "Chemical", ""]), CANDIDATES), min_size=1, max_size=5
)
TYPES = {0: ("D",), 1: ("D", "P"), 2: ("C",), 3: ("P",)}
SHARE = {"Disease": {"D": 0.75, "P": 0.25}, "Chemical": {"C": 1.0}}


def pool(lines: list[Line]) -> CandidatePool:
    shape = len(lines), max(len(candidates) for _, _, candidates in lines)
    groups: dict[tuple[int, str], int] = {}
    made = CandidatePool(
        np.full(shape, NONE),
        {name: np.full(shape, nan) for name in KNOWN},
        np.array([groups.setdefault((document, type_), len(groups)) for document, type_, _ in lines]),
        tuple(type_ for _, type_, _ in lines),
        TYPES,
    )
    for row, (_, _, candidates) in enumerate(lines):
        for place, candidate in enumerate(candidates):
            made.concepts[row, place] = candidate["concept"]
            for name, value in candidate.items():
                if name != "concept":
                    made.known[name][row, place] = value
    return made


def naive(lines: list[Line]) -> list[list[dict[str, float]]]:
    """The same by plain loops."""
    table = []
    for number, (document, type_, candidates) in enumerate(lines):
        described = []
        for place, one in enumerate(candidates):
            values = {name: one.get(name, nan) for name in KNOWN}
            values["place"] = place
            values["ranked"] = log(0.001 + one["ranked"]) if "ranked" in one else nan
            in_context = [exp(other["context"]) for other in candidates if "context" in other]
            values["share_context"] = exp(one["context"]) / sum(in_context) if "context" in one else nan
            said = [
                other.get("ranked", other["score"])
                for at, (its_document, its_type, others) in enumerate(lines)
                if at != number and (its_document, its_type) == (document, type_)
                for other in others
                if other["concept"] == one["concept"]
            ]
            values["document"] = max(said, default=0)
            shares = [SHARE.get(type_, {}).get(each, 0) for each in TYPES.get(int(one["concept"]), ())]
            values["type"] = max(shares, default=nan) if type_ in SHARE else nan
            described.append(values)
        for name in NAMES:
            kind, _, of = name.partition("_")
            for place, values in enumerate(described):
                known = [other[of] for other in described if not isnan(other[of])] if kind == "behind" else []
                others = [
                    other[of]
                    for at, other in enumerate(described)
                    if kind == "ahead" and at != place and not isnan(other[of])
                ]
                if kind in ("behind", "ahead"):
                    values[name] = values[of] - max(known or others, default=nan)
        table.append(described)
    return table


@given(LINES)
def test_the_table_is_that_of_plain_loops(lines: list[Line]) -> None:
    found = describe(pool(lines), SHARE)
    for row, described in enumerate(naive(lines)):
        for place, values in enumerate(described):
            assert found[row, place].tolist() == pytest.approx(
                [values[name] for name in NAMES], abs=1e-5, nan_ok=True
            )
        assert np.isnan(found[row, len(described) :]).all()


@given(st.lists(LINES, min_size=1, max_size=4))
def test_joined_pools_do_not_inform_each_other(documents: list[list[Line]]) -> None:
    found = describe(CandidatePool.joined([pool(lines) for lines in documents]), SHARE)
    alone = [described for lines in documents for described in describe(pool(lines), SHARE)]
    for together, own in zip(found, alone, strict=True):
        assert np.array_equal(together[: len(own)], own, equal_nan=True)
        assert np.isnan(together[len(own) :]).all()


def test_shares_of_types_are_counted_over_right_candidates() -> None:
    lines: list[Line] = [
        (0, "Disease", [{"concept": 0, "score": 1}, {"concept": 2, "score": 1}]),
        (0, "Disease", [{"concept": 1, "score": 1}]),
        (1, "Disease", [{"concept": 5, "score": 1}]),
        (1, "", [{"concept": 0, "score": 1}]),
        (1, "Chemical", [{"concept": 2, "score": 1}, {"concept": 0, "score": 1}]),
    ]
    right = np.array([[True, False], [True, False], [True, False], [True, False], [False, False]])
    # The third concept has no type, the fourth mention none; of the last no candidate is right.
    assert type_shares(pool(lines), right) == {"Disease": {"D": 1.0, "P": 0.5}}
