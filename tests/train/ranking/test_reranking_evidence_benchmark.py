from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.rerank.reranker import Reranker
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.fit_reranking import label_candidates
from tests.evaluation.words import Words, two_of_one_name
from tests.train.ranking.test_fit_reranking import corpus


def test_orders_are_compared_on_mentions_that_taught_them_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[str], Any]
) -> None:
    evidence = script("reranking.reranking_evidence")
    monkeypatch.setattr(evidence, "BoostingSettings", lambda: BoostingSettings(trees=20, depth=2))
    index = two_of_one_name()
    reranker = Reranker(Words(valve=(1, 0, 0), heart=(0, 1, 0)), index.vocabulary)
    given = corpus((("valve", "MI", "X:0"), ("heart", "MI", "X:1")))
    made = label_candidates(index, reranker, given)
    kept = evidence.kept(tmp_path / "toy.npz", lambda: made)
    again = evidence.kept(tmp_path / "toy.npz", lambda: None)
    for data in (kept, again):
        assert np.array_equal(data.pool.concepts, made.pool.concepts)
        assert np.array_equal(data.right, made.right)
        assert data.pool.mention_types == made.pool.mention_types
    accuracies, tests = evidence.rows({"toy": again})
    shares = {row["order"]: row["toy (80)"] for row in accuracies}
    assert shares["ranker alone"] == shares["trees without context"] == "50.0"
    assert shares["context alone"] == shares["log-linear"] == shares["trees"] == "100.0"
    assert {row["order"]: row["toy"] for row in tests}["trees"].startswith("40/0, p = ")
