"""Weights and vectors: those of scikit-learn where it says the same, those of a plain loop everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from nymlink.index.sparse.features import SparseSettings
from nymlink.index.sparse.tfidf import SparseVectors, TfIdf, invert
from tests.index import naive
from tests.index.small import many_names

NAMES = many_names(300)
SETTINGS = [
    SparseSettings(chars=(1, 2)),
    SparseSettings(chars=(3, 3), sublinear=True),
    SparseSettings(word_chars=(2, 4)),
    SparseSettings(words=True, shortest_word=2, stop_words=False),
    SparseSettings(chars=(1, 2), word_chars=(3, 4), words=True, sublinear=True),
]


def matrix(vectors: SparseVectors) -> csr_matrix:
    return csr_matrix((vectors.values, vectors.places, vectors.starts), shape=(len(vectors), vectors.width))


def fitted(texts: Sequence[str], settings: SparseSettings) -> TfIdf:
    return TfIdf.fit(invert(texts, settings), settings)


@pytest.mark.parametrize(
    ("settings", "theirs"),
    [
        (SparseSettings(chars=(1, 2)), {"analyzer": "char", "ngram_range": (1, 2)}),
        (
            SparseSettings(chars=(2, 5), sublinear=True),
            {"analyzer": "char", "ngram_range": (2, 5), "sublinear_tf": 1},
        ),
        # Every word with its two spaces has three characters: no word is shorter than n.
        (SparseSettings(word_chars=(2, 3)), {"analyzer": "char_wb", "ngram_range": (2, 3)}),
        (SparseSettings(words=True), {"analyzer": "word", "token_pattern": r"\S+"}),
        (SparseSettings(words=True, shortest_word=3), {"analyzer": "word", "token_pattern": r"\S{3,}"}),
    ],
)
def test_agrees_with_scikit_learn(settings: SparseSettings, theirs: dict[str, Any]) -> None:
    sklearn = pytest.importorskip("sklearn.feature_extraction.text")
    theirs["sublinear_tf"] = bool(theirs.get("sublinear_tf"))
    vectorizer = sklearn.TfidfVectorizer(lowercase=False, **theirs)
    expected = vectorizer.fit_transform(NAMES)
    weights = fitted(NAMES, settings)
    idf = weights.idf(weights.frequencies)
    np.testing.assert_allclose(np.sort(idf), np.sort(vectorizer.idf_), rtol=1e-6)
    vectors = matrix(weights.transform(NAMES))
    assert vectors.dtype == np.float32
    assert (vectors.shape, vectors.nnz) == (expected.shape, expected.nnz)
    # Words of known names, in another order: all their features but some of those at the joints are known.
    queries = [" ".join(reversed(name.split())) for name in NAMES[:50]]
    theirs_known = vectorizer.build_analyzer()
    known = [query for query in queries if set(theirs_known(query)) <= set(vectorizer.vocabulary_)]
    assert len(known) > 10
    np.testing.assert_allclose(
        (matrix(weights.transform(known)) @ vectors.T).toarray(),
        (vectorizer.transform(known) @ expected.T).toarray(),
        atol=1e-6,
    )


@pytest.mark.parametrize("settings", SETTINGS)
@given(
    names=st.lists(st.text("ab é", min_size=1, max_size=6).map(lambda text: " ".join(text.split())), min_size=1),
    queries=st.lists(st.text("abc é", max_size=8).map(lambda text: " ".join(text.split())), max_size=4),
)
def test_cosines_are_those_of_a_plain_loop(settings: SparseSettings, names: list[str], queries: list[str]) -> None:
    weights = fitted(names, settings)
    found = (matrix(weights.transform(queries)) @ matrix(weights.transform(names)).T).toarray()
    np.testing.assert_allclose(found, naive.cosines(queries, names, settings), atol=1e-6)


def test_what_no_fitted_text_has_makes_a_query_less_similar() -> None:
    weights = fitted(["heart attack", "stroke"], SparseSettings(words=True))
    known, half = (
        matrix(weights.transform(["heart attack", "heart xyz"])) @ matrix(weights.transform(["heart attack"])).T
    ).toarray()
    idf_known, idf_unknown = np.log(3 / 2) + 1, np.log(3) + 1
    assert weights.idf(np.array([2, 0])).tolist() == pytest.approx([np.log(3 / 3) + 1, idf_unknown])
    assert known == pytest.approx(1)
    assert half == pytest.approx(idf_known / np.hypot(idf_known, idf_unknown) / np.sqrt(2))


def test_vectors_have_unit_length_or_none() -> None:
    weights = fitted(NAMES, SparseSettings(chars=(1, 2), word_chars=(3, 4)))
    vectors = matrix(weights.transform([*NAMES, "", " "]))
    lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1)).ravel()
    np.testing.assert_allclose(lengths[:-2], 1, rtol=1e-6)
    assert not len(weights.transform([""]).values)
    assert matrix(weights.transform([])).shape == (0, len(weights.hashes))


def test_long_texts_are_weighed_like_short_ones() -> None:
    """Texts are taken in stretches of some million characters: where one ends must not show."""
    settings = SparseSettings(chars=(1, 2))
    long = [" ".join(NAMES) * (1_000_000 // len(" ".join(NAMES)) + 1), *NAMES[:5], "ba" * 600_000, "", NAMES[5]]
    together = matrix(fitted(NAMES, settings).transform(long))
    alone = [matrix(fitted(NAMES, settings).transform([text])) for text in long]
    assert all((together[row] != vector).nnz == 0 for row, vector in enumerate(alone))
    counted = fitted(long, settings)
    assert counted.documents == len(long)
    frequencies = (matrix(counted.transform(long)) > 0).sum(axis=0)
    assert counted.frequencies.tolist() == np.asarray(frequencies).ravel().tolist()


def test_fitted_on_nothing() -> None:
    weights = fitted([], SparseSettings(chars=(1, 2)))
    assert matrix(weights.transform(["heart"])).shape == (1, 0)


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_survive_json(settings: SparseSettings) -> None:
    import json

    assert SparseSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"chars": (0, 2)},
        {"chars": (3, 2)},
        {"word_chars": (2, 1)},
        {"words": True, "shortest_word": 0},
        {"words": True, "search_share": 0.0},
        {"words": True, "search_share": 1.1},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"settings|character|shortest_word|search_share"):
        SparseSettings(**wrong)
