"""Orders on their way to JSON and back, what they say of candidates, and what is refused."""

from __future__ import annotations

import json
from math import log
from typing import Any

import numpy as np
import pytest

from nymlink.rank.trees import Trees
from nymlink.rerank.evidence import NAMES, LearnedOrder, describe
from tests.rerank.orders import order
from tests.rerank.test_evidence import SHARE, Line, pool

LINES: list[Line] = [
    (0, "Disease", [{"concept": 0, "score": 1, "context": -3}, {"concept": 2, "score": 0.5, "context": -1}]),
    (0, "Disease", [{"concept": 2, "score": 0.75}]),
]
MADE = order({"context": (-2, 0, 2), "type": (0.5, 0, 1), "document": (0.5, 0, 4), "score": (0, 0, 3)}, SHARE)


def test_scores_are_sums_of_what_the_evidence_gives() -> None:
    assert MADE.scores(pool(LINES)).tolist() == [[4, 9], [3, -np.inf]]


def test_an_order_corrects_what_the_ranker_says() -> None:
    told: list[Line] = [
        (0, "", [{"concept": 0, "score": 1, "ranked": 0.5}, {"concept": 2, "score": 0.5, "ranked": 0.25}])
    ]
    made = order({"score": (0.75, 1, 0)})
    first, second = made.scores(pool(told))[0].tolist()
    assert first == pytest.approx(log(0.501 / 0.251), abs=1e-6)
    assert second == pytest.approx(1, abs=1e-6)
    reasons = made.reasons(pool(told), 0, 0, 1)
    assert {reason.feature.name: reason.moved for reason in reasons} == pytest.approx(
        {"score": -1, "ranked": log(0.501 / 0.251)}, abs=1e-5
    )


def test_reasons_say_what_moved_one_before_the_other() -> None:
    reasons = MADE.reasons(pool(LINES), 0, 1, 0)
    assert [(reason.feature.name, reason.first, reason.second, reason.moved) for reason in reasons] == [
        ("document", 0.75, 0, 4),
        ("context", -1, -3, 2),
        ("type", 0, 0.75, -1),
    ]
    assert sum(reason.moved for reason in reasons) == 9 - 4


def test_an_order_is_plain_json() -> None:
    again = LearnedOrder.from_dict(json.loads(json.dumps(MADE.to_dict())))
    assert again.to_dict() == MADE.to_dict()
    assert np.array_equal(again.scores(pool(LINES)), MADE.scores(pool(LINES)))
    assert np.array_equal(describe(pool(LINES), again.types), describe(pool(LINES), SHARE), equal_nan=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 0}, "learned from other evidence"),
        ({"features": ["context"]}, "learned from other evidence"),
        ({"trees": None}, "'trees' is None"),
        ({"types": {"Disease": {"D": 2}}}, "shares of types must be numbers from 0 to 1"),
        ({"types": {"Disease": {"D": "x"}}}, "shares of types must be numbers from 0 to 1"),
        ({"types": {"Disease": 1}}, "'Disease' is 1"),
        ({"learned_from": 3}, "'learned_from' is 3"),
    ],
)
def test_a_damaged_order_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LearnedOrder.from_dict(MADE.to_dict() | changes)


def test_trees_ask_for_evidence_that_there_is() -> None:
    trees = Trees(np.array([[len(NAMES)]]), np.zeros((1, 1), np.float32), np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match="use unknown evidence"):
        LearnedOrder(trees, {}, "")
