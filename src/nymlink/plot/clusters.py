"""Draw how many mentions a concept has in a document (Le & Nguyen 2023, figure 3, count them in a corpus)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.plot.figure import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sizes = npt.NDArray[np.int64]

_LAST: Final = 15
"""Clusters of this many mentions and more share a bar."""


def cluster_sizes(corpus: Corpus) -> Sizes:
    """Count the mentions of each concept in each document that has any: int64, the largest first.

    Only mentions of one concept count, as a re-ranker learns from no others; concepts are distinguished by id.

    Raises:
        InputError: no mention has a gold id.
    """
    counts = Counter(
        (number, mention.concept_ids[0])
        for number, document in enumerate(corpus.documents)
        for mention in document.mentions
        if len(mention.concept_ids) == 1 and not mention.parts
    )
    if not counts:
        raise InputError("no mention of the corpus has exactly one gold id")
    return np.array(sorted(counts.values(), reverse=True), np.int64)


def draw_clusters(sizes: Sizes, *, title: str) -> Figure:
    """Draw a bar chart of cluster sizes: numbers of clusters of each size, and of their mentions.

    Args:
        sizes: sizes of the clusters.
        title: name of the corpus.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with new_figure(8, 4.6) as figure:
        axes = figure.subplots()
        last = min(int(sizes.max()), _LAST)
        places = np.minimum(sizes, last)
        single = float(np.mean(sizes == 1))
        axes.set_title(
            f"{title}: {sizes.sum():,} mentions in {len(sizes):,} clusters, {sizes.mean():.1f} in the mean\n"
            f"{100 * single:.0f} % of the clusters have a single mention",
            fontsize=11,
        )
        bars = (("clusters", None, COLOURS[0], -0.2, ""), ("mentions", sizes, COLOURS[1], 0.2, "///"))
        for kind, weights, colour, shift, hatch in bars:
            heights = np.bincount(places, weights, minlength=last + 1)[1:]
            axes.bar(np.arange(1, last + 1) + shift, heights, 0.4, color=colour, hatch=hatch, label=kind)
        shown = [str(size) for size in range(1, last + 1)]
        if sizes.max() > last:
            shown[-1] += "+"
        axes.set_xticks(range(1, last + 1), shown)
        axes.set_xlabel("mentions of a concept in a document")
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
