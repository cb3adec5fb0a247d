"""The cross-encoder: one step, from mentions with right and wrong concepts to the gradients of the transformer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nymlink.core.store.arrays import Ints
from nymlink.encode.model.tokens import Tokens
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.rerank.cross_encoder import CrossEncoder
from nymlink.rerank.entities import entities
from nymlink.train.engine.cached_gradient import Encoding
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import Outcome
from nymlink.train.mentions.rerank_examples import Examples
from nymlink.train.settings.recipes import CrossEncoderSettings
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Piece:
    """Mentions whose computation is held in memory together.

    Attributes:
        tokens: each mention with each of its concepts, the right one first.
        counts: how many concepts each mention has, at least two.
    """

    tokens: Tokens
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class CrossBatch:
    """Mentions with their concepts.

    Attributes:
        mentions: how many there are.
        pieces: those that have a wrong concept.
        place: where the batch comes from, for messages.
    """

    mentions: int
    pieces: Sequence[Piece]
    place: str

    def __str__(self) -> str:
        return self.place


class CrossRanking:
    """The task of scoring what a mention means above its other candidates.

    Half of the wrong ones are always the first of the index: they are the likeliest to be taken for what is meant.
    The others are drawn anew in each epoch: later ones will be scored too, and must not come out on top for never
    having been seen.

    Args:
        cross: what is trained.
        examples: what from.
        vocabulary: has their concepts.
        settings: how.
        precision: what to compute in.
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
        draws = seeded_keys([f"epoch {epoch} mention {one}" for one in numbers], seed=self._settings.seed)
        wrong = [self._negatives(one, draw) for one, draw in zip(numbers, draws, strict=True)]
        usable = [(one, own) for one, own in zip(numbers, wrong, strict=True) if len(own)]
        return CrossBatch(
            mentions=stop - start,
            pieces=[
                self._piece(usable[few : few + self._at_once]) for few in range(0, len(usable), self._at_once)
            ],
            place=f"epoch {epoch + 1}, mentions {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: CrossBatch) -> Outcome:
        total = sum(len(piece.counts) for piece in batch.pieces)
        loss, right = 0.0, 0
        for piece in batch.pieces:
            encoding = Encoding(
                self._cross.model, piece.tokens, self._precision, graph_tokens=self._settings.graph_tokens
            )
            scores = encoding.vectors.requires_grad_()
            # The loss of each mention is its own: the pieces' gradients add up to those of the batch.
            own = listwise_loss(scores[:, 0], piece.counts) / total
            (gradient,) = torch.autograd.grad(own * self._precision.scale, scores)
            encoding.backward(gradient)
            loss += own.item()
            right += sum(
                int(one.argmax()) == 0 for one in torch.split(scores.detach()[:, 0].cpu(), list(piece.counts))
            )
        return Outcome(
            loss=loss,
            size=batch.mentions,
            figures={"without_negative": batch.mentions - total, "right": right / max(total, 1)},
        )

    def _negatives(self, number: int, key: np.uint64) -> Ints:
        """Wrong candidates of a mention: the first ones, then those drawn for an epoch."""
        wanted = self._settings.negatives
        wrong = self._examples.candidates[number][self._examples.allowed[number]]
        first, others = np.split(wrong, [-(-wanted // 2)])
        drawn = np.arange(min(wanted - len(first), len(others)))
        return np.concatenate([first, others[permute(drawn, size=len(others), key=key)]])

    def _piece(self, mentions: Sequence[tuple[int, Ints]]) -> Piece:
        examples, inputs = self._examples, self._cross.inputs
        chosen = [[examples.positives[number], *wrong] for number, wrong in mentions]
        counts = [len(own) for own in chosen]
        rows = examples.concepts[np.concatenate(chosen)].tolist()
        passages = inputs.passage_ids([examples.passages[number] for number, _ in mentions])
        repeated = (one for one, count in zip(passages, counts, strict=True) for _ in range(count))
        concepts = inputs.entity_ids(list(entities(self._vocabulary, rows)))
        return Piece(inputs.joint(zip(repeated, concepts, strict=True)), counts)


def listwise_loss(scores: Tensor, counts: Sequence[int]) -> Tensor:
    """Minus the logarithm of the probability that a softmax over a mention's concepts gives to the right one.

    Wu et al. (2020), section 4.2.

    Args:
        scores: float (N): of the concepts of one mention after another, of each the right one first.
        counts: how many concepts each mention has; their sum is N.

    Returns:
        (): the sum over all mentions.
    """
    rows = pad_sequence(list(torch.split(scores, list(counts))), batch_first=True, padding_value=-math.inf)
    return (rows.logsumexp(1) - rows[:, 0]).sum()
