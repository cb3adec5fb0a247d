"""Our preparation of the raw corpora against the published prepared queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("linking.preparation_agreement")


@pytest.mark.parametrize(
    ("number", "mentions"),
    [
        pytest.param(number, mentions, marks=[pytest.mark.large] if mentions > 1000 else [])
        for number, mentions in enumerate([5134, 787, 960, 4131, 4178])
    ],
    ids=["ncbi", "ncbi-d", "ncbi-t", "bc5", "bc5-d"],
)
def test_at_least_98_percent_equal_the_published_queries(
    benchmark: ModuleType, data: Path, number: int, mentions: int
) -> None:
    split = benchmark.SPLITS[number]
    agreement = benchmark.compare(split, data, as_published=True)
    assert agreement.published == mentions
    # Every published query has a mention of ours at its place.
    assert all(raw for _, raw, _, _ in agreement.differing)
    assert agreement.percent >= 98
