"""Sparse search finds what a dense table of all cosines would, without making one."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.hits import NONE
from nymlink.index.sparse import sparse_search as sparse
from nymlink.index.sparse.features import SparseSettings
from nymlink.index.sparse.sparse_search import SparseSearch
from tests.index import naive
from tests.index.small import entries, many_names

SETTINGS = [
    SparseSettings(chars=(1, 2)),
    SparseSettings(word_chars=(2, 3), sublinear=True),
    SparseSettings(words=True),
    SparseSettings(chars=(1, 2), word_chars=(3, 4)),
]
TEXT = st.text("ab é", min_size=1, max_size=6).map(lambda text: " ".join(text.split()))


@pytest.mark.parametrize("settings", SETTINGS)
@given(names=st.lists(TEXT.filter(bool), min_size=1), queries=st.lists(TEXT, max_size=4), k=st.integers(1, 8))
def test_finds_the_best_of_all(settings: SparseSettings, names: list[str], queries: list[str], k: int) -> None:
    known = entries(names)
    search = SparseSearch.build(known, settings)
    hits = search.search(queries, k)
    scores = naive.cosines(queries, known.texts.to_pylist(), settings)
    naive.assert_best(hits, scores, k)
    everything = np.broadcast_to(np.arange(len(known), dtype=np.int32), scores.shape)
    np.testing.assert_allclose(search.score(queries, everything), scores, atol=1e-6)


@pytest.mark.parametrize("k", [1, 10, 64, 65, 299, 300, 400])
def test_equals_at_the_border_stand_in_order_of_row(k: int) -> None:
    """More names are equally good than are fetched beyond k."""
    search = SparseSearch.build(
        entries([f"fever w{number:04}" for number in range(300)]), SparseSettings(words=True)
    )
    hits = search.search(["fever", "x", "fever w0007"], k)
    filled = min(k, 300)
    assert hits.rows[0].tolist() == [*range(filled), *[NONE] * (k - filled)]
    assert np.all(hits.rows[1] == NONE)
    others = [row for row in range(300) if row != 7]
    assert hits.rows[2, :filled].tolist() == [7, *others][:filled]


NAMES = many_names(4000, seed=1)


@pytest.fixture(scope="module")
def pruned() -> SparseSearch:
    """Of 4,000 names, features that more than 1,000 have are only searched by where a query has no others."""
    return SparseSearch.build(entries(NAMES), SparseSettings(chars=(1, 2), word_chars=(3, 4), search_share=0.01))


def test_pruning_leaves_scores_exact(pruned: SparseSearch) -> None:
    names = entries(NAMES).texts.to_pylist()
    originals = [name for name in NAMES if len(name) > 12][::200]
    queries = [name[1:] for name in originals]
    hits = pruned.search(queries, 20)
    scores = naive.cosines(queries, names, pruned.settings)
    assert np.all(hits.rows != NONE)
    np.testing.assert_allclose(hits.scores, np.take_along_axis(scores, hits.rows, 1), atol=1e-6)
    assert np.all(np.diff(hits.scores.astype(float).round(6)) <= 0)
    # And the right name is found, whatever is left out.
    assert [names[row] for row in hits.rows[:, 0]] == originals


def test_pruning_keeps_queries_that_have_common_features_only(pruned: SparseSearch) -> None:
    names = entries(NAMES).texts.to_pylist()
    naive.assert_best(pruned.search(["a", "o"], 5), naive.cosines(["a", "o"], names, pruned.settings), 5)


def test_a_small_index_is_never_pruned() -> None:
    settings = SparseSettings(chars=(1, 2), search_share=0.001)
    names = NAMES[:40]
    known = entries(names)
    queries = [name[1:] for name in names]
    hits = SparseSearch.build(known, settings).search(queries, 5)
    naive.assert_best(hits, naive.cosines(queries, known.texts.to_pylist(), settings), 5)


def test_scores_are_those_of_the_search(pruned: SparseSearch) -> None:
    queries = [name[:-1] for name in NAMES[:700]]
    hits = pruned.search(queries, 8)
    assert np.array_equal(pruned.score(queries, hits.rows), hits.scores)


def test_shards_find_what_one_finds(pruned: SparseSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_SHARD", 300)
    sharded = SparseSearch.build(entries(NAMES), pruned.settings)
    assert sum(file.endswith("postings.npy") for file in sharded.files) == 14
    assert np.array_equal(sharded.weights.hashes, pruned.weights.hashes)
    assert np.array_equal(sharded.weights.frequencies, pruned.weights.frequencies)
    queries = [*(name[:-1] for name in NAMES[:200]), "", "a", " ".join(NAMES[:300])]
    for k in (1, 20, 500):
        one, many = pruned.search(queries, k), sharded.search(queries, k)
        assert np.array_equal(one.rows, many.rows)
        np.testing.assert_allclose(one.scores, many.scores, atol=1e-6)


def test_a_sample_of_the_features_finds_nearly_all(pruned: SparseSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = [name[1:] for name in NAMES if len(name) > 12][:100]
    whole = pruned.search(queries, 10)
    monkeypatch.setattr(sparse, "_BUDGET", 2000)
    sampled = pruned.search(queries, 10)
    # What is found has its exact score; the tenth best is rarely missed.
    assert np.array_equal(pruned.score(queries, sampled.rows), sampled.scores)
    assert np.array_equal(whole.rows[:, 0], sampled.rows[:, 0])
    assert 0.8 < np.mean(sampled.scores[:, 9] >= whole.scores[:, 9] - 1e-6) < 1


def test_saved_and_loaded_it_finds_the_same(pruned: SparseSearch, tmp_path: Path) -> None:
    pruned.save(tmp_path / "sparse")
    loaded = SparseSearch.load(tmp_path / "sparse", entries(NAMES))
    assert loaded.settings == pruned.settings
    queries = [name[:-1] for name in NAMES[:100]]
    before, after = pruned.search(queries, 10), loaded.search(queries, 10)
    assert np.array_equal(before.rows, after.rows)
    assert np.array_equal(before.scores, after.scores)
    assert not list(tmp_path.rglob("*.pkl"))


@pytest.mark.large
def test_memory_stays_far_below_a_table_of_all_scores() -> None:
    names = many_names(20_000)
    search = SparseSearch.build(entries(names), SparseSettings(chars=(1, 2)))
    queries = [name[1:] for name in names[:1024]]
    tracemalloc.start()
    try:
        search.search(queries, 5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    table = len(queries) * len(names) * np.dtype(np.float32).itemsize
    assert peak < table / 5


def test_memory_does_not_multiply_long_queries_by_what_they_find(
    pruned: SparseSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One thread: whether the peaks of two coincide is chance.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    queries = [" ".join(NAMES[start : start + 500]) for start in range(0, 3200, 100)]
    tracemalloc.start()
    try:
        pruned.search(queries, 5)
        base = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        pruned.search(queries, 400)
        deep = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert deep < base * 3
