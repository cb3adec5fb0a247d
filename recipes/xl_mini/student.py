"""The untrained students.

- One layer over pieces of names. A piece begins with the vector that the teachers of languages give it alone,
  mapped to the space of nymlink-mini, so that the student knows words of the languages. It ships.
- Six of the twelve layers of multilingual-e5-small, over the pieces that names use. The last two layers bring the
  languages together, the first four read the pieces: of the choices of six layers tried, these lose the least
  before any training. Vectors of E5 lie close to a common mean, which the student subtracts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.torch_model import TorchModel
from recipes.xl_mini.teachers import Matrix
from recipes.xl_mini.tokenizer import E5_SPECIAL, SPECIAL

LONGEST: Final = 32
"""Tokens of a name; more are cut."""

LAYERS: Final = (0, 1, 2, 3, 10, 11)
"""Layers of E5 that are kept."""

_WORD_START: Final = "▁"


def texts_of_pieces(tokenizer: Tokenizer) -> list[str]:
    """Write each piece as a text: ``▁heart`` → ``heart``."""
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return [piece.replace(_WORD_START, " ").strip() for piece, _ in pieces]


def of_pieces(tokenizer: Tokenizer, pieces: Matrix) -> TorchModel:
    """Make the student of one layer.

    Args:
        tokenizer: P pieces.
        pieces: (P, D): unit vectors of the pieces.

    Returns:
        One layer of width D over pieces, without dropout.
    """
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=pieces.shape[1],
        num_hidden_layers=1,
        num_attention_heads=max(1, pieces.shape[1] // 32),
        intermediate_size=4 * pieces.shape[1],
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.token_to_id(SPECIAL["pad_token"]),
    )
    network = BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        network.embeddings.word_embeddings.weight.copy_(torch.from_numpy(np.ascontiguousarray(pieces)))
        network.embeddings.position_embeddings.weight.mul_(0.1)
        network.embeddings.token_type_embeddings.weight.zero_()
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.enable_truncation(LONGEST)
    return TorchModel(network, tokenizer, EncoderSettings(pooling="mean", max_length=LONGEST), special=SPECIAL)


def of_e5(
    e5: TorchModel, tokenizer: Tokenizer, names: Sequence[str], *, layers: Sequence[int] = LAYERS
) -> TorchModel:
    """Make the student of six layers.

    Args:
        e5: multilingual-e5-small.
        tokenizer: pieces of E5 that are kept.
        names: names whose mean vector is subtracted.
        layers: numbers of the layers that are kept.

    Returns:
        The student, without dropout.
    """
    network = copy.deepcopy(e5.transformer)
    network.encoder.layer = torch.nn.ModuleList([network.encoder.layer[layer] for layer in layers])
    known = e5.tokenizer.get_vocab()
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    rows = network.embeddings.word_embeddings.weight[[known[piece] for piece, _ in pieces]].detach().clone()
    network.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(rows, freeze=False)
    network.config.update(
        {
            "num_hidden_layers": len(layers),
            "vocab_size": len(pieces),
            "pad_token_id": tokenizer.token_to_id(E5_SPECIAL["pad_token"]),
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
        }
    )
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.enable_truncation(LONGEST)
    model = TorchModel(network, tokenizer, EncoderSettings(pooling="mean", max_length=LONGEST), special=E5_SPECIAL)
    mean = torch.from_numpy(pooled(model.eval(), names).mean(0))
    with torch.no_grad():
        network.encoder.layer[-1].output.LayerNorm.bias -= mean
    return model


def pooled(model: TorchModel, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Encode names without giving the vectors unit length: float32 (N, D)."""
    vectors = []
    with torch.inference_mode():
        for name in names:
            ids = torch.tensor([model.tokenizer.encode(name).ids])
            vectors.append(model(ids)[0].numpy())
    return np.array(vectors, np.float32)


def rotation(vectors: npt.NDArray[np.float32], targets: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Find the rotation of targets that takes them closest to vectors (orthogonal Procrustes).

    A rotation keeps all cosines of the targets, and spares the student to learn it.

    Args:
        vectors: (N, D): what the untrained student makes of names.
        targets: (N, D): what it is to learn for them.

    Returns:
        (D, D): an orthogonal matrix to multiply targets by.
    """
    left, _, right = np.linalg.svd(targets.T @ vectors)
    return np.asarray(left @ right, np.float32)
