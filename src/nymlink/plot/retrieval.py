"""Draw how well names in each language find the names of the same concepts in each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Vectors
from nymlink.plot.figure import new_figure
from nymlink.plot.translations import Translations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Grid = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_CELL: Final = 0.46
"""Size of a cell, in inches."""

_DARK: Final = 0.55
"""Share from which the colour of a cell is so dark that its number is white."""

_FEWEST: Final = 10
"""Of fewer names that search within a language nothing is said."""

_SAME: Final = 1e-6
"""Rounding error of cosines."""


def retrieval_accuracy(sample: Translations, vectors: Vectors) -> Grid:
    """Compute the Acc@1 of names in each language that search those in each other: (L, L), float64.

    A name is right if the nearest one by cosine similarity is of the same concept; of several equally near names,
    the share that is counts. Within a language a name does not find itself: only names with a synonym there
    count, and where there are fewer than ten the value is NaN.

    Args:
        sample: the N names of L languages.
        vectors: unit vectors (N, D), in the order of the sample.

    Returns:
        A row for each language of queries, a column for each language that is searched.
    """
    own = [np.flatnonzero(sample.codes == code) for code in range(len(sample.languages))]
    return np.array([[_accuracy(sample, vectors, asked, searched) for searched in own] for asked in own])


def _accuracy(sample: Translations, vectors: Vectors, asked: Places, searched: Places) -> float:
    cosines = vectors[asked] @ vectors[searched].T
    right = sample.concepts[asked][:, None] == sample.concepts[searched]
    itself = asked[:, None] == searched
    right &= ~itself
    cosines[itself] = -np.inf
    has_answer = right.any(1)
    if has_answer.sum() < min(_FEWEST, len(np.unique(sample.concepts))):
        return np.nan
    nearest = (cosines >= cosines.max(1, keepdims=True) - _SAME)[has_answer]
    return float(np.mean((nearest & right[has_answer]).sum(1) / nearest.sum(1)))


def draw_retrieval(sample: Translations, views: Mapping[str, Vectors]) -> Figure:
    """Draw a heat map for each encoder: a row for each language of queries, a column for each that is searched.

    Args:
        sample: the N names of L languages.
        views: title → unit vectors (N, D), in the order of the sample.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    size = max(3.2, _CELL * len(sample.languages))
    with new_figure((size + 0.9) * len(views), size + 1.7) as figure:
        figure.suptitle(
            f"Names of {len(np.unique(sample.concepts)):,} concepts that find one of the same concept: Acc@1 (%)",
            fontsize=12,
        )
        panels = figure.subplots(1, len(views), squeeze=False)[0]
        for axes, (title, vectors) in zip(panels, views.items(), strict=True):
            grid = retrieval_accuracy(sample, vectors)
            across = np.nanmean(grid[~np.eye(len(grid), dtype=bool)])
            axes.set_title(f"{title}\nmean across languages: {100 * across:.0f} %", fontsize=11)
            axes.set_xlabel("language searched")
            _draw_grid(axes, grid, sample.languages)
        panels[0].set_ylabel("language of the names that search")
    return figure


def _draw_grid(axes: Axes, grid: Grid, languages: tuple[str, ...]) -> None:
    # Colours mean the same in every picture.
    axes.imshow(grid, cmap="Blues", vmin=0, vmax=1)
    for (row, column), share in np.ndenumerate(grid):
        axes.text(
            column,
            row,
            "–" if np.isnan(share) else f"{100 * share:.0f}",
            ha="center",
            va="center",
            fontsize=9,
            color="white" if share > _DARK else "black",
        )
    axes.set_xticks(range(len(languages)), languages)
    axes.set_yticks(range(len(languages)), languages)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
