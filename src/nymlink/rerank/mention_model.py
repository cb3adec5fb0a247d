"""Encoding of inputs in batches of similar length, without gradients."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.token_batches import Tokens, plan_batches
from nymlink.encode.model.tokenizer import save_tokenizer
from nymlink.encode.model.torch_model import TorchModel
from nymlink.rerank.inputs import END, START, marker_ids

if TYPE_CHECKING:
    from tokenizers import Tokenizer


_BATCH_TOKENS: Final = 2048
_PADDING: Final = 0.25


def encode(model: TorchModel, tokens: Tokens) -> Vectors:
    """Encode N inputs on the model's device, in its current mode: float32 (N, D)."""
    vectors = np.zeros((len(tokens), model.width), np.float32)
    device = next(model.parameters()).device
    with torch.inference_mode():
        for rows in plan_batches(tokens.lengths, budget=_BATCH_TOKENS, padding=_PADDING):
            ids, mask = (torch.from_numpy(part).to(device) for part in tokens.padded(rows, pad_id=model.pad_id))
            vectors[rows] = model(ids, None if mask.all() else mask).cpu().numpy()
    return vectors


MentionStart = Literal["marker", "word"]


class MentionModel(TorchModel):
    """Encodes a mention in its context: token ids with markers → one vector.

    The vector is a mean of vectors of the last layer. With the pooling ``"cls"``, it is the mean of the two
    vectors at the mention's start and end, as in Le & Nguyen (2023). With the pooling ``"mean"``, it is the mean
    of all vectors from start to end. This suits a base that was trained on means over the tokens of names.

    If the tokenizer lacks the markers, they are added. Their vectors are random numbers of torch, so the caller
    sets the seed first.

    Args:
        transformer: see :class:`~nymlink.encode.model.torch_model.TorchModel`, which also describes further
            arguments.
        tokenizer: its tokenizer.

    Attributes:
        mention_start: the start of a mention: with ``"marker"``, the marker before it; with ``"word"``, its first
            word piece, as in the code of Le & Nguyen (2023). The end of a mention is the marker after it.
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
        """Compute the vectors of a batch of mentions, not of unit length.

        Args:
            input_ids: int64 (B, T): each row has one marker of each kind.
            attention_mask: (B, T): 1 for tokens, 0 for padding; ``None`` without padding.

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
        """Write everything except the weights.

        Files for sentence-transformers are not written, because that library does not have this pooling.
        """
        self.transformer.config.save_pretrained(folder)
        save_tokenizer(self.tokenizer, folder, max_length=self.settings.max_length, special=self._special)
