"""Place texts next to points so that they hide as few points and other texts as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.plot.fonts import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = npt.NDArray[np.float64]

_GAP: Final = 7
"""Distance from a point to its text, in 1/72 inch."""

_SIZE: Final = 8
"""Radius of a point with a margin, in pixels."""

_LONGEST: Final = 32

LONGEST_IN_KEY: Final = 60
"""Most characters of a name in a legend."""

_PLACES: Final = tuple(
    (farther * x, farther * y)
    for farther in (1, 3)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
)
"""Directions and relative distances of a text from its point, the preferred ones first."""


def shortened(text: str, longest: int) -> str:
    """Cut a text to a number of characters, of which all can be drawn."""
    text = readable(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def place_labels(axes: Axes, at: Points, texts: Sequence[str], colours: Sequence[str], *, crowd: Points) -> None:
    """Write a text next to each of some points, in their order, each where it covers least.

    Args:
        axes: axes with final limits and size.
        at: (C, 2): the points.
        texts: C texts; long ones are cut.
        colours: C colours.
        crowd: (N, 2): points that should stay visible.
    """
    from matplotlib.patheffects import withStroke

    halo = withStroke(linewidth=2.5, foreground="white", alpha=0.85)
    gap = _GAP * axes.figure.dpi / 72
    shown = axes.transData.transform(crowd)
    inside = np.asarray(axes.get_window_extent().extents)
    occupied: list[Points] = []
    for point, text, colour in zip(at, texts, colours, strict=True):
        label = axes.annotate(
            shortened(text, _LONGEST),
            xy=(point[0], point[1]),
            xytext=(0, 0),
            textcoords="offset pixels",
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=colour,
            path_effects=[halo],
            zorder=5,
        )
        box = np.asarray(label.get_window_extent().extents)
        half_size = (box[2:] - box[:2]) / 2
        # Half of its own size moves the centred text to the side of its point.
        shifts = [np.sign(place) * half_size + gap * np.asarray(place) for place in _PLACES]
        boxes = [box + np.tile(shift, 2) for shift in shifts]
        best = int(np.argmin([_cost(place, inside, shown, occupied) for place in boxes]))
        label.set_position((shifts[best][0], shifts[best][1]))
        occupied.append(boxes[best])


def _cost(box: Points, inside: Points, shown: Points, occupied: Sequence[Points]) -> float:
    """Compute the cost of a text in a box (left, bottom, right, top): about the number of pixels hidden."""
    cut = np.maximum(inside[:2] - box[:2], 0).sum() + np.maximum(box[2:] - inside[2:], 0).sum()
    covered = ((shown >= box[:2] - _SIZE) & (shown <= box[2:] + _SIZE)).all(1).sum()
    sides = [np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2]) for other in occupied]
    return float(100 * cut + _SIZE**2 * covered + sum(np.prod(np.maximum(side, 0)) for side in sides))
