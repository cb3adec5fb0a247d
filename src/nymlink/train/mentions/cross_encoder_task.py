"""The task of the cross-encoder: batches of mentions with right and wrong concepts, and their gradients.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nymlink.core.store.arrays import Ints
from nymlink.encode.model.token_batches import Tokens
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.rerank.cross_encoder import CrossEncoder
from nymlink.rerank.inputs import entities
from nymlink.train.engine.gradient_cache import EncodedBatch
from nymlink.train.engine.optimiser import Precision
from nymlink.train.engine.task import BatchResult
from nymlink.train.mentions.reranker_examples import Examples
from nymlink.train.settings.reranker_trainings import CrossEncoderSettings
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Piece:
    """Mentions that share a computation graph.

    Attributes:
        tokens: joint inputs of each mention with its concepts, the right one first.
        counts: number of concepts of each mention, at least two.
    """

    tokens: Tokens
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class CrossBatch:
    """A batch of mentions.

    Attributes:
        mentions: number of mentions.
        pieces: the mentions that have a wrong candidate, in pieces.
        place: epoch and numbers of the mentions, shown in messages.
    """

    mentions: int
    pieces: Sequence[Piece]
    place: str

    def __str__(self) -> str:
        return self.place


class CrossEncoderTask:
    """Learns to score the gold concept of a mention above wrong candidates; a ``Task``.

    Half of the wrong candidates are the first ones of the index, which are the hardest. Each epoch draws the other
    half from the remaining candidates. Without this half, the model could learn to score such candidates highest.
    """

    unit = "mentions"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        cross: CrossEncoder,
        examples: Examples,
        vocabulary: Vocabulary,
        settings: CrossEncoderSettings,
        precision: Precision,
    ) -> None:
        self._cross = cross
        self._examples = examples
        self._vocabulary = vocabulary
        self._settings = settings
        self._precision = precision
        longest = (1 + settings.negatives) * settings.max_length
        self._at_once = max(1, settings.graph_tokens // longest)

    def __len__(self) -> int:
        return -(-len(self._examples) // self._settings.batch_mentions)

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        return None

    def batch(self, epoch: int, number: int) -> CrossBatch:
        size, total = self._settings.batch_mentions, len(self._examples)
        start, stop = number * size, min((number + 1) * size, total)
        key = seeded_keys([f"epoch {epoch}"], seed=self._settings.seed)
        numbers = permute(np.arange(start, stop), size=total, key=key).tolist()
        keys = seeded_keys([f"epoch {epoch} mention {number}" for number in numbers], seed=self._settings.seed)
        negatives = [self._negatives(number, key) for number, key in zip(numbers, keys, strict=True)]
        usable = [(number, rows) for number, rows in zip(numbers, negatives, strict=True) if len(rows)]
        return CrossBatch(
            mentions=stop - start,
            pieces=[
                self._piece(usable[first : first + self._at_once])
                for first in range(0, len(usable), self._at_once)
            ],
            place=f"epoch {epoch + 1}, mentions {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: CrossBatch) -> BatchResult:
        total = sum(len(piece.counts) for piece in batch.pieces)
        loss, correct = 0.0, 0
        for piece in batch.pieces:
            encoding = EncodedBatch(
                self._cross.model, piece.tokens, self._precision, graph_tokens=self._settings.graph_tokens
            )
            scores = encoding.vectors.requires_grad_()
            # The loss of a piece is a sum over mentions, so that the gradients of the pieces add up to the
            # gradient of the batch.
            piece_loss = listwise_loss(scores[:, 0], piece.counts) / total
            (gradient,) = torch.autograd.grad(piece_loss * self._precision.scale, scores)
            encoding.backward(gradient)
            loss += piece_loss.item()
            by_mention = torch.split(scores.detach()[:, 0].cpu(), list(piece.counts))
            correct += sum(int(mention_scores.argmax()) == 0 for mention_scores in by_mention)
        return BatchResult(
            loss=loss,
            size=batch.mentions,
            figures={"without_negative": batch.mentions - total, "right": correct / max(total, 1)},
        )

    def _negatives(self, number: int, key: np.uint64) -> Ints:
        """Choose the wrong candidates of a mention: the first ones, then random ones."""
        wanted = self._settings.negatives
        wrong = self._examples.candidates[number][self._examples.allowed[number]]
        first, others = np.split(wrong, [-(-wanted // 2)])
        drawn = np.arange(min(wanted - len(first), len(others)))
        return np.concatenate([first, others[permute(drawn, size=len(others), key=key)]])

    def _piece(self, mentions: Sequence[tuple[int, Ints]]) -> Piece:
        examples, inputs = self._examples, self._cross.inputs
        choices = [[examples.positives[number], *negatives] for number, negatives in mentions]
        counts = [len(concepts) for concepts in choices]
        rows = examples.concepts[np.concatenate(choices)].tolist()
        passages = inputs.passage_ids([examples.passages[number] for number, _ in mentions])
        repeated = (passage for passage, count in zip(passages, counts, strict=True) for _ in range(count))
        concepts = inputs.entity_ids(list(entities(self._vocabulary, rows)))
        return Piece(inputs.joint(zip(repeated, concepts, strict=True)), counts)


def listwise_loss(scores: Tensor, counts: Sequence[int]) -> Tensor:
    """Compute the sum over mentions of −log softmax(scores)[right]; Wu et al. (2020), section 4.2.

    Args:
        scores: float (N): scores of the concepts of each mention, the right concept first.
        counts: number of concepts of each mention; their sum is N.
    """
    rows = pad_sequence(list(torch.split(scores, list(counts))), batch_first=True, padding_value=-math.inf)
    return (rows.logsumexp(1) - rows[:, 0]).sum()
