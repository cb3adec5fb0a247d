"""What every store does, whichever finds the vectors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nymlink.encode.encoder import Encoder
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.dense.exact import nearest
from nymlink.index.index import Index
from nymlink.index.stores.vector_store import StoreAddress
from tests.index.dense_samples import NAMES, QUERIES, VOCABULARY, assert_same
from tests.index.small import entries, vocabulary

Address = Callable[[str], str | None]

STORES = (
    ("ours", "exact"),
    ("faiss", "hnsw"),
    ("faiss", "ivf-pq"),
    ("postgres", "exact"),
    ("postgres", "hnsw"),
    ("milvus", "exact"),
    ("milvus", "hnsw"),
)
WIDTH = 16

pytestmark = pytest.mark.parametrize(("name", "kind"), STORES)


class Drawn:
    """An encoder whose vectors are drawn beforehand."""

    width = WIDTH

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors

    def encode(self, names: list[str], *, cache: object = None, progress: bool = False) -> np.ndarray:
        return self.vectors[: len(names)]


def drawn(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def search_of(vectors: np.ndarray, kind: str, url: str | None) -> DenseSearch:
    store = None if url is None else StoreAddress.of(url)
    texts = entries([f"n{number:04}" for number in range(len(vectors))])
    return DenseSearch.build(texts, Drawn(vectors), kind=kind, store=store)


def test_an_index_answers_as_exact_search_does(
    name: str, kind: str, address: Address, encoder: Encoder, saved: Path, tmp_path: Path
) -> None:
    built = Index.build(VOCABULARY, directory=tmp_path / "i", encoder=encoder, dense=kind, store=address(name))
    reopened = Index.load(tmp_path / "i", encoder=encoder)
    exact = Index.load(saved, encoder=encoder)
    for index in (built, reopened):
        some, true = (one.search.parts["dense"].search(QUERIES, 10) for one in (index, exact))
        shared = [len(set(a) & set(b)) for a, b in zip(some.rows.tolist(), true.rows.tolist(), strict=True)]
        assert np.mean(shared[:-2]) > (9.8 if kind != "ivf-pq" else 8)
        # Whatever is found has the score that it has in an exact search.
        np.testing.assert_array_equal(some.scores, exact.search.parts["dense"].score(QUERIES, some.rows))
        if kind == "exact":
            assert_same(index, exact)
            np.testing.assert_array_equal(some.rows, true.rows)
        else:
            assert 0.8 < index.settings["recall@20"] <= 1
    # What one process has built, another one opens by its record alone.
    assert ("store" in reopened.settings) == (address(name) is not None)


def test_ranks_are_those_of_exact_search(name: str, kind: str, address: Address) -> None:
    if kind == "ivf-pq":
        pytest.skip("codes of a quarter of a byte for a number lose more than random vectors allow")
    vectors = drawn(1500)
    search = search_of(vectors, kind, address(name))
    queries = drawn(60, seed=1)
    true = nearest(queries, search.vectors, 20)
    hits = search.search_vectors(queries, 20)
    shared = (true.rows[:, :, None] == hits.rows[:, None, :]).any(axis=2).mean()
    assert shared >= (1 if kind == "exact" else 0.97)
    if kind == "exact":
        np.testing.assert_array_equal(hits.rows, true.rows)


def test_equal_vectors_are_in_the_order_of_rows(name: str, kind: str, address: Address) -> None:
    vectors = drawn(600)
    vectors[[5, 50, 90, 300, 411]] = vectors[200]
    search = search_of(vectors, kind, address(name))
    hits = search.search_vectors(vectors[200:201], 6)
    assert hits.rows[0].tolist()[:6] == [5, 50, 90, 200, 300, 411]
    assert len(set(hits.scores[0].tolist())) == 1
    assert search.search_vectors(vectors[200:201], 2).rows.tolist() == [[5, 50]]


def test_no_query_finds_nothing_and_nothing_is_found_for_no_vector(name: str, kind: str, address: Address) -> None:
    search = search_of(drawn(600), kind, address(name))
    assert search.search_vectors(np.zeros((0, WIDTH), np.float32), 3).rows.shape == (0, 3)
    queries = np.zeros((3, WIDTH), np.float32)
    queries[1] = search.vectors[7]
    hits = search.search_vectors(queries, 3)
    assert (hits.rows[[0, 2]] == -1).all()
    assert not hits.scores[[0, 2]].any()
    assert hits.rows[1, 0] == 7


def test_more_are_asked_for_than_there_are(name: str, kind: str, address: Address) -> None:
    search = search_of(drawn(300), kind, address(name))
    for k in (300, 500, 20_000):
        hits = search.search_vectors(drawn(2, seed=1), k)
        assert hits.rows.shape == (2, k)
        # Approximate ones may not reach all.
        least = 300 if kind == "exact" or (k > 16_384 and name == "milvus") else 295
        assert ((hits.rows != -1).sum(axis=1) >= least).all()
        assert (np.diff(hits.scores[:, :least], axis=1) <= 0).all()


def test_many_clients_at_once(name: str, kind: str, address: Address) -> None:
    search = search_of(drawn(1500), kind, address(name))
    queries = drawn(96, seed=2)
    expected = search.search_vectors(queries, 5)
    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda place: search.search_vectors(queries[place : place + 1], 5), range(96)))
    np.testing.assert_array_equal(np.concatenate([hits.rows for hits in answers]), expected.rows)
    np.testing.assert_array_equal(np.concatenate([hits.scores for hits in answers]), expected.scores)


def test_indexes_beside_each_other(
    name: str, kind: str, address: Address, encoder: Encoder, tmp_path: Path
) -> None:
    store = address(name)
    other = vocabulary({f"Y:{number}": [text] for number, text in enumerate(reversed(NAMES))})
    indexes = [
        Index.build(each, directory=tmp_path / str(number), encoder=encoder, dense=kind, store=store)
        for number, each in enumerate((VOCABULARY, other, VOCABULARY))
    ]
    for index in indexes:
        hits = index.search.parts["dense"].search([f"{text} x" for text in NAMES[:20]], 3)
        exact = Index.build(index.vocabulary, encoder=encoder).search.parts["dense"]
        np.testing.assert_allclose(
            hits.scores, exact.score([f"{text} x" for text in NAMES[:20]], hits.rows), atol=1e-6
        )
        assert hits.scores.min() > 0.5
