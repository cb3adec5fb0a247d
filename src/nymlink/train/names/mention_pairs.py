"""Pairs of annotated mentions and names of their gold concepts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

import numpy as np

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.pairs.sequence import NamedPairs
from nymlink.text.normalisation.normalise import normalise
from nymlink.train.annotated_queries import annotated_queries, no_concept_error
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


class MentionPairs:
    """Every mention with every name of its gold concepts, as a :class:`~nymlink.pairs.sequence.PairSequence`.

    Liu et al. (2021), section 3.2. Mentions are prepared queries, names are in normal form, as in a search. A
    mention that recurs counts once, as in the training of BioSyn. Pairs of equal names are left out. So are
    composite mentions that can be split: it is not annotated which part has which id. One that cannot be split has
    the names of all its concepts.

    Args:
        vocabulary: the vocabulary of the names.
        corpora: the corpora of the mentions.
        types: mentions of these types only; all if empty.
        seed: seed of the order of pairs.

    Raises:
        InputError: no mention has a gold id in the vocabulary, or no gold concept has another name than the
            mention.
    """

    def __init__(
        self, vocabulary: Vocabulary, corpora: Iterable[Corpus], *, types: Collection[str] = (), seed: int = 0
    ) -> None:
        @cache
        def names(row: int) -> tuple[str, ...]:
            synonyms = vocabulary.names(vocabulary.concept_id(row), kinds=SYNONYM_KINDS)
            return tuple(dict.fromkeys(normalise(name.text) for name in synonyms))

        gold = dict.fromkeys(
            (annotated.query, row)
            for annotated in annotated_queries(vocabulary, corpora, types=types)
            for row in sorted(annotated.concepts)
        )
        self._mentions = [
            (query, row, others)
            for query, row in gold
            if (others := [name for name in names(row) if name != query])
        ]
        if not gold:
            raise no_concept_error(types)
        if not self._mentions:
            raise InputError(
                "no gold concept has another name than its mentions: there are no pairs to train on; use a "
                "vocabulary with more synonyms"
            )
        counts = [len(others) for _, _, others in self._mentions]
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self._seed = seed

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        owners = np.searchsorted(self._offsets, numbers, side="right") - 1
        mentions = [self._mentions[owner] for owner in owners.tolist()]
        names = [
            others[place]
            for (_, _, others), place in zip(mentions, (numbers - self._offsets[owners]).tolist(), strict=True)
        ]
        return NamedPairs(np.array([row for _, row, _ in mentions]), [query for query, _, _ in mentions], names)
