from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.plot.figure import save_figure
from nymlink.plot.reliability import draw_reliability

pytest.importorskip("matplotlib")


def test_the_picture_shows_bins_and_precision(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    confidences = generator.random(300)
    measured = {
        "deserved": Reliability.of(confidences, generator.random(300) < confidences),
        "too sure": Reliability.of(np.sqrt(confidences), generator.random(300) < confidences),
    }
    figure = draw_reliability(measured)
    left, right = figure.axes
    for place, (title, one) in enumerate(measured.items()):
        bins = left.lines[1 + place]
        assert np.allclose(bins.get_xdata(), [100 * each.confidence for each in one.bins()])
        assert np.allclose(bins.get_ydata(), [100 * each.right for each in one.bins()])
        curve = right.lines[place]
        assert (curve.get_xdata()[-1], curve.get_ydata()[-1]) == pytest.approx((100, 100 * one.accuracy))
        assert curve.get_ydata()[149] == pytest.approx(100 * one.precision(0.5))
        assert title in bins.get_label()
        assert f"{one.expected_error:.3f}" in bins.get_label()
    save_figure(figure, tmp_path / "reliability.svg")
    assert b"too sure" in (tmp_path / "reliability.svg").read_bytes()


def test_the_key_fits_the_picture_whatever_a_corpus_is_called(tmp_path: Path) -> None:
    one = Reliability.of(np.array([0.9, 0.5]), np.array([True, False]))
    figure = draw_reliability({r"$\frac$ ": one, "a corpus with a very long name " * 9: one})
    save_figure(figure, tmp_path / "reliability.svg")
    assert r"$\frac$" in (tmp_path / "reliability.svg").read_text(encoding="utf-8")
    box = figure.legends[0].get_window_extent()
    assert 0 < box.x0 < box.x1 < figure.bbox.x1


def test_a_single_mention_is_seen() -> None:
    figure = draw_reliability({"one": Reliability.of(np.array([0.9]), np.array([True]))})
    _, right = figure.axes
    (curve,) = right.lines
    assert (len(curve.get_xdata()), curve.get_marker()) == (1, "o")
