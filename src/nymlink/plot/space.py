"""Draw maps of names before and after training, as figure 1 of Liu et al. (2021)."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.store.arrays import Vectors
from nymlink.plot.figure import COLOURS, MARKERS, new_figure, place_labels, readable
from nymlink.plot.sample import Labels, NameSample
from nymlink.text.normalise import HAN, scripts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Flat = npt.NDArray[np.float64]

_GREY: Final = "#999999"

_LINE: Final = 84
"""Characters per line of a map's width."""

_SAME: Final = 1e-6
"""Rounding error of cosines and of components of unit vectors."""


def draw_space(sample: NameSample, views: Mapping[str, Vectors], *, seed: int = 0) -> Figure:
    """Draw a map of names for each encoder.

    Each concept has a colour and a shape, and a label with its preferred name. If there are chosen concepts, the
    other concepts are grey, and each name of a chosen concept has a label. The label is the name itself if all
    these names are in one language. Otherwise it is the language of the name, and a key lists the names by
    language.

    Args:
        sample: the N names.
        views: title → vectors (N, D), of any length, in the order of the sample.
        seed: seed of the maps.

    Raises:
        InputError: all names have the same vector.
        MissingExtraError: matplotlib or scikit-learn is not installed.
    """
    for title, vectors in views.items():
        if np.ptp(_units(vectors), axis=0).max() < _SAME:
            raise InputError(f"{title}: the encoder does not tell these names apart")
    keys = [_key(sample, concept, _LINE * len(views)) for concept in range(sample.chosen)]
    lines = "".join(f"{key}\n" for key in keys).count("\n")
    asked = len(sample.languages) or len(sample.texts)
    with new_figure(6.4 * len(views), 6.4 + 0.18 * lines) as figure:
        figure.suptitle(
            f"{len(sample.texts)} names of {len(sample.concepts)} concepts, "
            + ("random ones in grey" if 0 < len(keys) < len(sample.concepts) else "each of one colour and shape"),
            fontsize=13,
        )
        panels = figure.subplots(1, len(views), squeeze=False)[0]
        maps = [flatten(vectors, seed=seed) for vectors in views.values()]
        for axes, points, (title, vectors) in zip(panels, maps, views.items(), strict=True):
            share = 100 * synonyms_nearest(vectors, sample.labels, first=asked)
            of = "coloured names" if keys else "names"
            axes.set_title(f"{title}\nnearest other name is a synonym: {share:.0f} % of {of}", fontsize=11)
            _draw_map(axes, turned(points, like=maps[0]), sample)
        if keys:
            handles = panels[0].collections[: len(keys)]
            figure.legend(handles, keys, loc="outside lower center", frameon=False, fontsize=9)
        # Texts are placed last, when the sizes are final, and must not change the layout again.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes in panels:
            _label(axes, sample)
    return figure


def flatten(vectors: Vectors, *, seed: int = 0) -> Flat:
    """Map unit vectors to two dimensions by t-SNE (van der Maaten & Hinton 2008): (N, D) → (N, 2).

    The method starts from the principal components.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtraError("plot", purpose="a map of names") from error
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    # The exact method, since the approximation is slower for the few points of a map.
    tsne = TSNE(init="pca", method="exact", perplexity=perplexity, random_state=seed)
    embedded = np.asarray(tsne.fit_transform(_units(vectors)), np.float64)
    centred: Flat = embedded - embedded.mean(0)
    return centred


def turned(points: Flat, *, like: Flat) -> Flat:
    """Rotate or mirror a map (N, 2) so that its points are nearest to those of another map (Procrustes)."""
    left, _, right = np.linalg.svd(points.T @ like)
    rotated: Flat = points @ left @ right
    return rotated


def synonyms_nearest(vectors: Vectors, labels: Labels, *, first: int | None = None) -> float:
    """Compute the share of names whose nearest other name, by cosine similarity, is of the same concept.

    If several names are equally near, the share of those that belong to the concept counts.

    Args:
        vectors: vectors (N, D) of the names.
        labels: int32 (N): their concepts.
        first: number of names to check, from the first on; ``None`` for all.
    """
    units = _units(vectors)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = cosines >= cosines.max(1, keepdims=True) - _SAME
    synonyms = labels[:, None] == labels
    shares = (nearest & synonyms).sum(1) / nearest.sum(1)
    return float(np.mean(shares[:first]))


def _draw_map(axes: Axes, points: Flat, sample: NameSample) -> None:
    for concept in range(len(sample.concepts)):
        colour, marker = _style(concept, sample)
        of_concept = points[sample.labels == concept]
        axes.scatter(
            of_concept[:, 0], of_concept[:, 1], s=42, c=colour, marker=marker, edgecolors="white", linewidths=0.6
        )
    axes.margins(0.1)
    # Distances on the map have no unit.
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color("#bbbbbb")


def _label(axes: Axes, sample: NameSample) -> None:
    """Label each name of the chosen concepts, and one name of each other concept.

    If the names of chosen concepts are in several languages, their labels are the languages.
    """
    points = np.concatenate([drawn.get_offsets() for drawn in axes.collections])
    firsts = np.unique(sample.labels, return_index=True)[1][sample.chosen :]
    labelled = np.concatenate([np.arange(len(sample.languages)), firsts])
    own = sample.languages if sample.is_multilingual else sample.texts[: len(sample.languages)]
    texts = [*own, *sample.concepts[sample.chosen :]]
    colours = [_style(concept, sample)[0] for concept in sample.labels[labelled].tolist()]
    place_labels(axes, points[labelled], texts, colours, crowd=points)


def _key(sample: NameSample, concept: int, width: int) -> str:
    """Write a chosen concept and, by language, its names, in lines of a number of characters."""
    preferred = readable(sample.concepts[concept])
    if not sample.is_multilingual:
        return preferred
    own = zip(sample.languages, sample.texts, sample.labels, strict=False)
    names = [_written(codes, text) for codes, text, label in own if label == concept]
    # Lines break between names, not within them.
    return fill(f"{preferred}: " + " · ".join(name.replace(" ", "\N{NO-BREAK SPACE}") for name in names), width)


def _written(codes: str, text: str) -> str:
    shown = readable(text)
    # Chinese characters are romanised as in Mandarin, which would be wrong in Japanese.
    if shown != text and "ja" in codes and HAN in scripts_of(text):
        return codes
    return f"{codes} {shown}".strip()


def _style(concept: int, sample: NameSample) -> tuple[str, str]:
    """Choose colour and marker of a concept. Of the first 49 concepts, only grey ones may have both in common."""
    turn, colour = divmod(concept, len(COLOURS))
    is_other = sample.chosen and concept >= sample.chosen
    return _GREY if is_other else COLOURS[colour], MARKERS[(colour + turn) % len(MARKERS)]


def _units(vectors: Vectors) -> Vectors:
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    return units
