from __future__ import annotations

import numpy as np
import pytest

from nymlink.core.store.arrays import Vectors
from nymlink.plot.retrieval import Translations, draw_retrieval, retrieval_accuracy, sample_translations
from tests.plot.multilingual import multilingual

SAMPLE = sample_translations(multilingual(), concepts=12)


def vectors(spread: float) -> Vectors:
    """Vectors of names that lie about those of their concepts."""
    random = np.random.default_rng(0)
    around = random.normal(size=(24, 8))[SAMPLE.concepts] + spread * random.normal(size=(len(SAMPLE.texts), 8))
    units: Vectors = (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float32)
    return units


def test_accuracies_are_what_a_loop_counts() -> None:
    found = retrieval_accuracy(SAMPLE, vectors(1))
    for asked in range(3):
        for searched in range(3):
            right = []
            for row in np.flatnonzero(SAMPLE.codes == asked):
                others = [other for other in np.flatnonzero(SAMPLE.codes == searched) if other != row]
                if SAMPLE.concepts[row] in SAMPLE.concepts[others]:
                    nearest = max(others, key=lambda other, row=row: vectors(1)[row] @ vectors(1)[other])
                    right.append(SAMPLE.concepts[row] == SAMPLE.concepts[nearest])
            assert found[asked, searched] == pytest.approx(np.mean(right) if right else np.nan, nan_ok=True)
    assert np.isnan(found).tolist() == [[False, False, False], [False, True, False], [False, False, True]]


def test_of_names_that_are_equally_near_a_share_counts() -> None:
    alike = np.ones((len(SAMPLE.texts), 1), np.float32)
    found = retrieval_accuracy(SAMPLE, alike)
    assert found[1, 2] == pytest.approx(1 / 12)
    assert found[0, 0] == pytest.approx(1 / 23)


def test_every_view_has_a_map_with_its_numbers() -> None:
    views = {"before": vectors(2), "after": vectors(0.01)}
    figure = draw_retrieval(SAMPLE, views)
    assert "Names of 12 concepts" in figure.get_suptitle()
    before, after = figure.axes
    assert after.get_title() == "after\nmean across languages: 100 %"
    for axes, view in zip((before, after), views.values(), strict=True):
        shares = retrieval_accuracy(SAMPLE, view).ravel()
        told = [text.get_text() for text in axes.texts]
        assert told == ["–" if np.isnan(share) else f"{100 * share:.0f}" for share in shares]
        assert [label.get_text() for label in axes.get_xticklabels()] == ["en", "de", "zh"]
        assert [label.get_text() for label in axes.get_yticklabels()] == ["en", "de", "zh"]


def test_two_concepts_are_drawn_without_a_warning() -> None:
    few = Translations(("en", "de"), ("a", "b", "c", "d"), np.int32([0, 1, 0, 1]), np.int32([0, 0, 1, 1]))
    (axes,) = draw_retrieval(few, {"x": np.eye(2, dtype=np.float32)[[0, 1, 0, 1]]}).axes
    assert [text.get_text() for text in axes.texts] == ["–", "100", "100", "–"]
