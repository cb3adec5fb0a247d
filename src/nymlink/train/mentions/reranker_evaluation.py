"""Evaluation of a re-ranker during training: the candidates of held-out mentions, before and after re-ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.metrics import accuracy, as_array
from nymlink.evaluation.outcomes import Rank, first_rank, worst_rank
from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.rerank.passages import Passage
from nymlink.train.annotated_queries import describe_corpus, no_gold_error
from nymlink.train.mentions.reranker_examples import ContextMention, mentions_in_context, retrieve_concepts
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.vocabulary.vocabulary import Vocabulary

Score = Callable[[Vocabulary, Sequence[Passage], Sequence[Rows]], Sequence[Scores]]
"""Scores of a :class:`~nymlink.rerank.scorer.ContextScorer` for a vocabulary, by the current weights."""


class RerankerEvaluation:
    """An evaluation on a held-out corpus: candidates are searched once, and re-ranked in every evaluation.

    All mentions with gold ids count. A mention is wrong if its gold ids are not in the vocabulary, or not among
    its candidates. A composite mention is right when each of its parts is. Composite mentions, and mentions
    without context, keep the order of the index.

    Args:
        held_out: the corpus, and the index that it is linked to.
        types: mentions of these types only; all if empty.
        candidates: k, the number of candidates of a mention.
        max_length: tokens that the model reads of a mention with its context.
        problems: collects broken input.

    Raises:
        InputError: a file cannot be read, or no mention has a gold id that is in the vocabulary.
        StoreError: the index is missing or damaged.
    """

    def __init__(
        self,
        held_out: HeldOutCorpus,
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
        if not any(mention.gold for mention in self._mentions):
            raise no_gold_error(held_out, types)
        queries = (part for mention in self._mentions for part in mention.parts)
        retrieved = retrieve_concepts(index, queries, candidates)
        self._digest = hashlib.sha256(b"".join(rows.tobytes() for rows in retrieved.values())).hexdigest()
        self._retrieved = {query: rows[rows != NONE] for query, rows in retrieved.items()}

    def __call__(self, score: Score) -> dict[str, float]:
        """Compute accuracies, from 0 to 1.

        Returns:
            ``acc@1`` and ``acc@5`` after re-ranking, ``retrieved@1``, the accuracy before it, and ``recall``, the
            upper bound: the share of mentions with their gold concept among the candidates.
        """
        before = [[self._retrieved[part] for part in mention.parts] for mention in self._mentions]
        after = list(before)
        passages = {
            place: mention.passage
            for place, (mention, parts) in enumerate(zip(self._mentions, before, strict=True))
            if mention.passage is not None and len(parts[0])
        }
        candidates = [before[place][0] for place in passages]
        all_scores = score(self._vocabulary, list(passages.values()), candidates)
        for place, rows, scores in zip(passages, candidates, all_scores, strict=True):
            after[place] = [rows[np.argsort(-scores, kind="stable")]]
        ranks_before, ranks_after = (
            as_array([_rank(mention, parts) for mention, parts in zip(self._mentions, lists, strict=True)])
            for lists in (before, after)
        )
        return {
            "acc@1": accuracy(ranks_after, 1),
            "acc@5": accuracy(ranks_after, 5),
            "retrieved@1": accuracy(ranks_before, 1),
            "recall": accuracy(ranks_before, self._candidates),
        }

    def describe(self) -> Mapping[str, Any]:
        """Return the provenance of corpus, vocabulary and candidates, as JSON values."""
        return {
            "corpus": self._corpus,
            "mentions": len(self._mentions),
            "vocabulary": self._vocabulary.describe(),
            "candidates": self._digest,
        }


def _rank(mention: ContextMention, parts: list[Rows]) -> Rank:
    return worst_rank([first_rank(row in mention.gold for row in rows.tolist()) for rows in parts])
