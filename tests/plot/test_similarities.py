from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from nymlink.core.errors import MissingExtraError
from nymlink.plot.figure import save_figure
from nymlink.plot.similarities import Batch, PairSimilarities, draw_similarities
from tests.train import naive


def batch(seed: int, spread: float = 1.0) -> Batch:
    random = np.random.default_rng(seed)
    labels = np.tile(random.permutation(20)[:15], 2).astype(np.int32)
    centres = np.random.default_rng(99).normal(size=(20, 8))[labels]
    return (centres + spread * random.normal(size=centres.shape)).astype(np.float32), labels


def test_mined_similarities_are_those_of_the_mined_pairs() -> None:
    batches = [batch(0), batch(1)]
    found = PairSimilarities.of(batches, margin=0.2)
    positives, negatives = [], []
    for vectors, labels in batches:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        apart = torch.from_numpy(np.linalg.norm(units[:, None] - units, axis=2))
        own, others = naive.mined(apart, labels.tolist(), 0.2)
        positives += [units[a] @ units[p] for a, p in own]
        negatives += [units[a] @ units[n] for a, n in others]
    np.testing.assert_allclose(np.sort(found.positives), np.sort(positives), atol=1e-6)
    np.testing.assert_allclose(np.sort(found.negatives), np.sort(negatives), atol=1e-6)


def test_all_pairs() -> None:
    found = PairSimilarities.of([batch(0), batch(1)], margin=None)
    assert (len(found.positives), len(found.negatives)) == (2 * 30, 2 * 30 * 28)
    empty = PairSimilarities.of([], margin=None)
    assert (len(empty.positives), len(empty.negatives)) == (0, 0)


def test_the_picture_has_the_numbers() -> None:
    measured = {
        title: (PairSimilarities.of(batches, margin=None), PairSimilarities.of(batches, margin=0.2))
        for title, batches in {"before": [batch(0)], "after": [batch(0, 0.4)]}.items()
    }
    figure = draw_similarities(measured, margin=0.2)
    assert figure.get_suptitle() == "Similarities of pairs in a batch, before and after mining (margin 0.2)"
    assert [axes.get_title() for axes in figure.axes] == [
        "before: all pairs",
        "before: mined pairs",
        "after: all pairs",
        "after: mined pairs",
    ]
    every, mined = measured["before"]
    for axes, pairs, of in zip(figure.axes[:2], (every, mined), (None, every), strict=True):
        legend = axes.get_legend()
        assert legend is not None
        told = [text.get_text() for text in legend.get_texts()]
        share = "" if of is None else f", {100 * len(pairs.negatives) / len(of.negatives):.3g} % of all"
        assert told[1] == f"{len(pairs.negatives):,} negative{share}, mean {pairs.negatives.mean():.2f}"
        assert told[2].startswith("overlap of the two ")
        for patch in axes.patches:
            assert patch.get_data().values.sum() == pytest.approx(100), "each kind is drawn in shares of its own"


def test_dollar_signs_are_no_formulas(tmp_path: Path) -> None:
    pairs = PairSimilarities.of([batch(0)], margin=None)
    save_figure(draw_similarities({r"$\frac$": (pairs, pairs)}, margin=0.2), tmp_path / "similarities.svg")
    assert r"$\frac$: all pairs" in (tmp_path / "similarities.svg").read_text(encoding="utf-8")


def test_overlap() -> None:
    def drawn(positives: list[float], negatives: list[float]) -> str:
        pairs = PairSimilarities(np.array(positives, np.float32), np.array(negatives, np.float32))
        legend = draw_similarities({"x": (pairs, pairs)}, margin=0.2).axes[0].get_legend()
        assert legend is not None
        return legend.get_texts()[2].get_text()

    assert drawn([0.9, 1.0], [-1.0, 0.1]) == "overlap of the two 0 %"
    assert drawn([0.5, 1.0000001], [0.5, 0.1]) == "overlap of the two 50 %"
    assert drawn([], []) == "overlap of the two 0 %"


def test_mining_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"mining needs .* pip install 'nymlink\[train\]'"):
        PairSimilarities.of([], margin=0.2)
