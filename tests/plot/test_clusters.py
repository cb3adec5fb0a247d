from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.plot.figure import save_figure
from nymlink.plot.mentions import cluster_sizes, draw_clusters


def document(*golds: str) -> Document:
    return Document("1", mentions=tuple(Mention("x", concept_ids=tuple(gold.split())) for gold in golds))


def test_clusters_are_the_mentions_of_a_concept_in_a_document() -> None:
    parted = Mention("a and b", concept_ids=("X:1",), parts=("a", "b"))
    documents = (
        document("X:1", "X:2", "X:1", "", "X:1 X:2", "X:1"),
        # Two documents of one id are two all the same.
        document("X:1", "X:3"),
        Document("2", mentions=(parted,)),
    )
    assert cluster_sizes(Corpus("toy", documents)).tolist() == [3, 1, 1, 1]
    with pytest.raises(InputError, match="no mention of the corpus has exactly one gold id"):
        cluster_sizes(Corpus("toy", documents[2:]))


def test_every_size_has_two_bars(tmp_path: Path) -> None:
    (axes,) = draw_clusters(np.array([3, 1, 1, 1]), title="toy").axes
    assert axes.get_title() == (
        "toy: 6 mentions in 4 clusters, 1.5 in the mean\n75 % of the clusters have a single mention"
    )
    clusters, mentions = ([bar.get_height() for bar in bars] for bars in axes.containers)
    assert (clusters, mentions) == ([3, 0, 1], [3, 0, 3])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
    figure = draw_clusters(np.array([40, 16, 15, 2]), title="large")
    (axes,) = figure.axes
    clusters, mentions = ([bar.get_height() for bar in bars] for bars in axes.containers)
    assert (clusters[1], clusters[14], mentions[14], len(clusters)) == (1, 3, 71, 15)
    assert axes.get_xticklabels()[-1].get_text() == "15+"
    save_figure(figure, tmp_path / "clusters.svg")
    assert b"large" in (tmp_path / "clusters.svg").read_bytes()


def test_dollar_signs_are_no_formulas(tmp_path: Path) -> None:
    save_figure(draw_clusters(np.array([3, 1]), title=r"$\frac$"), tmp_path / "clusters.svg")
    assert r"$\frac$" in (tmp_path / "clusters.svg").read_text(encoding="utf-8")
