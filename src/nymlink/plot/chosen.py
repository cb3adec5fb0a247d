"""Take the names of chosen concepts in all languages, among names of random concepts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

import numpy as np

from nymlink.core.errors import InputError
from nymlink.plot.sample import NameSample, sample_names
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


def sample_chosen(
    vocabulary: Vocabulary, concept_ids: Sequence[str], *, concepts: int, names: int, seed: int = 0
) -> NameSample:
    """Take names of chosen concepts, and draw those of random others to compare them with.

    Args:
        vocabulary: vocabulary of the names.
        concept_ids: the chosen concepts.
        concepts: number of concepts in all, at least that of the chosen ones.
        names: number of names of each; of a chosen concept at least one in every language.
        seed: seed of the drawing of the others.

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
    """Collect prepared names of a concept, the surest of every language first, each with its languages."""
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
