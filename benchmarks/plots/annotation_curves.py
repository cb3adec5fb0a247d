"""Draw precision by recall of what an annotator finds, as the confidence that is asked for rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from nymlink.plot.figure import COLOURS, LONGEST_IN_KEY, MARKERS, new_figure, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = Sequence[Mapping[str, Any]]
"""Points of an evaluation of annotation, as it writes them into JSON."""


def draw_annotation_curves(curves: Mapping[str, Curve]) -> Figure:
    """Draw the curves of mentions on the left, and of the concepts of documents on the right.

    Args:
        curves: title → ``curve`` of :meth:`nymlink.evaluation.annotation.AnnotationEvaluation.to_dict`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(11.5, 5 + 0.2 * len(curves)) as figure:
        left, right = figure.subplots(1, 2)
        _draw(left, curves, "mention", "Mentions")
        _draw(right, curves, "document", "Concepts of documents")
        figure.legend(handles=left.lines, loc="outside lower center", frameon=False, fontsize=9)
    return figure


def _draw(axes: Axes, curves: Mapping[str, Curve], part: Literal["mention", "document"], title: str) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_xlabel("recall (%)")
    axes.set_ylabel("precision (%)")
    for (name, curve), colour, marker in zip(curves.items(), COLOURS, MARKERS, strict=False):
        points = [point[part] for point in curve if point[part]["recall"]]
        axes.plot(
            [100 * point["recall"] for point in points],
            [100 * point["precision"] for point in points],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.4,
            label=shortened(name, LONGEST_IN_KEY),
        )
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
