"""Pairs of what annotated mentions say and the names of the concepts they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

import numpy as np

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.pairs.sequence import NamedPairs
from nymlink.text.normalise import normalise
from nymlink.train.mentions.annotated import annotated_queries, no_concept
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


class MentionPairs:
    """Every mention with every name of its concept; see :class:`~nymlink.pairs.sequence.PairSequence`.

    Both are in the form in which they meet in a search: mentions as prepared queries, names in normal form. A
    mention that occurs often counts once, as it does in the training of BioSyn; pairs of a name with itself, which
    teach nothing, are left out. So are composite mentions: which of their parts means which concept is not
    annotated. A mention that cannot be split has the names of each of its concepts.

    Args:
        vocabulary: has the names.
        corpora: have the mentions.
        types: mentions of these types only.
        seed: of the order.

    Raises:
        InputError: no mention means a concept of the vocabulary, or none of these has another name.
    """

    def __init__(
        self, vocabulary: Vocabulary, corpora: Iterable[Corpus], *, types: Collection[str] = (), seed: int = 0
    ) -> None:
        @cache
        def names(row: int) -> tuple[str, ...]:
            known = vocabulary.names(vocabulary.concept_id(row), kinds=SYNONYM_KINDS)
            return tuple(dict.fromkeys(normalise(name.text) for name in known))

        meant = dict.fromkeys(
            (one.query, row)
            for one in annotated_queries(vocabulary, corpora, types=types)
            for row in sorted(one.concepts)
        )
        self._mentions = [
            (query, row, others)
            for query, row in meant
            if (others := [name for name in names(row) if name != query])
        ]
        if not meant:
            raise no_concept(types)
        if not self._mentions:
            raise InputError("no concept that a mention means has another name: there are no pairs to learn from")
        counts = [len(others) for _, _, others in self._mentions]
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self._seed = seed

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def stretch(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        at = np.searchsorted(self._offsets, numbers, side="right") - 1
        mentions = [self._mentions[one] for one in at.tolist()]
        names = [
            others[within]
            for (_, _, others), within in zip(mentions, (numbers - self._offsets[at]).tolist(), strict=True)
        ]
        return NamedPairs(np.array([row for _, row, _ in mentions]), [query for query, _, _ in mentions], names)
