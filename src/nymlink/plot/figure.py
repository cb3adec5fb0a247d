"""Figures: their fonts, labels and files."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import MissingExtraError, OutputError
from nymlink.core.store.atomic import atomic_file
from nymlink.text.normalise import normalise, romanise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_FAMILIES: Final = (
    "DejaVu Sans",
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "PingFang SC"),
    *("Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "IPAGothic"),
    *("WenQuanYi Zen Hei", "Source Han Sans SC", "Droid Sans Fallback", "Arial Unicode MS"),
    *("Noto Sans Thai", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Arabic"),
    *("Noto Sans Hebrew", "Thonburi", "Leelawadee UI", "Nirmala UI"),
)
"""The font of matplotlib, and common ones for scripts that it lacks."""


@cache
def font_families() -> tuple[str, ...]:
    """List the known font families that are installed, in the order of their use."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(family for family in _FAMILIES if family in installed)


def readable(text: str) -> str:
    """Romanise a text if the fonts of pictures lack some of its letters. Other texts do not change.

    Returns:
        The text, or its romanised form; empty if nothing of it can be written.
    """
    return text if all(map(_is_drawn, text)) else romanise(normalise(text))


@cache
def _is_drawn(char: str) -> bool:
    if not _shapes() and unicodedata.bidirectional(char) in ("R", "AL"):
        # They would be drawn from left to right, as letters that do not join.
        return False
    return char.isspace() or ord(char) in _letters()


@cache
def _letters() -> frozenset[int]:
    """Collect the characters that some font has both in regular and in bold."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    drawn: set[int] = set()
    for family in font_families():
        styles = [findfont(FontProperties(family=[family], weight=weight)) for weight in ("normal", "bold")]
        drawn |= set.intersection(*(set(get_font(path).get_charmap()) for path in styles))
    return frozenset(drawn)


def _shapes() -> bool:
    """Whether matplotlib shapes text, as it does from 3.11 on."""
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")


Points = npt.NDArray[np.float64]

_GAP: Final = 7
"""Distance from a point to its text, in 1/72 inch."""

_SIZE: Final = 8
"""Radius of a point with a margin, in pixels."""

_LONGEST: Final = 32

LONGEST_IN_KEY: Final = 60
"""Largest number of characters of a name in a legend."""

_PLACES: Final = tuple(
    (farther * x, farther * y)
    for farther in (1, 3)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
)
"""Directions and relative distances of a text from its point. The preferred ones come first."""


def shortened(text: str, longest: int) -> str:
    """Cut a text to a number of drawable characters."""
    text = readable(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def place_labels(axes: Axes, at: Points, texts: Sequence[str], colours: Sequence[str], *, crowd: Points) -> None:
    """Write a text next to each of some points, at the place where it hides least of the figure.

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


COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours of Okabe & Ito (2008), which colour-blind readers can distinguish. Yellow is left out: it is too faint
on white."""

MARKERS: Final = "osD^vPX"

_FORMATS: Final = ("pdf", "png", "svg")
_DPI: Final = 150


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Create an empty figure of a size in inches, for drawing within the ``with`` block.

    Its parts are laid out without overlaps. Texts are drawn literally: dollar signs in a name do not enclose a
    formula. Letters that one font lacks are taken from another font.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plot", purpose="drawing") from error
    with rc_context({"text.parse_math": False, "font.family": list(font_families())}):
        figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def picture_format(path: Path) -> str:
    """Get the format of a picture from the ending of its file name. Call this before the work that fills the file.

    Raises:
        OutputError: the ending is of no known format.
    """
    ending = path.suffix[1:].lower()
    if ending not in _FORMATS:
        raise OutputError(
            f"the name of a picture must end in .{', .'.join(_FORMATS[:-1])} or .{_FORMATS[-1]}", path=path
        )
    return ending


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the ending of the file name.

    Raises:
        OutputError: the ending is of no known format, or the file cannot be written.
    """
    ending = picture_format(path)
    with atomic_file(path) as partial:
        figure.savefig(partial, format=ending)
