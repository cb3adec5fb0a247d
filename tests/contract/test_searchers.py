"""What every search must do, whatever it searches by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec

import numpy as np
import pytest
from tests.index.small import entries, many_names

from nymlink.core.store.arrays import Bools, Vectors
from nymlink.index.dense import exact as int8_codes
from nymlink.index.dense.approximate import KINDS
from nymlink.index.dense.dense_search import DenseSearch
from nymlink.index.fusion import EXACT_MATCH, ExactSearch, HybridSearch
from nymlink.index.hits import NONE, Hits, NameSearcher, Rows, Scores, Searcher
from nymlink.index.sparse.features import PRESETS
from nymlink.index.sparse.sparse_search import SparseSearch

ENTRIES = entries(
    [
        *many_names(1500),
        *"abc",
        "心筋梗塞",
        "心筋",
        "نوبة قلبية",
        "התקף לב",
        "🫀 attack",
        "🫀",
        "𝔞𝔟",
        "a b",
        "b a",
        "naïve",
    ]
)
NAMES = ENTRIES.texts.to_pylist()
ROWS = np.array(
    [row for row, name in enumerate(NAMES) if row % 5 == 0 or len(name) < 4 or not name.isascii()], np.int32
)
"""Every fifth entry, and all that are short or in another script."""

SOME = [NAMES[row] for row in ROWS]
QUERIES = [
    "",
    " ",
    "   ",
    *NAMES[::300],
    *(name[1:] for name in NAMES[::300]),
    "心筋梗",
    "نوبة",
    "לב",
    "🫀",
    "🫀🫀 atack",
    "𝔞",
    "\ud800 a",
    "\0",
    "a\tb\n",
    "~",
    " ".join(NAMES)[:10_000],
    "a" * 10_000,
]


class _OnlyHits:
    """A hybrid search as a search like any other."""

    def __init__(self, search: HybridSearch) -> None:
        self._search = search

    def search(self, queries: Sequence[str], k: int) -> Hits:
        return self._search.search(queries, k).hits

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        parts = self._search.parts
        scores = [self._search.weights[name] * part.score(queries, rows) for name, part in parts.items()]
        # An equal name has score 1 in every search.
        equal = parts[EXACT_MATCH].score(queries, rows) == 1
        return np.where(equal, np.float32(1), np.sum(scores, axis=0, dtype=np.float32))


class _WithCodes:
    """A search whose codes are used however little they rule out."""

    def __init__(self, search: NameSearcher) -> None:
        self._search = search

    def search(self, queries: Sequence[str], k: int) -> Hits:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (("_ENTRIES", 64), ("_SHARE", 1), ("_GROUP", 2)):
                patch.setattr(int8_codes, name, value)
            return self._search.search(queries, k)

    def restricted(self, allowed: Bools) -> _WithCodes:
        return _WithCodes(self._search.restricted(allowed))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        return self._search.score(queries, rows)


_WIDTH = 64


@cache
def _trigram_vector(letters: bytes) -> Vectors:
    return np.random.default_rng(list(letters)).standard_normal(_WIDTH)


class _Trigrams:
    """An encoder that knows three letters at a time."""

    width = _WIDTH

    def encode(self, names: Sequence[str], *, cache: object = None, progress: bool = False) -> Vectors:
        vectors = np.zeros((len(names), self.width), np.float32)
        for row, name in enumerate(names):
            padded = f"  {name} ".encode("utf-8", "surrogatepass")
            for start in range(len(padded) - 2):
                vectors[row] += _trigram_vector(padded[start : start + 3])
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _with_codes() -> Searcher:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(int8_codes, "_ENTRIES", 64)
        return _WithCodes(DenseSearch.build(ENTRIES, _Trigrams()))


def _hybrid(preset: str) -> Searcher:
    parts = {part: search_of(f"{preset} {part}") for part in PRESETS[preset]} | {"exact": search_of("exact")}
    return _OnlyHits(HybridSearch(parts, dict.fromkeys(parts, 1.0)))


BUILDERS: dict[str, Callable[[], Searcher]] = {
    "exact": partial(ExactSearch, ENTRIES),
    **{
        f"dense {kind}": partial(DenseSearch.build, ENTRIES, _Trigrams(), kind=kind)
        for kind in ("exact", *(KINDS if find_spec("faiss") else ()))
    },
    "dense codes": _with_codes,
    **{
        f"{preset} {part}": partial(SparseSearch.build, ENTRIES, own)
        for preset, settings in PRESETS.items()
        for part, own in settings.items()
    },
    **{f"{preset} hybrid": partial(_hybrid, preset) for preset in PRESETS},
}


@cache
def search_of(name: str) -> Searcher:
    return BUILDERS[name]()


@pytest.fixture(params=BUILDERS)
def search(request: pytest.FixtureRequest) -> Searcher:
    return search_of(request.param)


def assert_promised(hits: Hits, queries: int, k: int) -> None:
    assert hits.rows.shape == hits.scores.shape == (queries, k)
    assert (hits.rows.dtype, hits.scores.dtype) == (np.int32, np.float32)
    assert np.isfinite(hits.scores).all()
    for rows, scores in zip(hits.rows, hits.scores, strict=True):
        found = rows != NONE
        count = int(found.sum())
        assert found[:count].all()
        assert not scores[count:].any()
        assert len(set(rows[:count].tolist())) == count
        assert ((rows[:count] >= 0) & (rows[:count] < len(ENTRIES))).all()
        rounded = scores[:count].astype(np.float64).round(6)
        assert (np.diff(rounded) <= 0).all()
        equal = np.diff(rounded) == 0
        assert (np.diff(rows[:count])[equal] > 0).all()


@pytest.mark.parametrize("k", [1, 5, len(NAMES), len(NAMES) + 50])
def test_shape_and_order(search: Searcher, k: int) -> None:
    assert_promised(search.search(QUERIES, k), len(QUERIES), k)


def test_a_blank_query_finds_nothing(search: Searcher) -> None:
    assert (search.search([""], 5).rows == NONE).all()


def test_no_queries(search: Searcher) -> None:
    assert_promised(search.search([], 3), 0, 3)
    assert search.score([], np.zeros((0, 2), np.int32)).shape == (0, 2)


def test_an_entry_finds_itself_with_the_best_score(search: Searcher) -> None:
    hits = search.search(SOME, 20)
    scores = search.score(SOME, ROWS[:, None])
    np.testing.assert_allclose(scores[:, 0], hits.scores[:, 0], atol=1e-6)
    # Not 1 where a search, or a part of one, sees nothing in it: no word of two letters in "a", stop words alone
    # in "to". And not quite 1 where vectors are kept as float16.
    less = [SOME[place] for place in np.flatnonzero(~np.isclose(scores[:, 0], 1, atol=1e-3))]
    assert len(less) < 15
    assert all(len(word) < 3 for name in less for word in name.split())


def test_no_score_is_above_that_of_the_best_possible(search: Searcher) -> None:
    hits = search.search([*SOME, *QUERIES], 20)
    # But for the rounding of a sum.
    assert hits.scores.max() <= 1 + 1e-6
    assert search.score([*SOME, *QUERIES], hits.rows).max() <= 1 + 1e-6


def test_the_same_question_gets_the_same_answer(search: Searcher) -> None:
    first, second = search.search(QUERIES, 8), search.search(list(QUERIES), 8)
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.scores, second.scores)


def test_a_query_is_answered_alike_alone_repeated_and_among_others(search: Searcher) -> None:
    together = search.search(QUERIES, 6)
    repeated = search.search([query for query in QUERIES for _ in range(30)], 6)
    assert np.array_equal(np.repeat(together.rows, 30, axis=0), repeated.rows)
    assert np.array_equal(np.repeat(together.scores, 30, axis=0), repeated.scores)
    for place, query in enumerate(QUERIES):
        alone = search.search([query], 6)
        assert np.array_equal(alone.rows[0], together.rows[place])
        assert np.array_equal(alone.scores[0], together.scores[place])


def test_more_hits_begin_with_the_fewer(search: Searcher) -> None:
    more = search.search(QUERIES, 40)
    for k in (1, 3, 17):
        fewer = search.search(QUERIES, k)
        if isinstance(search, SparseSearch) and search.settings.search_share == 1:
            assert np.array_equal(fewer.rows, more.rows[:, :k])
        else:
            # Who looks deeper may find better: what all parts rank high but none among its first, for one.
            assert np.all(fewer.scores <= more.scores[:, :k] + 1e-6)


def test_scores_are_those_of_the_search(search: Searcher) -> None:
    hits = search.search(QUERIES, 12)
    np.testing.assert_allclose(search.score(QUERIES, hits.rows), hits.scores, atol=1e-6)


def test_no_entry_has_no_score(search: Searcher) -> None:
    rows = np.full((len(QUERIES), 3), NONE, np.int32)
    assert not search.score(QUERIES, rows).any()


@pytest.mark.parametrize("share", [0.004, 0.1, 0.9])
@pytest.mark.parametrize("name", [name for name in BUILDERS if name != "exact" and not name.endswith("hybrid")])
def test_a_restricted_search_finds_the_best_of_what_is_allowed(name: str, share: float) -> None:
    search = search_of(name)
    allowed = np.random.default_rng(3).random(len(ENTRIES)) < share
    allowed[7] = True
    queries = [*ENTRIES.texts[:40:5].to_pylist(), "no such name", ""]
    hits = search.restricted(allowed).search(queries, 5)  # type: ignore[attr-defined]
    assert_promised(hits, len(queries), 5)
    assert allowed[hits.rows[hits.rows != NONE]].all()
    if "hnsw" in name or "ivf" in name:
        return
    every = search.search(queries, len(ENTRIES))
    for own, rows in zip(hits.rows.tolist(), every.rows, strict=True):
        wanted = [row for row in rows.tolist() if row != NONE and allowed[row]][:5]
        assert [row for row in own if row != NONE] == wanted
