"""Searches to compare: each takes a batch of queries and returns the k best names.

Libraries are imported inside the functions: each runs in a process of its own (see ``apart.py``) and must not
carry the memory of the others. Throughput is the median of ``repeats`` passes after a warm-up.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from benchmarks.common.inputs import read_queries

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.pipeline import Pipeline

    from nymlink.index.sparse.features import SparseSettings
    from nymlink.index.sparse.tfidf import SparseVectors

_BLOCK: Final = 128
"""Queries of a block, whose similarities with all names are in memory at once."""

_SAME: Final = 1e-5
"""Cosines that differ by less are equal up to the rounding of 32-bit sums."""


def sparse(index: str, queries: str, *, count: int, k: int, repeats: int) -> dict[str, Any]:
    """Measure the sparse search of nymlink alone."""
    from nymlink.index.index import Index

    search = Index.load(index).search.parts["sparse"].search
    return _timed(lambda batch: search(batch, k), read_queries(queries, count), repeats)


def hybrid(index: str, queries: str, *, count: int, k: int, repeats: int) -> dict[str, Any]:
    """Measure all searches of a nymlink index together."""
    from nymlink.index.index import Index

    search = Index.load(index).search.search
    return _timed(lambda batch: search(batch, k), read_queries(queries, count), repeats)


def link(index: str, queries: str, *, count: int, k: int, repeats: int) -> dict[str, Any]:
    """Measure linking with nymlink: preparation, search, k distinct concepts, candidates as Python objects."""
    from nymlink.linking.linker import Linker

    return _timed(Linker.load(index, top_k=k).link, read_queries(queries, count), repeats)


def scikit_learn(
    index: str, queries: str, *, count: int, k: int, repeats: int, whole_sort: bool
) -> dict[str, Any]:
    """Measure scikit-learn's TF-IDF with the same n-grams: all similarities of a block, and the k largest of them.

    Args:
        index: index with the names and the settings of the n-grams.
        queries: file of the queries.
        count: number of queries.
        k: number of names to find.
        repeats: number of passes.
        whole_sort: ``argsort`` of all similarities instead of ``argpartition``.
    """
    import numpy as np

    pipeline, vectors = _fit_scikit(index)
    names = vectors.T.tocsc()

    def search(batch: Sequence[str]) -> None:
        for start in range(0, len(batch), _BLOCK):
            scores = (pipeline.transform(batch[start : start + _BLOCK]) @ names).toarray()
            if whole_sort:
                np.argsort(-scores, axis=1)[:, :k]
            else:
                best = np.argpartition(-scores, k, axis=1)[:, :k]
                np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1), 1)

    return _timed(search, read_queries(queries, count), repeats)


def scikit_topn(index: str, queries: str, *, count: int, k: int, repeats: int) -> dict[str, Any]:
    """Measure sparse_dot_topn on the same vectors, over all features on all cores."""
    from sparse_dot_topn import sp_matmul_topn

    pipeline, vectors = _fit_scikit(index)
    names = vectors.T.tocsr()

    def search(batch: Sequence[str]) -> None:
        sp_matmul_topn(pipeline.transform(batch), names, top_n=k, sort=True, n_threads=os.cpu_count())

    return _timed(search, read_queries(queries, count), repeats)


def rapidfuzz_extract(
    index: str, queries: str, *, count: int, k: int, repeats: int, scorer: str
) -> dict[str, Any]:
    """Measure ``process.extract`` over all names with ``fuzz.ratio`` (fastest) or ``fuzz.WRatio`` (default)."""
    from rapidfuzz import fuzz, process

    names = _names(index)

    def search(batch: Sequence[str]) -> None:
        for query in batch:
            process.extract(query, names, scorer=getattr(fuzz, scorer), limit=k)

    return _timed(search, read_queries(queries, count), repeats)


def rapidfuzz_cdist(index: str, queries: str, *, count: int, k: int, repeats: int) -> dict[str, Any]:
    """Measure ``process.cdist`` with ``fuzz.ratio`` on all cores, and the k largest."""
    import numpy as np
    from rapidfuzz import fuzz, process

    names = _names(index)

    def search(batch: Sequence[str]) -> None:
        for start in range(0, len(batch), _BLOCK):
            block = batch[start : start + _BLOCK]
            scores = process.cdist(block, names, scorer=fuzz.ratio, workers=-1, dtype=np.float32)
            best = np.argpartition(-scores, k, axis=1)[:, :k]
            np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1), axis=1), 1)

    return _timed(search, read_queries(queries, count), repeats)


def recall(index: str, queries: str, *, count: int, k: int) -> dict[str, Any]:
    """Compute the share of the k nearest names by cosine over all features that nymlink's sparse search finds.

    Where several names are as near as the kth, any of them counts. The reference is a product with all names.
    """
    import numpy as np

    from nymlink.index.index import Index
    from nymlink.index.sparse.tfidf import TfIdf, invert

    opened = Index.load(index)
    search = opened.search.parts["sparse"]
    texts = opened.entries.texts.to_pylist()
    # Queries have their words in the order in which entries have them.
    prepared = [opened.entries.searched_order(query) for query in read_queries(queries, count)]
    settings = _settings(index)
    weights = TfIdf.fit(invert(texts, settings), settings)
    names = matrix(weights.transform(texts)).T.tocsc()
    shares, firsts = [], []
    for start in range(0, len(prepared), _BLOCK):
        block = prepared[start : start + _BLOCK]
        exact = (matrix(weights.transform(block)) @ names).toarray()
        nearest = -np.sort(-exact, axis=1)[:, :k]
        rows = search.search(block, k).rows
        given = np.where(rows >= 0, np.take_along_axis(exact, np.maximum(rows, 0), 1), -1)
        # Names with no feature in common need not be found.
        wanted = (nearest > 0).sum(axis=1)
        border = nearest[np.arange(len(block)), np.maximum(wanted - 1, 0)][:, None]
        hits = np.minimum((given >= border - _SAME).sum(axis=1), wanted)
        shares += (hits[wanted > 0] / wanted[wanted > 0]).tolist()
        firsts += (given[:, 0] >= nearest[:, 0] - _SAME)[wanted > 0].tolist()
    return {"queries": len(shares), "recall": statistics.fmean(shares), "recall_1": statistics.fmean(firsts)}


def scikit_pipeline(settings: SparseSettings) -> Pipeline:
    """Build scikit-learn's vectorizer for settings of nymlink: all n-grams under one weighting and one norm."""
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    counters = {"char": settings.chars, "char_wb": settings.word_chars}
    parts = [
        (analyzer, CountVectorizer(analyzer=analyzer, ngram_range=sizes, dtype=np.float32))
        for analyzer, sizes in counters.items()
        if sizes is not None
    ]
    if settings.words:
        word = rf"(?u)\S{{{settings.shortest_word},}}"
        parts.append(("word", CountVectorizer(token_pattern=word, dtype=np.float32)))
    return Pipeline([("count", FeatureUnion(parts)), ("weigh", TfidfTransformer(sublinear_tf=settings.sublinear))])


def _fit_scikit(index: str) -> tuple[Pipeline, csr_matrix]:
    pipeline = scikit_pipeline(_settings(index))
    return pipeline, pipeline.fit_transform(_names(index))


def _settings(index: str) -> SparseSettings:
    from nymlink.index.index import Index
    from nymlink.index.sparse.features import preset

    return preset(Index.load(index).settings["sparse"])["sparse"]


def _names(index: str) -> list[str]:
    from nymlink.index.index import Index

    names: list[str] = Index.load(index).entries.texts.to_pylist()
    return names


def _timed(search: Callable[[Sequence[str]], object], queries: Sequence[str], repeats: int) -> dict[str, Any]:
    search(queries[:32])
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        search(queries)
        seconds.append(time.perf_counter() - start)
    return {"queries": len(queries), "per_second": len(queries) / statistics.median(seconds)}


def matrix(vectors: SparseVectors) -> csr_matrix:
    """Make a matrix of SciPy of the vectors of texts."""
    from scipy.sparse import csr_matrix

    shape = (len(vectors), vectors.width)
    return csr_matrix((vectors.values, vectors.places, vectors.starts), shape=shape)
