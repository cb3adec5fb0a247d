"""The same distillation without layers: a name is the mean of vectors of its pieces."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Final

import torch
from torch import nn

from nymlink.encode.model.torch_model import TorchModel
from recipes.xl_mini import distil
from recipes.xl_mini.tokenizer import SPECIAL

SETTINGS: Final = {
    **distil.SETTINGS,
    # Vectors of pieces are all it has.
    "learning_rate": 2e-3,
}


def make(folder: Path, teacher: str, *, steps: int, seed: int) -> None:
    """Distil the teacher into vectors of pieces, or go on with it."""
    base = folder / "pieces"
    if not base.exists():
        without_layers(TorchModel.load(folder / "transplanted")).save(base)
    settings = distil.DistilSettings(
        base=str(base),
        output=str(folder / "static"),
        folder=str(folder),
        vectors=str(folder / "vectors"),
        seed=seed,
        max_steps=steps,
        **SETTINGS,
    )
    distil.distil(settings, teacher, progress=True)


def without_layers(model: TorchModel) -> TorchModel:
    """Remove the layers of an encoder, and what it knows of places: its embeddings of pieces are left."""
    transformer = copy.deepcopy(model.transformer)
    transformer.encoder.layer = nn.ModuleList()
    transformer.config.num_hidden_layers = 0
    with torch.no_grad():
        transformer.embeddings.position_embeddings.weight.zero_()
    return TorchModel(transformer, model.tokenizer, model.settings, special=SPECIAL)
