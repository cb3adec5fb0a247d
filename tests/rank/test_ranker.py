"""The ranker by itself: scores, probabilities, and how it is kept."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import StoreError
from nymlink.index.index import Index
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker, Ranking, softmax
from nymlink.rank.trees import Trees
from tests.rank.toy import LAST_FIRST, built_index, damaged, ranked, ranker

SCORES = st.floats(-60, 60, width=32) | st.just(-math.inf)


@given(st.lists(SCORES, min_size=1, max_size=6))
def test_probabilities_are_shares_of_the_exponentials_beside_no_answer(scores: list[float]) -> None:
    [shares] = softmax(np.array([scores], np.float32)).tolist()
    total = 1 + sum(map(math.exp, scores))
    assert shares == pytest.approx([math.exp(score) / total for score in scores], abs=1e-6)
    assert sum(shares) <= 1 + 1e-6


def test_probabilities_of_extreme_scores_are_numbers() -> None:
    shares = softmax(np.array([[5000, -5000, -np.inf], [-5000, -5000, -5000], [-np.inf] * 3], np.float32))
    np.testing.assert_allclose(shares, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6)


def test_where_there_is_no_candidate_the_score_is_minus_infinity() -> None:
    described = np.full((2, 3, len(NAMES)), np.nan, np.float32)
    described[0, 0, NAMES.index("score")] = 0.9
    described[0, 1, NAMES.index("place")] = 1
    made = ranker({"score": (0.5, -1, 2)})
    assert made.scores(described).tolist() == [[2, -1, -math.inf], [-math.inf] * 3]
    assert made.scores(described[1:]).tolist() == [[-math.inf] * 3]


def test_it_is_kept_as_json() -> None:
    made = ranker(LAST_FIRST)
    kept = Ranker.from_dict(json.loads(json.dumps(made.to_dict())))
    assert kept.to_dict() == made.to_dict()
    assert kept.learned_from == "made by hand"
    assert Ranker.of(built_index()) is None
    assert Ranker.of(ranked(built_index(), LAST_FIRST)).to_dict() == made.to_dict()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 0},
        {"version": "1"},
        {"features": list(NAMES[:-1])},
        {"features": list(reversed(NAMES))},
        {"features": None},
    ],
)
def test_one_that_learned_from_other_features_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match=r"other features .* build the index again, or .*`nymlink train rank`"):
        Ranking(built_index().with_ranker(damaged(**changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"trees": None},
        {"trees": {}},
        {"trees": {"features": [[len(NAMES)]], "thresholds": [[0]], "values": [[0, 1]]}},
        {"trees": {"features": [[0]], "thresholds": [[math.nan]], "values": [[0, 1]]}},
        {"trees": {"features": [[0]], "thresholds": [["x"]], "values": [[0, 1]]}},
        {"learned_from": 3},
    ],
)
def test_a_damaged_one_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match=r"the ranker is damaged \(.*\): build the index again"):
        Ranking(built_index().with_ranker(damaged(**changes)))


@pytest.mark.parametrize("name", ["version", "features", "trees", "learned_from"])
def test_one_that_lacks_something_is_refused(name: str) -> None:
    values = damaged()
    del values[name]
    with pytest.raises(StoreError, match="again"):
        Ranking(built_index().with_ranker(values))


def test_trees_over_features_that_there_are_not_are_refused() -> None:
    trees = Trees(np.array([[len(NAMES)]]), np.zeros((1, 1), np.float32), np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match="use unknown features"):
        Ranker(trees, "")


def test_an_index_without_one_stays_as_it_is() -> None:
    assert Index.with_ranker(built_index(), None).ranker is None
