"""Gradient boosting: the loss it lowers, what it learns, and that it is the same each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.rank.ranker import softmax
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings, boost

FEATURES = 6
SETTINGS = BoostingSettings(trees=30, depth=3, features=1.0, questions=1.0)


class Made:
    """Questions with three to seven candidates each, of which some rule says which is right."""

    def __init__(
        self, count: int, *, seed: int, rule: Callable[[np.ndarray], np.ndarray], none: float = 0.0
    ) -> None:
        rng = np.random.default_rng(seed)
        self.counts = rng.integers(3, 8, count)
        self.starts = np.cumsum(self.counts) - self.counts
        self.numbers = rng.normal(size=(self.counts.sum(), FEATURES)).astype(np.float32)
        self.numbers[rng.random(self.numbers.shape) < 0.3] = np.nan
        self.right = np.zeros(len(self.numbers), bool)
        self.unanswerable = rng.random(count) < none
        for start, size, lacking in zip(self.starts, self.counts, self.unanswerable, strict=True):
            if not lacking:
                self.right[start + int(rule(self.numbers[start : start + size]).argmax())] = True
        self.weights = np.ones(count)

    def boost(self, settings: BoostingSettings = SETTINGS) -> Trees:
        return boost(self.numbers, self.starts, self.right, self.weights, settings)

    def padded(self, values: np.ndarray, empty: float) -> np.ndarray:
        """(Q, K)."""
        found = np.full((len(self.counts), 7), empty, values.dtype)
        found[np.arange(7) < self.counts[:, None]] = values
        return found

    def loss(self, trees: Trees) -> float:
        """Mean of minus the logarithm of the probability of what is right, no answer included."""
        chances = softmax(self.padded(trees.evaluate(self.numbers), -np.inf))
        right = (chances * self.padded(self.right, False)).sum(axis=1)
        nothing = 1 - chances.sum(axis=1)
        of_right = np.where(self.unanswerable, nothing, right)
        return float((self.weights * -np.log(of_right + 1e-9)).sum() / self.weights.sum())

    def first_right(self, trees: Trees) -> float:
        scores = self.padded(trees.evaluate(self.numbers), -np.inf)
        best = scores.argmax(axis=1)
        return float(self.padded(self.right, False)[np.arange(len(best)), best].mean())


def largest(rows: np.ndarray) -> np.ndarray:
    """The largest of one feature, of those that have it."""
    return np.nan_to_num(rows[:, 2], nan=-9)


def has_none(rows: np.ndarray) -> np.ndarray:
    """The one that lacks a feature, and of several the one with the largest other."""
    return 10 * np.isnan(rows[:, 4]) + np.nan_to_num(rows[:, 1], nan=-9)


@pytest.mark.parametrize("rule", [largest, has_none])
def test_it_learns_a_rule_and_it_holds_for_other_questions(rule: Callable[[np.ndarray], np.ndarray]) -> None:
    made, other = (Made(600, seed=seed, rule=rule) for seed in (0, 1))
    trees = made.boost(replace(SETTINGS, trees=80, rate=0.3))
    assert made.first_right(trees) > 0.9
    assert other.first_right(trees) > 0.85
    # It asks for what the rule goes by.
    asked = np.bincount(trees.features.ravel(), minlength=FEATURES)
    needed = {largest: {2}, has_none: {1, 4}}[rule]
    assert set(np.argsort(-asked)[: len(needed)].tolist()) == needed


def test_the_loss_falls_with_every_few_trees() -> None:
    made = Made(300, seed=0, rule=largest, none=0.2)
    losses = [made.loss(made.boost(replace(SETTINGS, trees=count))) for count in (0, 2, 5, 15, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.7 * losses[0]


def test_fewer_trees_are_the_first_of_more() -> None:
    made = Made(100, seed=0, rule=largest)
    few, many = (made.boost(replace(SETTINGS, trees=count, features=0.5, questions=0.5)) for count in (3, 7))
    assert few.to_dict() == {name: rows[:3] for name, rows in many.to_dict().items()}


def test_the_same_seed_gives_the_same_trees() -> None:
    made = Made(100, seed=0, rule=largest)
    settings = replace(SETTINGS, features=0.5, questions=0.6)
    one, same, other = (made.boost(replace(settings, seed=seed)).to_dict() for seed in (0, 0, 1))
    assert one == same != other


def test_questions_without_an_answer_lower_all_scores() -> None:
    some = Made(300, seed=0, rule=largest, none=0.7)
    chances = softmax(some.padded(some.boost(replace(SETTINGS, trees=100)).evaluate(some.numbers), -np.inf))
    nothing = 1 - chances.sum(axis=1)
    # What the probabilities say is how often it is so.
    assert nothing.mean() == pytest.approx(some.unanswerable.mean(), abs=0.05)


def test_questions_count_by_their_weight() -> None:
    made = Made(200, seed=0, rule=largest)
    opposed = Made(200, seed=0, rule=lambda rows: -largest(rows))
    both = Made(400, seed=0, rule=largest)
    both.numbers = np.concatenate([made.numbers, opposed.numbers])
    both.right = np.concatenate([made.right, opposed.right])
    both.starts = np.concatenate([made.starts, made.starts + len(made.numbers)])
    for heavier, lighter, weights in ((made, opposed, (9, 1)), (opposed, made, (1, 9))):
        both.weights = np.repeat(np.array(weights, float), 200)
        trees = both.boost()
        assert heavier.first_right(trees) > 0.6 > lighter.first_right(trees)


def test_a_step_is_one_of_newton_down_the_gradient_of_the_loss() -> None:
    """One tree of one level, without penalty: its leaves are minus the sums of the derivatives over curvature."""
    made = Made(40, seed=3, rule=largest, none=0.3)
    rate = 1e-3
    tree = made.boost(replace(SETTINGS, trees=1, depth=1, rate=rate, ridge=0.0))
    above = made.numbers[:, tree.features[0, 0]] > tree.thresholds[0, 0]
    scores = np.zeros(len(made.numbers))

    def loss(scores: np.ndarray) -> float:
        total = 0.0
        for start, size, lacking in zip(made.starts, made.counts, made.unanswerable, strict=True):
            exponentials = np.exp(scores[start : start + size])
            right = 1.0 if lacking else exponentials[made.right[start : start + size]].sum()
            total -= np.log(right / (1 + exponentials.sum()))
        return total

    step = 1e-5
    gradients = np.array(
        [(loss(scores + step * one) - loss(scores - step * one)) / (2 * step) for one in np.eye(len(scores))]
    )
    shares = np.repeat(1 / (1 + made.counts), made.counts)
    for side in (0, 1):
        own = above == side
        expected = -rate * gradients[own].sum() / (shares * (1 - shares))[own].sum()
        assert float(tree.values[0, side]) == pytest.approx(expected, rel=1e-3)
    # That lowers the loss, by nearly what its slope says.
    moved = tree.evaluate(made.numbers).astype(float)
    assert loss(moved) - loss(scores) == pytest.approx(float(gradients @ moved), rel=0.02)
    assert gradients @ moved < 0


def test_the_first_question_of_a_tree_is_the_best_there_is() -> None:
    made = Made(60, seed=5, rule=largest)
    tree = made.boost(replace(SETTINGS, trees=1, depth=1, rate=1e-3, ridge=1.0))

    def fall(feature: int, threshold: float) -> float:
        with np.errstate(invalid="ignore"):
            above = made.numbers[:, feature] > threshold
        shares = np.repeat(1 / (1 + made.counts), made.counts)
        gradients, curvatures = shares - made.right, shares * (1 - shares)
        return sum(gradients[own].sum() ** 2 / (curvatures[own].sum() + 1.0) for own in (above, ~above))

    best = max(
        fall(feature, threshold)
        for feature in range(FEATURES)
        for threshold in np.quantile(
            made.numbers[~np.isnan(made.numbers[:, feature]), feature], np.linspace(0, 1, 64)[1:-1]
        )
    )
    assert fall(int(tree.features[0, 0]), float(tree.thresholds[0, 0])) >= 0.999 * best


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_features_that_say_nothing_are_not_asked_for(value: float) -> None:
    made = Made(100, seed=0, rule=largest)
    made.numbers[:, [0, 5]] = value
    assert not {0, 5} & set(made.boost().features.ravel().tolist())


def test_candidates_that_are_all_alike_are_refused() -> None:
    made = Made(100, seed=0, rule=largest)
    made.numbers[:] = 1
    with pytest.raises(InputError, match="equal features: there is no order to learn"):
        made.boost()
