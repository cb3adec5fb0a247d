"""Draw mentions in their contexts, and the numbers of mentions of a concept in a document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.store.arrays import Vectors
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.plot.figure import COLOURS, LONGEST_IN_KEY, new_figure, shortened
from nymlink.plot.sample import Labels
from nymlink.plot.space import Flat, turned
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, Passage, passages
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST: Final = len(COLOURS)
"""Largest number of concepts that colours can distinguish."""


@dataclass(frozen=True, slots=True, eq=False)
class ContextSample:
    """M mentions of C concepts.

    Attributes:
        passages: the mentions. The mentions of a concept follow each other.
        labels: int32 (M): the concept of each, from 0.
        concepts: the C rows of the concepts in the vocabulary.
        names: their preferred names.
    """

    passages: tuple[Passage, ...]
    labels: Labels
    concepts: tuple[int, ...]
    names: tuple[str, ...]


def sample_contexts(
    vocabulary: Vocabulary,
    corpus: Corpus,
    *,
    concepts: int,
    mentions: int,
    max_length: int = DEFAULT_MAX_LENGTH,
    seed: int = 0,
) -> ContextSample:
    """Sample mentions of random concepts with enough mentions.

    Only mentions of a single concept with a context count.

    Args:
        vocabulary: vocabulary of the concepts.
        corpus: corpus of the mentions.
        concepts: number of concepts.
        mentions: number of mentions of each concept. If too few concepts have so many mentions, the concepts with
            the most mentions are taken.
        max_length: largest number of tokens that are read of a mention with its context.
        seed: seed of the sample.

    Raises:
        InputError: fewer concepts than wanted have two mentions.
        MissingExtraError: the sentence splitter is not installed.
    """
    passages_of = _by_concept(vocabulary, corpus, max_length)
    rows = np.array(sorted(row for row, group in passages_of.items() if len(group) > 1), np.int64)
    if len(rows) < concepts:
        raise InputError(
            f"only {len(rows)} concepts of the vocabulary have two or more mentions with a context in the corpus, "
            f"not {concepts}"
        )
    random = np.random.default_rng(seed)
    shuffled = random.permutation(rows)
    counts = np.array([min(len(passages_of[row]), mentions) for row in shuffled.tolist()])
    # Stable: concepts with enough mentions stay in random order.
    chosen = np.sort(shuffled[np.argsort(-counts, kind="stable")][:concepts]).tolist()
    drawn = [
        [
            passages_of[row][place]
            for place in np.sort(random.permutation(len(passages_of[row]))[:mentions]).tolist()
        ]
        for row in chosen
    ]
    return ContextSample(
        passages=tuple(passage for group in drawn for passage in group),
        labels=np.repeat(np.arange(concepts, dtype=np.int32), [len(group) for group in drawn]),
        concepts=tuple(chosen),
        names=tuple(map(vocabulary.preferred_name, chosen)),
    )


def _by_concept(vocabulary: Vocabulary, corpus: Corpus, max_length: int) -> dict[int, list[Passage]]:
    resolver = GoldResolver(vocabulary)
    passages_of: defaultdict[int, list[Passage]] = defaultdict(list)
    for document in corpus.documents:
        for mention, passage in zip(document.mentions, passages(document, max_length=max_length), strict=True):
            gold = resolver.rows(mention.concept_ids)
            if passage is not None and len(gold) == 1 and not mention.parts:
                passages_of[min(gold)].append(passage)
    return passages_of


def draw_contexts(sample: ContextSample, views: Mapping[str, tuple[Vectors, Vectors]]) -> Figure:
    """Draw a map for each re-ranker: a star for each concept, dots of the same colour for its mentions.

    Args:
        sample: M mentions of C concepts, at most :data:`MOST`.
        views: title → vectors of the mentions (M, D) and of the concepts (C, D), in the order of the sample.

    Raises:
        MissingExtraError: matplotlib or scikit-learn is not installed.
    """
    with new_figure(6.4 * len(views), 6.6 + 0.2 * len(sample.names)) as figure:
        figure.suptitle(
            f"{len(sample.passages)} mentions (dots) of {len(sample.names)} concepts (stars), each of one colour",
            fontsize=13,
        )
        panels = figure.subplots(1, len(views), squeeze=False)[0]
        maps = [scaled(np.concatenate(pair)) for pair in views.values()]
        for axes, points, (title, (mentions, concepts)) in zip(panels, maps, views.items(), strict=True):
            share = 100 * meant_nearest(mentions, concepts, sample.labels)
            axes.set_title(f"{title}\nnearest of these concepts is meant: {share:.0f} % of mentions", fontsize=11)
            _draw_map(axes, turned(points, like=maps[0]), sample)
        figure.legend(handles=panels[0].collections[1::2], loc="outside lower center", frameon=False, fontsize=9)
    return figure


def scaled(vectors: Vectors) -> Flat:
    """Map vectors to two dimensions so that Euclidean distances change little (metric MDS): (N, D) → (N, 2).

    The method is SMACOF (de Leeuw 1977). It starts from the principal components, and uses no random numbers.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    try:
        from sklearn.manifold import smacof
    except ImportError as error:
        raise MissingExtraError("plot", purpose="a map of mentions") from error
    centred = (vectors - vectors.mean(0)).astype(np.float64)
    distances = np.linalg.norm(centred[:, None] - centred, axis=2)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    embedded = np.asarray(smacof(distances, init=left[:, :2] * sizes[:2], n_init=1)[0], np.float64)
    centred_map: Flat = embedded - embedded.mean(0)
    return centred_map


def meant_nearest(mentions: Vectors, concepts: Vectors, labels: Labels) -> float:
    """Compute the share of M mentions (M, D) whose nearest of C concepts (C, D) is their label (M)."""
    distances = np.linalg.norm(mentions[:, None] - concepts, axis=2)
    return float(np.mean(distances.argmin(1) == labels))


def _draw_map(axes: Axes, points: Flat, sample: ContextSample) -> None:
    mentions, concepts = points[: len(sample.passages)], points[len(sample.passages) :]
    for concept, (name, colour) in enumerate(zip(sample.names, COLOURS, strict=False)):
        dots = mentions[sample.labels == concept]
        axes.scatter(dots[:, 0], dots[:, 1], s=22, c=colour, edgecolors="white", linewidths=0.4)
        star = concepts[concept]
        axes.scatter(
            star[0],
            star[1],
            s=260,
            c=colour,
            marker="*",
            edgecolors="black",
            linewidths=0.8,
            label=shortened(name, LONGEST_IN_KEY),
            zorder=3,
        )
    axes.margins(0.1)
    axes.set_aspect("equal", adjustable="datalim")
    # Distances of different encoders have no common unit.
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color("#bbbbbb")


Sizes = npt.NDArray[np.int64]

_LAST: Final = 15
"""Clusters with this number of mentions or more share a bar."""


def cluster_sizes(corpus: Corpus) -> Sizes:
    """Count the mentions of each concept in each document that mentions it.

    Only mentions with a single concept count, as for re-rankers. Concepts are distinguished by id.

    Returns:
        The counts, the largest first (int64).

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
