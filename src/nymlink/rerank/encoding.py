"""Encoding of inputs in batches of similar length, without gradients."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch

from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.tokens.token_batches import Tokens, plan_batches
from nymlink.encode.model.torch_model import TorchModel

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
