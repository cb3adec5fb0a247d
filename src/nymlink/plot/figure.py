"""Create and save figures: colours, formats, and the extra that they need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nymlink.core.errors import MissingExtraError, OutputError
from nymlink.core.store.atomic import atomic_file
from nymlink.plot.fonts import font_families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours of Okabe & Ito (2008), safe for colour-blind readers, without yellow, which is faint on white."""

MARKERS: Final = "osD^vPX"

_FORMATS: Final = ("pdf", "png", "svg")
_DPI: Final = 150


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Create an empty figure, in inches, laid out without overlaps, to be drawn on within the block.

    Texts are drawn literally: the dollar signs of a name enclose no formula. Letters that one font does not have
    are taken from another.

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
    """Get the format from the ending of a file name, to be checked before the work that fills the file.

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
