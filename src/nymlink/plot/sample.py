"""Sample names for pictures: those of a few concepts, and batches of pairs as in training."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.vocabulary import Vocabulary

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class NameSample:
    """N prepared names of C concepts.

    Attributes:
        texts: the names; those of a concept follow one another, its first name first.
        labels: int32 (N): the concept of each, from 0.
        concepts: the C preferred names.
        languages: where concepts were chosen, the codes of the languages of each of their names, which come first.
    """

    texts: tuple[str, ...]
    labels: Labels
    concepts: tuple[str, ...]
    languages: tuple[str, ...] = ()

    @property
    def chosen(self) -> int:
        """The number of chosen concepts."""
        return len(np.unique(self.labels[: len(self.languages)]))

    @property
    def is_multilingual(self) -> bool:
        """Whether the names of chosen concepts are in several languages."""
        return len(set(self.languages)) > 1


def sample_names(
    vocabulary: Vocabulary, *, concepts: int, names: int, seed: int = 0, without: Collection[int] = ()
) -> NameSample:
    """Draw names of random concepts among those that have enough names.

    Args:
        vocabulary: vocabulary of the names.
        concepts: number of concepts.
        names: number of names of each; where too few concepts have as many, those with most are drawn.
        seed: seed of the drawing.
        without: rows of concepts that are not drawn.

    Raises:
        InputError: fewer concepts than wanted have two names.
    """
    pairs = Pairs.of(vocabulary, seed=seed)
    others = np.flatnonzero(~np.isin(pairs.concepts, list(without)))
    counts = np.diff(pairs.name_offsets)[others]
    if len(counts) < concepts:
        which = "other concepts" if without else "concepts"
        raise InputError(
            f"only {len(counts)} {which} of the vocabulary have two or more distinct names, not {concepts}"
        )
    random = np.random.default_rng(seed)
    shuffled = random.permutation(len(counts))
    # Stable: concepts with enough names stay in random order.
    drawn = shuffled[np.argsort(-np.minimum(counts[shuffled], names), kind="stable")][:concepts]
    chosen = np.sort(others[drawn])
    rows = []
    for concept in chosen:
        own = pairs.names[pairs.name_offsets[concept] : pairs.name_offsets[concept + 1]]
        further = random.permutation(own[1:])[: names - 1]
        rows.append(np.concatenate([own[:1], np.sort(further)]))
    return NameSample(
        texts=tuple(pairs.texts(np.concatenate(rows))),
        labels=np.repeat(np.arange(concepts, dtype=np.int32), [len(own) for own in rows]),
        concepts=tuple(vocabulary.preferred_name(int(row)) for row in pairs.concepts[chosen]),
    )


def sample_batches(
    vocabulary: Vocabulary, *, pairs: int, batches: int, seed: int = 0
) -> list[tuple[list[str], Labels]]:
    """List the first batches of a training: the names of each, left names before right ones, and their concepts.

    Raises:
        InputError: the vocabulary has too few pairs.
    """
    source = Pairs.of(vocabulary, seed=seed)
    if len(source) < pairs * batches:
        raise InputError(f"the vocabulary has {len(source):,} pairs, not {batches:,} batches of {pairs:,}")
    drawn = []
    for start in range(0, pairs * batches, pairs):
        concepts, left, right = source.rows(start, start + pairs)
        drawn.append((source.texts(np.concatenate([left, right])), np.tile(concepts, 2)))
    return drawn
