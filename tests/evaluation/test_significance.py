"""How sure a figure is."""

from __future__ import annotations

from functools import cached_property
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.outcomes import accuracy, as_array, mean_reciprocal_rank
from nymlink.evaluation.significance import bootstrap_interval, compare, is_gain, mcnemar
from nymlink.index.index import Index
from tests.index.small import vocabulary


def mentions(right: int, of: int) -> np.ndarray:
    return np.arange(of) < right


class TestBootstrap:
    @given(
        correct=st.lists(st.booleans(), min_size=1, max_size=40),
        groups=st.lists(st.sampled_from("abcdef"), min_size=40, max_size=40),
        seed=st.integers(0, 5),
    )
    def test_holds_what_is_possible(self, correct: list[bool], groups: list[str], seed: int) -> None:
        right = np.array(correct)
        low, high = bootstrap_interval(right, groups[: len(right)], resamples=200, seed=seed)
        assert 0 <= low <= high <= 1
        if right.all() or not right.any():
            assert low == high == right.mean()
        assert (low, high) == bootstrap_interval(right, groups[: len(right)], resamples=200, seed=seed)

    def test_agrees_with_the_normal_approximation(self) -> None:
        low, high = bootstrap_interval(mentions(320, 400), [str(number) for number in range(400)])
        half = 1.96 * (0.8 * 0.2 / 400) ** 0.5
        assert (low, high) == pytest.approx((0.8 - half, 0.8 + half), abs=0.006)

    def test_mentions_of_one_document_are_not_independent(self) -> None:
        correct = np.repeat(mentions(20, 40), 10)
        alone = bootstrap_interval(correct, [str(number) for number in range(400)])
        together = bootstrap_interval(correct, [str(number // 10) for number in range(400)])
        assert together[1] - together[0] == pytest.approx(10**0.5 * (alone[1] - alone[0]), rel=0.1)

    def test_mentions_are_drawn_where_there_is_one_document(self) -> None:
        separate = bootstrap_interval(mentions(30, 60), [str(number) for number in range(60)])
        assert bootstrap_interval(mentions(30, 60), [""] * 60) == pytest.approx(separate, abs=0.04)

    def test_a_higher_level_is_wider(self) -> None:
        groups = [str(number) for number in range(200)]
        inner = bootstrap_interval(mentions(100, 200), groups, level=0.5)
        outer = bootstrap_interval(mentions(100, 200), groups, level=0.99)
        assert outer[0] < inner[0] < 0.5 < inner[1] < outer[1]

    def test_nothing(self) -> None:
        assert np.isnan(bootstrap_interval(np.zeros(0, bool), [])).all()


class TestMcNemar:
    @pytest.mark.parametrize(
        ("only_first", "only_second", "p_value"),
        # Twice the smaller tail of a fair coin: 2 (1 + 10) / 2¹⁰ for one of ten.
        [
            (0, 0, 1),
            (1, 9, 22 / 1024),
            (9, 1, 22 / 1024),
            (0, 5, 2 / 32),
            (5, 5, 1),
            (3, 4, 1),
            (2, 8, 112 / 1024),
        ],
    )
    def test_by_hand(self, only_first: int, only_second: int, p_value: float) -> None:
        first = np.array([True] * only_first + [False] * only_second + [True] * 4 + [False] * 3)
        second = np.array([False] * only_first + [True] * only_second + [True] * 4 + [False] * 3)
        found = mcnemar(first, second)
        assert (found.only_first, found.only_second) == (only_first, only_second)
        assert found.p_value == pytest.approx(p_value)

    @given(only_first=st.integers(0, 30), only_second=st.integers(0, 30))
    def test_is_the_exact_binomial_test(self, only_first: int, only_second: int) -> None:
        first = np.array([True] * only_first + [False] * only_second, bool)
        total = only_first + only_second
        tail = sum(comb(total, count) for count in range(min(only_first, only_second) + 1))
        assert mcnemar(first, ~first).p_value == pytest.approx(min(1, 2 * tail / 2**total))

    def test_runs_over_different_mentions_are_refused(self) -> None:
        with pytest.raises(ValueError, match="different mentions"):
            mcnemar(np.ones(3, bool), np.ones(4, bool))


def test_metrics() -> None:
    ranks = as_array([0, 3, None, 1])
    assert [accuracy(ranks, k) for k in (1, 2, 4, 64)] == [0.25, 0.5, 0.75, 0.75]
    assert mean_reciprocal_rank(ranks) == pytest.approx((1 + 1 / 4 + 0 + 1 / 2) / 4)
    assert np.isnan([accuracy(as_array([]), 1), mean_reciprocal_rank(as_array([]))]).all()


class TestCompare:
    @cached_property
    def index(self) -> Index:
        return Index.build(vocabulary({"D:1": ["heart attack"], "D:2": ["stroke"], "D:3": ["gout"]}), encoder=None)

    @cached_property
    def exact(self) -> Index:
        return Index.build(self.index.vocabulary, sparse="none", encoder=None)

    def run(self, index: Index, *texts: str, gold: str = "D:1", offsets: bool = False) -> dict[str, object]:
        found = tuple(
            Mention(text, *((number, number + 1) if offsets else (None, None)), concept_ids=(gold,))
            for number, text in enumerate(texts)
        )
        return evaluate(index, Corpus("c", (Document("1", mentions=found),))).to_dict()

    def test_two_runs(self) -> None:
        texts = ["heart attack", "a heart attack", "heart attack today", "heart attacking", "gout"]
        found = compare(self.run(self.index, *texts), self.run(self.exact, *texts))
        assert found.keys() == {"acc@1", "concept_acc@1"}
        assert (found["acc@1"].only_first, found["acc@1"].only_second) == (3, 0)
        assert found["acc@1"].p_value == pytest.approx(0.25)
        assert found["acc@1"].to_dict() == {"only_first": 3, "only_second": 0, "p_value": pytest.approx(0.25)}

    def test_different_mentions_are_refused(self) -> None:
        run = self.run(self.index, "heart attack", "stroke")
        others = [
            self.run(self.index, "heart attack"),
            self.run(self.index, "stroke", "heart attack"),
            self.run(self.index, "heart attack", "gout"),
            self.run(self.index, "heart attack", "stroke", gold="D:2"),
            self.run(self.index, "heart attack", "stroke", offsets=True),
        ]
        for other in others:
            with pytest.raises(InputError, match="different mentions"):
                compare(run, other)

    def test_a_mention_that_has_a_place_may_be_written_differently(self) -> None:
        """Raw and prepared forms of one corpus are the same mentions."""
        first = self.run(self.index, "heart attack", "stroke", offsets=True)
        second = self.run(self.index, "Heart Attack", "CVA", offsets=True)
        assert compare(first, second)["acc@1"].only_first == 0

    @pytest.mark.parametrize(
        "other",
        [
            {},
            [],
            {"mentions": {}},
            {"mentions": 3},
            {"mentions": {"fingerprint": "?", "name_ranks": [], "concept_ranks": []}},
        ],
    )
    def test_what_is_no_run_is_refused(self, other: object) -> None:
        with pytest.raises(InputError):
            compare(self.run(self.index, "gout"), other)  # type: ignore[arg-type]

    def test_ranks_that_do_not_fit_are_refused(self) -> None:
        run = self.run(self.index, "gout")
        broken = {"mentions": {**run["mentions"], "name_ranks": [0, 1]}}  # type: ignore[dict-item]
        with pytest.raises(InputError):
            compare(run, broken)


def test_a_gain_is_more_than_twice_its_standard_error() -> None:
    assert is_gain(np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0]))
    assert not is_gain(np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]))
    assert not is_gain(np.array([1.0, -1.0, 1.0, -1.0, 1.0]))
    assert not is_gain(np.zeros(10))


@pytest.mark.parametrize(
    ("only_first", "only_second"), [(1, 0), (3, 3), (10, 2), (40, 61), (900, 1100), (3000, 9000)]
)
def test_mcnemar_is_the_binomial_test(only_first: int, only_second: int) -> None:
    first = np.arange(only_first + only_second) < only_first
    expected = binomtest(only_first, only_first + only_second, 0.5).pvalue
    assert mcnemar(first, ~first).p_value == pytest.approx(expected, rel=1e-9, abs=1e-300)
