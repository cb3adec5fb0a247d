"""Draw how well names in one language find names in other languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Vectors
from nymlink.pairs.pairs import Rows, distinct_names, lower_case
from nymlink.plot.figure import new_figure
from nymlink.plot.sample import Labels
from nymlink.vocabulary.concepts import SYNONYM_KINDS, matching_languages
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_LANGUAGES: Final = 12
"""Largest number of languages that are chosen by default."""


@dataclass(frozen=True, slots=True, eq=False)
class Translations:
    """N prepared names of concepts. Each concept has names in all L languages.

    Attributes:
        languages: the L codes.
        texts: the names.
        concepts: int32 (N): the concept row of each.
        codes: int32 (N): the language of each, from 0.
    """

    languages: tuple[str, ...]
    texts: tuple[str, ...]
    concepts: Labels
    codes: Labels


def sample_translations(
    vocabulary: Vocabulary, *, concepts: int, languages: Sequence[str] = (), seed: int = 0
) -> Translations:
    """Sample random concepts that have names in each of some languages, and take all these names.

    Args:
        vocabulary: vocabulary of the names.
        concepts: number of concepts.
        languages: codes of the languages, each with its regions. If empty, the languages with the most names are
            taken, at most :data:`MOST_LANGUAGES`. A language that would leave too few concepts is passed over.
        seed: seed of the sample.

    Raises:
        InputError: there are fewer than two known languages, or too few concepts have names in each language.
    """
    named = _asked(vocabulary, languages) if languages else _common(vocabulary, concepts)
    if len(named) < 2:
        raise InputError(f"one language ({', '.join(named)}) cannot search another: two or more are needed")
    shared = _shared(named)
    if len(shared) < concepts:
        raise InputError(
            f"only {len(shared):,} concepts have names in each of {', '.join(named)}, not {concepts:,}: ask for "
            "fewer concepts, or for other languages"
        )
    chosen = np.random.default_rng(seed).permutation(shared)[:concepts]
    drawn = [(names[np.isin(owners, chosen)], owners[np.isin(owners, chosen)]) for names, owners in named.values()]
    rows = pa.array(np.concatenate([names for names, _ in drawn]))
    return Translations(
        languages=tuple(named),
        texts=tuple(lower_case(vocabulary.columns.names["text"].take(rows).combine_chunks()).to_pylist()),
        concepts=np.concatenate([owners for _, owners in drawn]),
        codes=np.repeat(np.arange(len(drawn), dtype=np.int32), [len(names) for names, _ in drawn]),
    )


Named = dict[str, tuple[Rows, Rows]]
"""The names of each language, and their concepts."""


def _asked(vocabulary: Vocabulary, languages: Sequence[str]) -> Named:
    available = vocabulary.counts("lang")
    for code in languages:
        if not matching_languages([code], available):
            raise InputError(f"no name is in the language {code!r}; the vocabulary has: {', '.join(available)}")
    return {code: _names(vocabulary, code) for code in languages}


def _common(vocabulary: Vocabulary, concepts: int) -> Named:
    """Choose the languages with the most names; pass over languages that leave fewer concepts than wanted."""
    codes = dict.fromkeys(code.partition("-")[0] for code in vocabulary.counts("lang") if code != UNKNOWN_LANGUAGE)
    if not codes:
        raise InputError("the languages of all names are unknown: build the vocabulary with --default-language")
    named: Named = {}
    left_out: Named = {}
    for code in codes:
        own = _names(vocabulary, code)
        chosen = named if len(_shared({**named, code: own})) >= concepts else left_out
        chosen[code] = own
        if len(named) == MOST_LANGUAGES:
            break
    # With so few languages, an error naming them is better than leaving them out.
    return named if len(named) > 1 else dict([*named.items(), *left_out.items()][:2])


def _names(vocabulary: Vocabulary, language: str) -> tuple[Rows, Rows]:
    return distinct_names(vocabulary, languages=[language], kinds=SYNONYM_KINDS)


def _shared(named: Named) -> Rows:
    shared: Rows = reduce(np.intersect1d, (np.unique(owners) for _, owners in named.values()))
    return shared


Grid = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_CELL: Final = 0.46
"""Size of a cell, in inches."""

_DARK: Final = 0.55
"""Share from which the colour of a cell is so dark that its number is white."""

_FEWEST: Final = 10
"""Smallest number of names for a figure of names that search their own language."""

_SAME: Final = 1e-6
"""Rounding error of cosines."""


def retrieval_accuracy(sample: Translations, vectors: Vectors) -> Grid:
    """Compute the Acc@1 of the names in each language when they search the names in each language.

    A name is right if the nearest name by cosine similarity belongs to the same concept. If several names are
    equally near, the share of those that belong to the concept counts. A name that searches its own language does
    not find itself. Then only names with a synonym in this language count, and the value is NaN if there are fewer
    than ten.

    Args:
        sample: the N names of L languages.
        vectors: unit vectors (N, D), in the order of the sample.

    Returns:
        (L, L), float64: a row for each language of queries, a column for each searched language.
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
    """Draw a heat map for each encoder: a row for each language of queries, a column for each searched language.

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
