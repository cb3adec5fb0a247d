"""Draw how the costs of peers grow with the number of names."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Any, Final

from benchmarks.peers.tables import seconds
from nymlink.plot.figure import COLOURS, MARKERS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OTHERS: Final = "#7f8c99"
"""Colour of what is no nymlink: readable on white and on black, as all of them."""

_PANELS: Final = (
    ("first answer after (s)", seconds),
    ("mentions a second", lambda figures: figures["per_second"]),
    ("peak memory (MB)", lambda figures: figures["peak_mb"]),
)


def draw(figures: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw the seconds to a first answer, mentions a second and memory, of linkers above and annotators below.

    Args:
        figures: key of a peer → its labels and steps, see :func:`benchmarks.peers.tables.tables`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(15, 12) as figure:
        figure.patch.set_alpha(0)
        rows = figure.subplots(2, len(_PANELS))
        for kind, line in zip(("linkers", "annotators"), rows, strict=True):
            for axes, (label, value) in zip(line, _PANELS, strict=True):
                _panel(axes, label, value, [one for one in figures.values() if one["kind"] == kind])
        for axes in rows[1]:
            axes.set_xlabel("names", color=_OTHERS)
        rows[1][1].set_ylabel("abstracts a second", color=_OTHERS)
    return figure


def _panel(axes: Axes, label: str, value: Any, peers: list[Mapping[str, Any]]) -> None:
    """Draw one figure of all peers, each named beside its last point."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_facecolor("none")
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(label, color=_OTHERS)
    axes.tick_params(which="both", colors=_OTHERS)
    axes.grid(alpha=0.25, color=_OTHERS)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_OTHERS)
    ends = []
    for number, one in enumerate(peers):
        points = sorted((int(size), value(step)) for size, step in one["steps"].items() if "start_seconds" in step)
        if not points:
            continue
        own = one["short"].startswith("nymlink")
        colour = _OTHERS if not own else COLOURS[1] if one["short"] == "nymlink" else COLOURS[2]
        axes.plot(
            *zip(*points, strict=True),
            color=colour,
            linewidth=2.4 if own else 1.3,
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            zorder=3 if own else 2,
        )
        ends.append((points[-1], one["short"], colour))
    if ends:
        _name(axes, ends)


def _name(axes: Axes, ends: list[tuple[tuple[int, float], str, str]]) -> None:
    """Write the names to the right, in the order of the last points, moved apart where they would overlap."""
    low, high = (log10(value) for value in axes.get_ylim())
    left, right = (log10(value) for value in axes.get_xlim())
    step, place = 0.045, float("-inf")
    shown = []
    for (size, height), name, colour in sorted(ends, key=lambda end: end[0][1]):
        place = max((log10(height) - low) / (high - low), place + step)
        shown.append((size, height, place, name, colour))
    over = max(0.0, max(place for _, _, place, _, _ in shown) - 1.0)
    for size, height, place, name, colour in shown:
        axes.annotate(
            name,
            xy=((log10(size) - left) / (right - left), (log10(height) - low) / (high - low)),
            xytext=(1.04, place - over),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=9,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "alpha": 0.5, "linewidth": 0.8},
            annotation_clip=False,
        )
