"""Tiny models of every kind that adapters and LoRA are set up for."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import PreTrainedModel

SIZES = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "max_position_embeddings": 20,
    "pad_token_id": 0,
}
KINDS: dict[str, dict[str, Any]] = {
    "Bert": {},
    "Roberta": {},
    "XLMRoberta": {},
    "Electra": {"embedding_size": 16},
    "Deberta": {},
    "DebertaV2": {},
    "MPNet": {},
    "DistilBert": {"dim": 16, "hidden_dim": 24, "n_layers": 3, "n_heads": 2},
    "ModernBert": {"reference_compile": False, "global_attn_every_n_layers": 2},
}
IDS = torch.tensor([[1, 5, 6, 7], [1, 9, 8, 0]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])


def tiny(kind: str, **settings: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **KINDS.get(kind, {}), **settings})
    model: PreTrainedModel = getattr(transformers, f"{kind}Model")(config).eval()
    return model


def encode(model: torch.nn.Module) -> Tensor:
    states: Tensor = model(input_ids=IDS, attention_mask=MASK).last_hidden_state
    return states[MASK.bool()]
