"""The transformer of the cross-encoder: a mention in its context and a concept, read together."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn

from nymlink.rerank.inputs import end_ids
from nymlink.rerank.mention_model import MentionModel

_SPREAD: Final = 0.02
"""Of the weights of the head at first, as of a BERT's."""


class CrossModel(MentionModel):
    """Token ids of a mention and a concept → one number, a vector of length 1.

    It is a linear function of the last layer's vector at the first token. There is no bias: all candidates of a
    mention would have the same, and it would settle nothing. Markers and the weights of the head are random at
    first, by torch: seed it before.

    Attributes:
        head: (D) the weights of the linear function.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.head = nn.Parameter(torch.randn(self.transformer.config.hidden_size) * _SPREAD)
        _, self._separator = end_ids(self.tokenizer)
        self._typed = getattr(self.transformer.config, "type_vocab_size", 0) > 1

    @property
    def width(self) -> int:
        """Length of a vector."""
        return 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Scores, larger is better.

        Args:
            input_ids: int64 (B, T): the mention up to the first separator, then the concept: to a transformer with
                token types, a second text.
            attention_mask: (B, T): 1 for real tokens; ``None`` where all are.

        Returns:
            float32 (B, 1).
        """
        types = {"token_type_ids": self._types(input_ids)} if self._typed else {}
        states: Tensor = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, **types
        ).last_hidden_state
        # No matrix product, which in mixed precision would have three digits: candidates differ by less.
        return (states[:, 0].float() * self.head).sum(1, keepdim=True)

    def _types(self, input_ids: Tensor) -> Tensor:
        separators = input_ids.eq(self._separator).long()
        return (separators.cumsum(1) - separators).clamp(max=1)
