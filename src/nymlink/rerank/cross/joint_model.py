"""The transformer of the cross-encoder, with a linear head that scores joint inputs."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn

from nymlink.rerank.inputs import end_ids
from nymlink.rerank.mention_model import MentionModel

_SPREAD: Final = 0.02
"""Standard deviation of the head's initial weights, as in BERT."""


class JointModel(MentionModel):
    """Scores a joint input, a mention in its context and a concept: token ids → one number.

    The score is a linear function of the last layer's vector of the first token. It has no bias, which would be
    the same for all candidates of a mention. Initially, the vectors of markers and the head are torch's random
    numbers: seed them before.

    Attributes:
        head: (D): the weights of the linear function.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.head = nn.Parameter(torch.randn(self.transformer.config.hidden_size) * _SPREAD)
        _, self._separator = end_ids(self.tokenizer)
        self._typed = getattr(self.transformer.config, "type_vocab_size", 0) > 1

    @property
    def width(self) -> int:
        """The length of a vector: one score."""
        return 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Compute the scores of a batch of inputs, larger is better.

        Args:
            input_ids: int64 (B, T): the mention up to the first separator, then the concept, which is the second
                segment for a transformer with token types.
            attention_mask: (B, T): 1 for tokens, 0 for padding; ``None`` without padding.

        Returns:
            float32 (B, 1).
        """
        types = {"token_type_ids": self._types(input_ids)} if self._typed else {}
        states: Tensor = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, **types
        ).last_hidden_state
        # A matrix product would be rounded to three digits in mixed precision; candidates differ by less.
        return (states[:, 0].float() * self.head).sum(1, keepdim=True)

    def _types(self, input_ids: Tensor) -> Tensor:
        separators = input_ids.eq(self._separator).long()
        return (separators.cumsum(1) - separators).clamp(max=1)
