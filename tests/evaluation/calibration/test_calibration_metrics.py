"""The figures of confidences, each against a loop that says the same in other words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.evaluation.calibration_metrics import Reliability

twentieths = st.integers(0, 20).map(lambda number: number / 20)
outcomes = st.lists(st.tuples(twentieths, st.booleans()), min_size=1, max_size=60)
Outcomes = Sequence[tuple[float, bool]]


def reliability(pairs: Outcomes) -> Reliability:
    return Reliability.of(np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]))


def naive_bins(pairs: Outcomes, count: int) -> list[Outcomes]:
    """Cut into parts of one size; a cut among mentions of equal confidence moves up before the first of them."""
    ranked = sorted(pairs, key=lambda pair: -pair[0])
    cuts = {len(ranked)}
    for number in range(count):
        place = number * len(ranked) // count
        while place > 0 and ranked[place - 1][0] == ranked[place][0]:
            place -= 1
        cuts.add(place)
    return [ranked[start:end] for start, end in pairwise(sorted(cuts))]


@given(outcomes, st.integers(1, 12))
def test_bins_and_expected_error(pairs: Outcomes, count: int) -> None:
    measured = reliability(pairs)
    expected = naive_bins(pairs, count)
    bins = measured.bins(count)
    assert [one.mentions for one in bins] == [len(one) for one in expected]
    for one, other in zip(bins, expected, strict=True):
        assert one.confidence == pytest.approx(sum(pair[0] for pair in other) / len(other))
        assert one.right == pytest.approx(sum(pair[1] for pair in other) / len(other))
    error = 0.0
    for other in naive_bins(pairs, 10):
        error += abs(sum(pair[0] for pair in other) - sum(pair[1] for pair in other)) / len(pairs)
    assert measured.expected_error == pytest.approx(error)


@given(outcomes, st.sampled_from([0.01, 0.25, 0.5, 0.8, 0.9, 1.0]))
def test_precision_by_coverage(pairs: Outcomes, coverage: float) -> None:
    wanted = next(number for number in range(len(pairs) + 1) if number >= coverage * len(pairs))
    right, taken = 0.0, 0
    for confidence in sorted({pair[0] for pair in pairs}, reverse=True):
        equal = [pair[1] for pair in pairs if pair[0] == confidence]
        some = min(len(equal), wanted - taken)
        right += some * sum(equal) / len(equal)
        taken += some
    measured = reliability(pairs)
    assert measured.precision(coverage) == pytest.approx(right / wanted)
    assert measured.precision(1) == pytest.approx(measured.accuracy)
    assert measured.brier == pytest.approx(sum((pair[0] - pair[1]) ** 2 for pair in pairs) / len(pairs))


@given(outcomes, twentieths)
def test_above_a_threshold(pairs: Outcomes, threshold: float) -> None:
    kept = [pair[1] for pair in pairs if pair[0] >= threshold]
    coverage, precision = reliability(pairs).above(threshold)
    assert coverage == pytest.approx(len(kept) / len(pairs))
    assert precision == pytest.approx(sum(kept) / len(kept) if kept else float("nan"), nan_ok=True)


@given(outcomes)
def test_the_curve_rises_and_says_what_is_above(pairs: Outcomes) -> None:
    measured = reliability(pairs)
    curve = measured.curve()
    assert curve[0] == (0.0, pytest.approx(measured.accuracy, abs=1e-6))
    assert list(curve) == sorted(set(curve))
    assert [point[1] for point in curve] == sorted({point[1] for point in curve})
    for threshold, precision in curve[1:]:
        coverage, above = measured.above(threshold)
        assert precision == pytest.approx(above, abs=1e-6)
        assert round(coverage * len(pairs)) >= 20


def test_the_curve_finds_the_lowest_threshold_of_a_precision() -> None:
    generator = np.random.default_rng(0)
    confidences = generator.random(400).round(6)
    measured = Reliability.of(confidences, generator.random(400) < confidences)
    for wanted in (0.6, 0.7, 0.8, 0.9):
        found = next(threshold for threshold, precision in measured.curve() if precision >= wanted)
        # A hundredth is what thresholds are apart.
        for place in range(4, 400 - 20, 4):
            threshold = float(np.sort(confidences)[place])
            if measured.above(threshold)[1] >= wanted:
                assert found <= threshold
                break


def test_deserved_confidence_has_no_error() -> None:
    generator = np.random.default_rng(0)
    confidences = generator.random(20_000)
    right = generator.random(20_000) < confidences
    assert Reliability.of(confidences, right).expected_error < 0.02
    assert Reliability.of(np.sqrt(confidences), right).expected_error > 0.1


@given(st.lists(st.tuples(twentieths, st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_answers_are_told_from_none(mentions: Sequence[tuple[float, bool, bool]]) -> None:
    confidences, right, there = map(np.array, zip(*mentions, strict=True))
    measured = Reliability.of(confidences, right, there)
    pairs = [
        (mine > other) + (mine == other) / 2
        for mine, _, answerable in mentions
        if answerable
        for other, _, also in mentions
        if not also
    ]
    expected = sum(pairs) / len(pairs) if pairs else float("nan")
    assert measured.answerable_auroc == pytest.approx(expected, nan_ok=True)
    assert Reliability.of(confidences, there).right_auroc == pytest.approx(expected, nan_ok=True)
    assert np.isnan(Reliability.of(confidences, right).answerable_auroc)
