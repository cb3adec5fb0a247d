"""Measuring an encoder while it is trained: mentions of held-out corpora to the nearest names of a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Vectors
from nymlink.corpus.read import read_corpus
from nymlink.evaluate.gold import GoldResolver
from nymlink.evaluate.metrics import accuracy, as_array
from nymlink.evaluate.outcomes import Rank, first_rank, worst_rank
from nymlink.index.dense.nearest import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE
from nymlink.link.queries import queries
from nymlink.text.english.spelling import DEFAULT_SPELLING
from nymlink.train.mentions.annotated import describe_corpus, nothing_right
from nymlink.train.settings.common import HeldOut
from nymlink.vocabulary.read import open_vocabulary

AT: Final = (1, 5)

Encode = Callable[[Sequence[str]], Vectors]
"""N names → float32 (N, D), of unit length."""


class Evaluation:
    """A corpus and a dictionary, prepared once and measured often.

    The protocol is that of Sung et al. (2020) and SapBERT, by names and lenient: a name is right when one of its
    concepts is gold, a composite mention when each of its parts is. Nothing but vectors decides. Mentions whose
    gold ids the dictionary does not have count as wrong.

    Args:
        held_out: where they are.
        types: mentions of these types only; of all if there are none.
        problems: gets broken input.

    Raises:
        InputError: a file cannot be read, or no mention has a gold id that the dictionary has.
    """

    def __init__(self, held_out: HeldOut, *, types: Collection[str] = (), problems: Problems) -> None:
        self._vocabulary = open_vocabulary(Path(held_out.dictionary), problems=problems)
        self._owners = self._vocabulary.columns.names["concept"].to_numpy()
        self._entries = Entries.of(self._vocabulary)
        corpus = read_corpus(Path(held_out.corpus), problems=problems)
        self._corpus = describe_corpus(Path(held_out.corpus))
        resolver = GoldResolver(self._vocabulary)
        self._mentions = [
            (tuple(part.text for part in asked), resolver.rows(mention.concept_ids))
            for document in corpus.documents
            for mention, asked in zip(
                document.mentions,
                queries(document, self._entries, spelling=DEFAULT_SPELLING, composites="gold", as_published=True),
                strict=True,
            )
            if mention.concept_ids and (not types or mention.type in types)
        ]
        if not any(gold for _, gold in self._mentions):
            raise nothing_right(held_out, types)
        self._texts = list(dict.fromkeys(part for parts, _ in self._mentions for part in parts))

    def __call__(self, encode: Encode) -> dict[str, float]:
        """``acc@1`` and ``acc@5`` of an encoder, as shares."""
        hits = nearest(encode(self._texts), encode(self._entries.texts.to_pylist()), max(AT))
        found = dict(zip(self._texts, hits.rows.tolist(), strict=True))
        ranks = as_array([self._rank([found[part] for part in parts], gold) for parts, gold in self._mentions])
        return {f"acc@{k}": accuracy(ranks, k) for k in AT}

    def describe(self) -> dict[str, Any]:
        """What is measured on, as JSON values."""
        return {
            "corpus": self._corpus,
            "mentions": len(self._mentions),
            "entries": len(self._entries),
            "dictionary": [source.to_dict() for source in self._vocabulary.sources],
        }

    def _rank(self, parts: Sequence[Sequence[int]], gold: frozenset[int]) -> Rank:
        return worst_rank([first_rank(self._is_right(row, gold) for row in rows) for rows in parts])

    def _is_right(self, row: int, gold: frozenset[int]) -> bool:
        return row != NONE and not gold.isdisjoint(self._entries.concepts(row, self._owners))


def open_evaluations(
    corpora: Mapping[str, HeldOut], *, types: Collection[str] = (), problems: Problems
) -> dict[str, Evaluation]:
    """The evaluations of a training, by name; see :class:`Evaluation`."""
    return {name: Evaluation(one, types=types, problems=problems) for name, one in corpora.items()}


def remembering(encode: Encode) -> Encode:
    """The same encoder, but a name is encoded once only: corpora may share a dictionary."""
    known: dict[str, npt.NDArray[np.float32]] = {}

    def encoded(names: Sequence[str]) -> npt.NDArray[np.float32]:
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[name] for name in names])

    return encoded
