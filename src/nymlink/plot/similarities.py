"""Draw similarities of positive and negative pairs before and after mining, as figure 2 of Liu et al. (2021)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import MissingExtraError
from nymlink.plot.figure import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = npt.NDArray[np.float32]
Batch = tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]

_BIN: Final = 0.04

_ROOM: Final = 1.35
"""Height of a panel relative to its curves. The space above the curves is for the numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSimilarities:
    """Cosine similarities of pairs of names. Each pair counts twice, once from each of its names.

    Attributes:
        positives: float32: similarities of pairs of names of one concept.
        negatives: float32: similarities of pairs of names of two concepts.
    """

    positives: Values
    negatives: Values

    @classmethod
    def of(cls, batches: Iterable[Batch], *, margin: float | None) -> PairSimilarities:
        """Compute the similarities of the pairs kept by mining in some batches.

        Args:
            batches: vectors (B, D) and concepts (B) of the names of each batch.
            margin: margin of mining; ``None`` keeps all pairs.

        Raises:
            MissingExtraError: torch, needed for mining, is not installed.
        """
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError("train", purpose="mining") from error
        from nymlink.train.losses.base import distances, mine, similarities

        positives, negatives = [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]
        for vectors, concepts in batches:
            embeddings, labels = torch.from_numpy(vectors), torch.from_numpy(concepts)
            cosines = similarities(embeddings, embeddings)
            masks = mine(distances(cosines), labels, labels, torch.arange(len(labels)), margin)
            positives.append(cosines[masks[0]].numpy())
            negatives.append(cosines[masks[1]].numpy())
        return cls(np.concatenate(positives), np.concatenate(negatives))


def draw_similarities(
    measured: Mapping[str, tuple[PairSimilarities, PairSimilarities]], *, margin: float
) -> Figure:
    """Draw a row of two histograms for each encoder.

    Args:
        measured: title → the similarities of all pairs, and of the mined ones.
        margin: margin of mining, for the title.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(11.5, 0.9 + 3.8 * len(measured)) as figure:
        figure.suptitle(
            f"Similarities of pairs in a batch, before and after mining (margin {margin:g})", fontsize=13
        )
        lowest = min(
            value.min(initial=0) for every, _ in measured.values() for value in (every.positives, every.negatives)
        )
        bins = 1 - _BIN * np.arange(np.ceil((1 - max(lowest, -1)) / _BIN), -1, -1)
        rows = figure.subplots(len(measured), 2, squeeze=False, sharex=True, sharey="row")
        for (left, right), (title, (every, mined)) in zip(rows, measured.items(), strict=True):
            left.set_title(f"{title}: all pairs", fontsize=11)
            left.set_ylabel(f"share of pairs in steps of {_BIN:g} (%)")
            _draw_pairs(left, every, bins)
            right.set_title(f"{title}: mined pairs", fontsize=11)
            _draw_pairs(right, mined, bins, of=every)
            left.set_ylim(top=_ROOM * left.get_ylim()[1])
        for axes in rows[-1]:
            axes.set_xlabel("cosine similarity")
    return figure


def _draw_pairs(
    axes: Axes, pairs: PairSimilarities, bins: npt.NDArray[np.float64], *, of: PairSimilarities | None = None
) -> None:
    """Draw the histograms of both kinds of pairs, with their numbers and their shares of all pairs."""
    kinds = (
        ("positive", pairs.positives, None if of is None else of.positives, COLOURS[0], ""),
        ("negative", pairs.negatives, None if of is None else of.negatives, COLOURS[1], "///"),
    )
    heights = []
    for kind, values, whole, colour, hatch in kinds:
        heights.append(np.histogram(values.clip(-1, 1), bins)[0] / max(len(values), 1))
        told = f"{len(values):,} {kind}"
        if whole is not None:
            told += f", {100 * len(values) / max(len(whole), 1):.3g} % of all"
        if len(values):
            told += f", mean {values.mean():.2f}"
            axes.axvline(values.mean(), ymax=1 / _ROOM, color=colour, linestyle="--", linewidth=1)
        axes.stairs(
            100 * heights[-1],
            bins,
            fill=True,
            facecolor=(colour, 0.35),
            edgecolor=colour,
            linewidth=1.4,
            hatch=hatch,
            label=told,
        )
    axes.plot([], [], " ", label=f"overlap of the two {100 * np.minimum(*heights).sum():.0f} %")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
