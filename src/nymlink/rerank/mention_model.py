"""The encoder of mentions in their contexts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor
from transformers import PreTrainedModel

from nymlink.encode.model.tokenizer import save_tokenizer
from nymlink.encode.model.torch_model import TorchModel
from nymlink.rerank.inputs import END, START, marker_ids

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MentionStart = Literal["marker", "word"]


class MentionModel(TorchModel):
    """Token ids with markers → one vector a mention: the mean of the last layer's at two places, or between them.

    The pooling of the settings says which. ``"cls"``: at two places, as Le & Nguyen (2023) have it. ``"mean"``:
    from the first place to the second, which is what a base knows that learned means of names.

    Markers that the tokenizer does not know yet are added to it, with random vectors, which are torch's: seed it
    before.

    Args:
        transformer: as for :class:`~nymlink.encode.model.torch_model.TorchModel`, like all else.
        tokenizer: its tokenizer.

    Attributes:
        mention_start: the first of the two places: the marker before the mention, or (``"word"``, as the release
            of Le & Nguyen 2023 has it) the mention's first word piece. The second is the marker after it.
    """

    def __init__(self, transformer: PreTrainedModel, tokenizer: Tokenizer, *settings: Any, **more: Any) -> None:
        super().__init__(transformer, tokenizer, *settings, **more)
        self.mention_start: MentionStart = "marker"
        tokenizer.add_special_tokens([START, END])
        self._markers = marker_ids(tokenizer)
        needed = max(self._markers) + 1
        if needed > transformer.config.vocab_size:
            transformer.resize_token_embeddings(needed, mean_resizing=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Vectors of mentions, not of unit length.

        Args:
            input_ids: int64 (B, T): each row has one marker of each kind.
            attention_mask: (B, T): 1 for real tokens; ``None`` where all are.

        Returns:
            float32 (B, D).
        """
        states: Tensor = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        start, end = (input_ids.eq(marker).int().argmax(1) for marker in self._markers)
        if self.mention_start == "word":
            start = start + 1
        if self.settings.pooling == "mean":
            places = torch.arange(states.shape[1], device=states.device)
            inside = ((places >= start[:, None]) & (places <= end[:, None])).unsqueeze(-1).float()
            return (states.float() * inside).sum(1) / inside.sum(1)
        rows = torch.arange(len(states), device=states.device)
        return (states[rows, start].float() + states[rows, end].float()) / 2

    def write_settings(self, folder: Path) -> None:
        """Write all but the weights; nothing for sentence-transformers, which knows no such vectors."""
        self.transformer.config.save_pretrained(folder)
        save_tokenizer(self.tokenizer, folder, max_length=self.settings.max_length, special=self._special)
