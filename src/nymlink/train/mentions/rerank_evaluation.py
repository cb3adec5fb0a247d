"""Measuring a re-ranker while it is trained: candidates of held-out mentions, before and after it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.evaluate.metrics import accuracy, as_array
from nymlink.evaluate.outcomes import Rank, first_rank, worst_rank
from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.rerank.passages import Passage
from nymlink.train.mentions.annotated import describe_corpus, nothing_right
from nymlink.train.mentions.rerank_examples import ContextMention, mentions_in_context, retrieved
from nymlink.train.names.sap import describe
from nymlink.train.settings.common import HeldOut
from nymlink.vocabulary.vocabulary import Vocabulary

Score = Callable[[Vocabulary, Sequence[Passage], Sequence[Rows]], Sequence[Scores]]
"""What a :class:`~nymlink.rerank.scorer.ContextScorer` of a vocabulary gives, by the weights as they are."""


class RerankEvaluation:
    """A held-out corpus with candidates, searched once and re-ranked often.

    All mentions with gold ids count; one whose gold ids the vocabulary does not know, or whose candidates do not
    have them, is wrong. A composite mention is right when each of its parts is; it, and one without a context,
    stays as the index has it.

    Args:
        held_out: the corpus, and the index that it is linked to.
        types: mentions of these types only; of all if there are none.
        candidates: k.
        max_length: tokens that are read of a mention with its context.
        problems: gets broken input.

    Raises:
        InputError: a file cannot be read, or no mention means a concept of the vocabulary.
        StoreError: the index is missing or damaged.
    """

    def __init__(
        self,
        held_out: HeldOut,
        *,
        types: Collection[str],
        candidates: int,
        max_length: int,
        problems: Problems,
    ) -> None:
        index = Index.load(held_out.dictionary)
        self._candidates = candidates
        self._vocabulary = index.vocabulary
        corpus = read_corpus(Path(held_out.corpus), problems=problems)
        self._corpus = describe_corpus(Path(held_out.corpus))
        self._mentions = list(mentions_in_context(index, [corpus], types=types, max_length=max_length))
        if not any(one.gold for one in self._mentions):
            raise nothing_right(held_out, types)
        found = retrieved(index, (part for one in self._mentions for part in one.parts), candidates)
        self._digest = hashlib.sha256(b"".join(rows.tobytes() for rows in found.values())).hexdigest()
        self._found = {query: rows[rows != NONE] for query, rows in found.items()}

    def __call__(self, score: Score) -> dict[str, float]:
        """``acc@1`` and ``acc@5`` when re-ranked, ``retrieved@1`` before it, and ``recall``, which bounds them."""
        before = [[self._found[part] for part in one.parts] for one in self._mentions]
        after = list(before)
        passages = {
            place: one.passage
            for place, (one, parts) in enumerate(zip(self._mentions, before, strict=True))
            if one.passage is not None and len(parts[0])
        }
        candidates = [before[place][0] for place in passages]
        scores = score(self._vocabulary, list(passages.values()), candidates)
        for place, rows, own in zip(passages, candidates, scores, strict=True):
            after[place] = [rows[np.argsort(-own, kind="stable")]]
        first, now = (
            as_array([_rank(one, parts) for one, parts in zip(self._mentions, lists, strict=True)])
            for lists in (before, after)
        )
        return {
            "acc@1": accuracy(now, 1),
            "acc@5": accuracy(now, 5),
            "retrieved@1": accuracy(first, 1),
            "recall": accuracy(first, self._candidates),
        }

    def describe(self) -> Mapping[str, Any]:
        """What is measured on, as JSON values."""
        return {
            "corpus": self._corpus,
            "mentions": len(self._mentions),
            "vocabulary": describe(self._vocabulary),
            "candidates": self._digest,
        }


def _rank(mention: ContextMention, parts: list[Rows]) -> Rank:
    return worst_rank([first_rank(row in mention.gold for row in rows.tolist()) for rows in parts])
