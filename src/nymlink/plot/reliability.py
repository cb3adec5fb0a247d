"""Draw the reliability diagram of confidences, and their precision by coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.plot.figure import COLOURS, LONGEST_IN_KEY, MARKERS, new_figure, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_reliability(measured: Mapping[str, Reliability]) -> Figure:
    """Draw accuracy by confidence bin on the left and precision by coverage on the right.

    Args:
        measured: title → confidences and outcomes; at most seven.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(11.5, 5 + 0.2 * len(measured)) as figure:
        left, right = figure.subplots(1, 2)
        left.set_title("Reliability", fontsize=11)
        left.plot([0, 100], [0, 100], color="grey", linestyle="--", linewidth=1, label="perfectly calibrated")
        left.set_xlabel("mean confidence of a bin (%)")
        left.set_ylabel("right (%)")
        right.set_title("Precision by coverage", fontsize=11)
        right.set_xlabel("mentions linked, the surest first (%)")
        right.set_ylabel("right of these (%)")
        for (title, reliability), colour, marker in zip(measured.items(), COLOURS, MARKERS, strict=False):
            _draw(left, right, title, reliability, colour, marker)
        for axes in (left, right):
            axes.set_xlim(0, 102)
            axes.set_ylim(top=102)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        left.set_ylim(bottom=0)
        figure.legend(handles=left.lines, loc="outside lower center", frameon=False, fontsize=9)
    return figure


def _draw(left: Axes, right: Axes, title: str, measured: Reliability, colour: str, marker: str) -> None:
    bins = measured.bins()
    left.plot(
        [100 * bin_.confidence for bin_ in bins],
        [100 * bin_.right for bin_ in bins],
        color=colour,
        marker=marker,
        linewidth=1.4,
        label=f"{shortened(title, LONGEST_IN_KEY)}: expected calibration error {measured.expected_error:.3f}, "
        f"{100 * measured.precision(0.8):.1f} % of the surest 80 % right",
    )
    precisions = measured.precisions()
    right.plot(
        100 * np.arange(1, len(precisions) + 1) / len(precisions),
        100 * precisions,
        color=colour,
        # A marker at the end makes a curve of a single point visible.
        marker=marker,
        markevery=[-1],
        linewidth=1.4,
    )
