"""Hybrid search against its own definition in plain loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import StoreError
from nymlink.index.fusion import HybridSearch
from nymlink.index.hits import NONE, Hits
from tests.index.fixed import FixedSearch

# Eighths and weights whose sums are powers of two: every sum is exact, and ties are frequent.
SCORE = st.integers(-8, 8).map(lambda value: value / 8)
TABLE = st.dictionaries(st.integers(0, 9), SCORE, max_size=8)
QUERIES = ("p", "q", "r")
PART = st.fixed_dictionaries(dict.fromkeys(QUERIES, TABLE))
MANY = 16
WEIGHTS = st.sampled_from([(1, 1, 2), (1, 3, 0), (0, 0, 1), (2, 1, 1), (4, 8, 4)])


def naive_hybrid(
    parts: Mapping[str, Mapping[int, float]], weights: Mapping[str, float], k: int
) -> list[tuple[int, float, dict[str, float]]]:
    found: set[int] = set()
    for table in parts.values():
        found.update(sorted(table, key=lambda row: (-table[row], row))[:k])
    whole = sum(weights.values())
    lines = []
    for row in found:
        scores = {name: table.get(row, 0.0) for name, table in parts.items()}
        total = sum(weights[name] / whole * score for name, score in scores.items())
        lines.append((row, total, scores))
    return sorted(lines, key=lambda line: (-line[1], line[0]))[:k]


@given(first=PART, second=PART, third=PART, weights=WEIGHTS, k=st.integers(1, 12))
def test_is_the_weighted_mean_over_all_that_any_part_finds(
    first: dict[str, dict[int, float]],
    second: dict[str, dict[int, float]],
    third: dict[str, dict[int, float]],
    weights: tuple[float, float, float],
    k: int,
) -> None:
    tables = {"first": first, "second": second, "third": third}
    weighted = dict(zip(tables, weights, strict=True))
    search = HybridSearch({name: FixedSearch(table) for name, table in tables.items()}, weighted)
    found = search.search(QUERIES, k)
    assert found.hits.rows.shape == (3, k)
    for place, query in enumerate(QUERIES):
        expected = naive_hybrid({name: table[query] for name, table in tables.items()}, weighted, k)
        padding = [0.0] * (k - len(expected))
        assert found.hits.rows[place].tolist() == [row for row, _, _ in expected] + [NONE] * len(padding)
        assert found.hits.scores[place].tolist() == [total for _, total, _ in expected] + padding
        for name, scores in found.parts.items():
            assert scores[place].tolist() == [parts[name] for _, _, parts in expected] + padding


def test_parts_explain_the_score() -> None:
    search = HybridSearch(
        {"sparse": FixedSearch({"q": {3: 1.0}}), "dense": FixedSearch({"q": {3: 0.5, 5: -0.25}})},
        {"sparse": 1, "dense": 3},
    )
    assert dict(search.weights) == {"sparse": 0.25, "dense": 0.75}
    found = search.search(["q"], 2)
    assert found.hits.rows.tolist() == [[3, 5]]
    assert found.hits.scores.tolist() == [[0.25 + 0.375, -0.1875]]
    assert {name: scores.tolist() for name, scores in found.parts.items()} == {
        "sparse": [[1, 0]],
        "dense": [[0.5, -0.25]],
    }


def test_an_equal_name_has_score_1_in_every_search() -> None:
    search = HybridSearch(
        {"exact": FixedSearch({"q": {3: 1.0}}), "dense": FixedSearch({"q": {3: 0.999, 5: 0.5}})},
        {"exact": 1, "dense": 3},
    )
    found = search.search(["q"], 2)
    assert found.hits.scores.tolist() == [[1, 0.375]]
    assert found.parts["dense"].tolist() == [[1, 0.5]]


class Meeting(FixedSearch):
    """Finds nothing until another search does the same."""

    def __init__(self, meeting: Barrier) -> None:
        super().__init__({"q": {}})
        self._meeting = meeting

    def search(self, queries: Sequence[str], k: int) -> Hits:
        self._meeting.wait(timeout=60)
        return super().search(queries, k)


class Broken(FixedSearch):
    def search(self, queries: Sequence[str], k: int) -> Hits:
        raise StoreError("the index is damaged")


def test_parts_search_for_many_queries_at_the_same_time() -> None:
    meeting = Barrier(2)
    found = HybridSearch({"a": Meeting(meeting), "b": Meeting(meeting)}, {"a": 1, "b": 1}).search(["q"] * MANY, 2)
    assert (found.hits.rows == NONE).all()


@pytest.mark.parametrize("queries", [1, MANY])
def test_an_error_of_a_part_is_raised(queries: int) -> None:
    search = HybridSearch({"a": FixedSearch({"q": {}}), "b": Broken({})}, {"a": 1, "b": 1})
    with pytest.raises(StoreError, match="damaged"):
        search.search(["q"] * queries, 2)


@given(first=PART, second=PART, k=st.integers(1, 12))
def test_many_queries_find_what_each_finds(
    first: dict[str, dict[int, float]], second: dict[str, dict[int, float]], k: int
) -> None:
    search = HybridSearch({"first": FixedSearch(first), "second": FixedSearch(second)}, {"first": 1, "second": 3})
    few, many = search.search(QUERIES, k), search.search(QUERIES * MANY, k)
    assert np.array_equal(many.hits.rows, np.tile(few.hits.rows, (MANY, 1)))
    assert np.array_equal(many.hits.scores, np.tile(few.hits.scores, (MANY, 1)))


def test_no_queries() -> None:
    found = HybridSearch({"a": FixedSearch({})}, {"a": 1}).search([], 4)
    assert found.hits.rows.shape == found.parts["a"].shape == (0, 4)


def test_nothing_found() -> None:
    search = HybridSearch({"a": FixedSearch({"q": {}}), "b": FixedSearch({"q": {}})}, {"a": 1, "b": 1})
    found = search.search(["q"], 2)
    assert (found.hits.rows == NONE).all()
    assert not found.hits.scores.any()
    assert not any(scores.any() for scores in found.parts.values())


@pytest.mark.parametrize("weights", [{"a": -1.0, "b": 2.0}, {"a": 0, "b": 0}, {"a": 1}, {"a": 1, "b": 1, "c": 1}])
def test_weights_that_make_no_sense_are_refused(weights: dict[str, float]) -> None:
    parts = {"a": FixedSearch({}), "b": FixedSearch({})}
    with pytest.raises(ValueError, match="weights"):
        HybridSearch(parts, weights)
