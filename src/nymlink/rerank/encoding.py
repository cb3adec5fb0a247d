"""What a model makes of inputs, without a way back."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch

from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.tokens import Tokens, plan
from nymlink.encode.model.torch_model import TorchModel

_BATCH_TOKENS: Final = 2048
_PADDING: Final = 0.25


def encode(model: TorchModel, tokens: Tokens) -> Vectors:
    """The vectors of N inputs, where the model is and in the mode it is in: float32 (N, D)."""
    vectors = np.zeros((len(tokens), model.width), np.float32)
    device = next(model.parameters()).device
    with torch.inference_mode():
        for rows in plan(tokens.lengths, budget=_BATCH_TOKENS, padding=_PADDING):
            ids, real = (torch.from_numpy(one).to(device) for one in tokens.padded(rows, pad_id=model.pad_id))
            vectors[rows] = model(ids, None if real.all() else real).cpu().numpy()
    return vectors
