from __future__ import annotations

from itertools import pairwise

import pytest

from nymlink.core.errors import InputError
from nymlink.plot.languages import draw_languages

ACCURACIES = {"base": {"es": 0.25, "zh": 0.0}, "trained": {"es": 0.5, "zh": 0.75}}


def test_a_language_is_a_group_and_a_stage_a_bar() -> None:
    figure = draw_languages(ACCURACIES, measure="Acc@1")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "Acc@1 (%)"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["es", "zh", "mean"]
    heights = [[bar.get_height() for bar in drawn] for drawn in axes.containers]
    assert heights == [[25, 0, 12.5], [50, 75, 62.5]]
    assert [text.get_text() for text in axes.texts] == ["25", "0", "12", "50", "75", "62"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["base", "trained"]


def test_bars_do_not_overlap_and_differ_from_each_other() -> None:
    stages = {f"stage {number}": {"es": 0.1, "zh": 0.2} for number in range(9)}
    (axes,) = draw_languages(stages, measure="Acc@1").axes
    bars = sorted(axes.patches, key=lambda bar: bar.get_x())
    assert all(left.get_x() + left.get_width() <= right.get_x() + 1e-9 for left, right in pairwise(bars))
    looks = {(str(drawn[0].get_facecolor()), drawn[0].get_hatch()) for drawn in axes.containers}
    assert len(looks) == 9


def test_coverage_is_an_outline_behind_the_bar() -> None:
    coverage = {"base": {"es": 0.6, "zh": 0.5}, "trained": {"es": 0.7, "zh": 0.8}}
    figure = draw_languages(ACCURACIES, measure="Acc@1", coverage=coverage)
    bars, outlines = figure.axes[0].containers[:2], figure.axes[0].containers[2:]
    for drawn, around in zip(bars, outlines, strict=True):
        for bar, outline in zip(drawn, around, strict=True):
            assert (bar.get_x(), bar.get_width()) == (outline.get_x(), outline.get_width())
            assert bar.get_height() <= outline.get_height()
            assert bar.get_zorder() > outline.get_zorder()
    last = figure.legends[0].get_texts()[-1].get_text()
    assert last == "mentions whose concept the dictionary has"


def test_a_mean_is_of_all_languages_or_there_is_none() -> None:
    (axes,) = draw_languages({"base": ACCURACIES["base"], "part": {"es": 0.5}}, measure="Acc@1").axes
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["25", "0", "12", "50"]


def test_one_language_has_no_mean_and_many_have_several_rows() -> None:
    (axes,) = draw_languages({"base": {"es": 0.5}}, measure="Acc@1").axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["es"]
    many = {stage: {f"l{number}": 0.5 for number in range(40)} for stage in ("base", "trained")}
    rows = draw_languages(many, measure="Acc@1").axes
    assert [len(axes.get_xticklabels()) for axes in rows] == [21, 20]


def test_nothing_is_not_drawn() -> None:
    for nothing in ({}, {"base": {}}):
        with pytest.raises(InputError, match="no accuracies to draw"):
            draw_languages(nothing, measure="Acc@1")
