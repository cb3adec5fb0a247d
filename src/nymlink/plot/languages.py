"""Draw accuracies by language: a group of bars for each language, a bar for each stage of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.plot.figure import COLOURS, LONGEST_IN_KEY, new_figure, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shares = Mapping[str, Mapping[str, float]]
"""A share for each stage and language: stage → language → share."""

_MEAN: Final = "mean"

_MOST: Final = 64
"""Largest number of bars in a row of groups."""

_BAR: Final = 0.2
"""Width of a bar, in inches: the width of the two digits above it."""

_LETTER: Final = 0.075
"""Width of a letter of the legend, in inches."""

_HATCHES: Final = ("", "///", "...")
"""Hatches of the bars. The first bars have none; when the colours repeat, the next hatch is used."""


def draw_languages(accuracies: Shares, *, measure: str, coverage: Shares | None = None) -> Figure:
    """Draw a group of bars for each language, and one for the means, with a bar for each stage.

    Args:
        accuracies: stage → language → accuracy, as a share. A stage that lacks a language has no bar for it, and
            no bar for the mean.
        measure: the measure, for the axis.
        coverage: stage → language → share of mentions whose concept the dictionary has. It is drawn as an outline,
            because no bar can be higher.

    Raises:
        InputError: there is nothing to draw.
        MissingExtraError: matplotlib is not installed.
    """
    languages = list(dict.fromkeys(language for row in accuracies.values() for language in row))
    if not languages:
        raise InputError("there are no accuracies to draw")
    groups = [*languages, _MEAN] if len(languages) > 1 else languages
    heights = {stage: _with_mean(row, languages) for stage, row in accuracies.items()}
    limits = {stage: _with_mean(row, languages) for stage, row in (coverage or {}).items()}
    rows = np.array_split(np.array(groups), -(-len(groups) * len(heights) // _MOST))
    width = max(6.0, 1 + _BAR * len(rows[0]) * (len(heights) + 1.5))
    with new_figure(width, 3.6 * len(rows) + 0.6) as figure:
        panels = figure.subplots(len(rows), 1, squeeze=False, sharey=True)[:, 0]
        for axes, shown in zip(panels, rows, strict=True):
            axes.set_ylabel(f"{measure} (%)")
            axes.set_xlim(-0.6, len(rows[0]) - 0.4)
            _draw_groups(axes, shown.tolist(), heights, limits)
        handles, labels = panels[0].get_legend_handles_labels()
        columns = max(1, int(width / (0.6 + _LETTER * max(map(len, labels)))))
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def _with_mean(row: Mapping[str, float], languages: Sequence[str]) -> dict[str, float]:
    """Add the mean to a row that has all languages. Means over different languages are not comparable."""
    known = {language: row[language] for language in languages if not np.isnan(row.get(language, np.nan))}
    return {**known, _MEAN: float(np.mean(list(known.values())))} if len(known) == len(languages) else known


def _draw_groups(axes: Axes, groups: Sequence[str], heights: Shares, limits: Shares) -> None:
    bar = 1 / (len(heights) + 1.5)
    places = {
        stage: np.arange(len(groups)) + bar * (number - (len(heights) - 1) / 2)
        for number, stage in enumerate(heights)
    }

    def percents(row: Mapping[str, float]) -> list[float]:
        return [100 * row.get(group, np.nan) for group in groups]

    for number, (stage, row) in enumerate(heights.items()):
        turn, colour = divmod(number, len(COLOURS))
        drawn = axes.bar(
            places[stage],
            percents(row),
            bar,
            color=COLOURS[colour],
            edgecolor="white",
            linewidth=0.4,
            hatch=_HATCHES[turn % len(_HATCHES)],
            label=shortened(stage, LONGEST_IN_KEY),
        )
        axes.bar_label(drawn, [f"{value:.0f}" for value in percents(row)], fontsize=7, padding=1)
    for number, (stage, row) in enumerate(limits.items()):
        axes.bar(
            places[stage],
            percents(row),
            bar,
            facecolor="#eeeeee",
            edgecolor="#999999",
            linewidth=0.6,
            zorder=0,
            label="" if number else "mentions whose concept the dictionary has",
        )
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.spines[["top", "right"]].set_visible(False)
