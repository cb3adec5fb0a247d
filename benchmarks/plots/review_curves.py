"""Draw how much of a file is right after so many decisions of a reviewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nymlink.plot.figure import COLOURS, LONGEST_IN_KEY, new_figure, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curve = Sequence[Mapping[str, Any]]
"""Points of a review: ``decisions`` made, and the share of all ``terms`` that is right."""


def draw_review_curves(files: Mapping[str, Mapping[str, Curve]], *, wanted: float) -> Figure:
    """Draw the curves of files side by side.

    Args:
        files: title → way of reviewing → its curve.
        wanted: share that is to be right, 0 to 1, marked by a line.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(5.5 * len(files), 4.6) as figure:
        for axes, (title, ways) in zip(
            figure.subplots(1, len(files), squeeze=False)[0], files.items(), strict=True
        ):
            axes.set_title(title, fontsize=11)
            axes.set_xlabel("decisions")
            axes.set_ylabel("terms that are right (%)")
            for (way, curve), colour in zip(ways.items(), COLOURS, strict=False):
                axes.plot(
                    [point["decisions"] for point in curve],
                    [100 * point["terms"] for point in curve],
                    color=colour,
                    linewidth=1.6,
                    label=shortened(way, LONGEST_IN_KEY),
                )
            axes.axhline(100 * wanted, color="#767676", linestyle=":", linewidth=1)
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(handles=axes.lines[:-1], loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure
