"""Sample names for pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.concepts import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

Labels = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class NameSample:
    """N prepared names of C concepts.

    Attributes:
        texts: the names. The names of a concept follow each other, and begin with its first name.
        labels: int32 (N): the concept of each, from 0.
        concepts: the C preferred names.
        languages: the language codes of each name of the chosen concepts. The chosen concepts come first.
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
    """Sample names of random concepts with enough names.

    Args:
        vocabulary: vocabulary of the names.
        concepts: number of concepts.
        names: number of names of each concept. If too few concepts have so many names, the concepts with the most
            names are taken.
        seed: seed of the sample.
        without: rows of concepts to leave out.

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
    """List the first batches of a training.

    Returns:
        For each batch, its names and their concepts. The left names of its pairs come before the right names.

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


def sample_chosen(
    vocabulary: Vocabulary, concept_ids: Sequence[str], *, concepts: int, names: int, seed: int = 0
) -> NameSample:
    """Take names of chosen concepts, and sample names of other, random concepts for comparison.

    Args:
        vocabulary: vocabulary of the names.
        concept_ids: the chosen concepts.
        concepts: number of all concepts, including the chosen ones.
        names: number of names of each concept. A chosen concept has at least one name in each of its languages.
        seed: seed of the sample of other concepts.

    Raises:
        UnknownNameError: no concept has one of these ids.
        InputError: a chosen concept has no names, or there are fewer other concepts than wanted.
    """
    named = [_by_language(vocabulary, concept_id, names) for concept_id in concept_ids]
    rows = [row for concept_id in concept_ids if (row := vocabulary.row(concept_id)) is not None]
    chosen = NameSample(
        texts=tuple(chain.from_iterable(named)),
        labels=np.repeat(np.arange(len(named), dtype=np.int32), [len(own) for own in named]),
        concepts=tuple(map(vocabulary.preferred_name, rows)),
        languages=tuple(", ".join(codes) for own in named for codes in own.values()),
    )
    if len(named) >= concepts:
        return chosen
    others = sample_names(vocabulary, concepts=concepts - len(named), names=names, seed=seed, without=rows)
    return NameSample(
        texts=chosen.texts + others.texts,
        labels=np.concatenate([chosen.labels, others.labels + np.int32(len(named))]),
        concepts=chosen.concepts + others.concepts,
        languages=chosen.languages,
    )


def _by_language(vocabulary: Vocabulary, concept_id: str, most: int) -> dict[str, list[str]]:
    """Collect prepared names of a concept with their languages: first the most reliable name in every language."""
    by_language: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name in vocabulary.names(concept_id, kinds=SYNONYM_KINDS):
        by_language[name.lang][name.text.lower()] = None
    if not by_language:
        raise InputError(f"{concept_id} has no names to draw: choose another concept")
    codes = sorted(by_language)
    collected: dict[str, list[str]] = {}
    for place, turn in enumerate(zip_longest(*(by_language[code] for code in codes))):
        for code, text in zip(codes, turn, strict=True):
            if text is not None and (place == 0 or text in collected or len(collected) < most):
                collected.setdefault(text, []).append(code)
    return collected
