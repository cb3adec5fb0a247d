"""Evaluation of an encoder during training: held-out mentions linked to the nearest names of a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Vectors
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.evaluation.metrics import accuracy, as_array
from nymlink.evaluation.outcomes import Rank, first_rank, worst_rank
from nymlink.index.dense.nearest import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE
from nymlink.linking.queries import queries
from nymlink.train.annotated_queries import describe_corpus, no_gold_error
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.vocabulary.read import open_vocabulary

CUTOFFS: Final = (1, 5)

Encode = Callable[[Sequence[str]], Vectors]
"""N names → float32 (N, D), of unit length."""


class EncoderEvaluation:
    """An evaluation on a held-out corpus: the corpus and its dictionary are prepared once, for many evaluations.

    The protocol is that of Sung et al. (2020) and Liu et al. (2021): names are ranked by their vectors alone; a
    name is right when one of its concepts is gold (lenient), a composite mention when each of its parts is.
    Mentions whose gold ids are not in the dictionary count as wrong.

    Args:
        held_out: the corpus and the dictionary.
        types: mentions of these types only; all if empty.
        problems: collects broken input.

    Raises:
        InputError: a file cannot be read, or no mention has a gold id that is in the dictionary.
    """

    def __init__(self, held_out: HeldOutCorpus, *, types: Collection[str] = (), problems: Problems) -> None:
        self._vocabulary = open_vocabulary(Path(held_out.dictionary), problems=problems)
        self._owners = self._vocabulary.columns.names["concept"].to_numpy()
        self._entries = Entries.of(self._vocabulary)
        corpus = read_corpus(Path(held_out.corpus), problems=problems)
        self._corpus = describe_corpus(Path(held_out.corpus))
        resolver = GoldResolver(self._vocabulary)
        self._mentions = [
            (tuple(part.text for part in parts), resolver.rows(mention.concept_ids))
            for document in corpus.documents
            for mention, parts in zip(
                document.mentions,
                queries(document, self._entries, composites="gold", as_published=True),
                strict=True,
            )
            if mention.concept_ids and (not types or mention.type in types)
        ]
        if not any(gold for _, gold in self._mentions):
            raise no_gold_error(held_out, types)
        self._texts = list(dict.fromkeys(part for parts, _ in self._mentions for part in parts))

    def __call__(self, encode: Encode) -> dict[str, float]:
        """Compute ``acc@1`` and ``acc@5`` of an encoder, from 0 to 1."""
        hits = nearest(encode(self._texts), encode(self._entries.texts.to_pylist()), max(CUTOFFS))
        rows = dict(zip(self._texts, hits.rows.tolist(), strict=True))
        ranks = as_array([self._rank([rows[part] for part in parts], gold) for parts, gold in self._mentions])
        return {f"acc@{k}": accuracy(ranks, k) for k in CUTOFFS}

    def describe(self) -> dict[str, Any]:
        """Return the provenance of corpus and dictionary, as JSON values."""
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
    corpora: Mapping[str, HeldOutCorpus], *, types: Collection[str] = (), problems: Problems
) -> dict[str, EncoderEvaluation]:
    """Prepare the evaluations of a training, by name; see :class:`EncoderEvaluation`."""
    return {name: EncoderEvaluation(corpus, types=types, problems=problems) for name, corpus in corpora.items()}


def memoised(encode: Encode) -> Encode:
    """Wrap an encoder so that it encodes each name once: corpora may share a dictionary."""
    known: dict[str, npt.NDArray[np.float32]] = {}

    def encode_new(names: Sequence[str]) -> npt.NDArray[np.float32]:
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[name] for name in names])

    return encode_new
