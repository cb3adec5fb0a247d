"""Curves of reviews: a panel for each file, a line for each way of reviewing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.plot.figure import save_figure

pytest.importorskip("matplotlib")


def test_a_line_for_each_way_and_one_for_what_is_wanted(tmp_path: Path) -> None:
    from benchmarks.plots.review_curves import draw_review_curves

    ways = {
        "top to bottom": [{"decisions": 0, "terms": 0.5}, {"decisions": 100, "terms": 0.9}],
        "doubtful first": [{"decisions": 0, "terms": 0.5}, {"decisions": 40, "terms": 0.95}],
    }
    figure = draw_review_curves({"one file": ways, "other $file$": ways}, wanted=0.95)
    left, right = figure.axes
    assert (left.get_title(), right.get_title()) == ("one file", "other $file$")
    first, second, wanted = left.lines
    assert first.get_xydata().tolist() == [[0, 50], [100, 90]]
    assert second.get_xydata().tolist() == [[0, 50], [40, 95]]
    assert set(wanted.get_ydata()) == {95}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(ways)
    save_figure(figure, tmp_path / "review.svg")
    assert (tmp_path / "review.svg").read_bytes().startswith(b"<?xml")
