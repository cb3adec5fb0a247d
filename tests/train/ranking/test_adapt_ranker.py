"""A ranker adapted to a few questions: only where that proves better on questions that were left out."""

from __future__ import annotations

import numpy as np
import pytest

from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.fit_ranker import adapt_ranker
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

SCORE = NAMES.index("score")
KIND = NAMES.index("kind")


def by_score() -> Ranker:
    """A ranker of one tree: candidates with a score above a half come first."""
    return Ranker(
        Trees(np.array([[SCORE]]), np.array([[0.5]], np.float32), np.array([[-2, 2]], np.float32)), "a score"
    )


def questions(count: int, *, telling: bool, seed: int = 0) -> LabelledQuestions:
    """Two candidates; the score speaks for the first. The right one is told by its kind, or by nothing."""
    rng = np.random.default_rng(seed)
    described = np.full((count, 20, len(NAMES)), np.nan, np.float32)
    described[:, :2] = rng.random((count, 2, len(NAMES)), np.float32)
    described[:, 0, SCORE], described[:, 1, SCORE] = 0.9, 0.1
    second = rng.random(count) < 0.4
    right = np.zeros((count, 20), bool)
    right[np.arange(count), second.astype(int)] = True
    if telling:
        described[:, :2, KIND] = np.where(right[:, :2], 0.0, 1.0)
    return LabelledQuestions(described, right, np.ones(count))


def folds(count: int) -> np.ndarray:
    return np.arange(count) % 5


def test_trees_are_added_where_they_put_more_right_candidates_first() -> None:
    asked = questions(200, telling=True)
    found = adapt_ranker(by_score(), asked, folds(200))
    assert found.trees is not None
    assert found.before == pytest.approx(asked.right[:, 0].mean())
    assert found.after > found.before + 0.2
    adapted = by_score().with_trees(found.trees, "decisions")
    other = questions(100, telling=True, seed=1)
    first = adapted.scores(other.described).argmax(axis=1)
    assert other.right[np.arange(100), first].mean() > 0.9
    assert adapted.learned_from == "a score; decisions"


def test_a_ranker_stays_as_it_is_where_nothing_is_to_be_learned() -> None:
    for seed in range(3):
        asked = questions(60, telling=False, seed=seed)
        found = adapt_ranker(by_score(), asked, folds(60))
        assert found.trees is None
        assert found.after == found.before
        assert np.array_equal(found.scores, by_score().scores(asked.described))
    alike = LabelledQuestions(np.zeros((40, 20, len(NAMES)), np.float32), np.eye(40, 20, dtype=bool), np.ones(40))
    assert adapt_ranker(by_score(), alike, folds(40)).trees is None


def test_scores_of_questions_are_by_trees_that_did_not_learn_from_them() -> None:
    asked = questions(100, telling=True)
    found = adapt_ranker(by_score(), asked, folds(100))
    assert found.trees is not None
    base = by_score().scores(asked.described)
    everything = base + np.where(np.isfinite(base), Ranker(found.trees, "").scores(asked.described), 0)
    there = np.isfinite(base)
    assert not np.allclose(found.scores[there], everything[there])
    assert np.array_equal(np.isfinite(found.scores), there)


def test_boosting_goes_on_from_scores() -> None:
    asked = questions(120, telling=True)
    settings = BoostingSettings(trees=5, depth=2, rate=0.3, questions=1.0, features=1.0)
    flat = learn_trees(asked, settings)
    from_zero = learn_trees(asked, settings, start=np.zeros((120, 20), np.float32))
    assert np.array_equal(flat.values, from_zero.values)
    # Of what is right already there is little to learn.
    known = np.where(asked.right, 8.0, -8.0).astype(np.float32)
    assert np.abs(learn_trees(asked, settings, start=known).values).max() < 0.01 * np.abs(flat.values).max()
