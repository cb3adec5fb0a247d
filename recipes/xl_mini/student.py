"""The student: one layer over pieces of names.

A piece begins with the vector that the teachers of languages give it alone, mapped to the space of nymlink-mini.
So the untrained student knows words of the languages.
"""

from __future__ import annotations

import copy
from typing import Final

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.torch_model import TorchModel
from recipes.xl_mini.teachers import Matrix
from recipes.xl_mini.tokenizer import SPECIAL

LONGEST: Final = 32
"""Tokens of a name; more are cut."""

_WORD_START: Final = "▁"


def texts_of_pieces(tokenizer: Tokenizer) -> list[str]:
    """Write each piece as a text: ``▁heart`` → ``heart``."""
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return [piece.replace(_WORD_START, " ").strip() for piece, _ in pieces]


def student(tokenizer: Tokenizer, pieces: Matrix) -> TorchModel:
    """Make the untrained student.

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


def without_layers(model: TorchModel) -> TorchModel:
    """Remove the layers of an encoder, and what it knows of places: its embeddings of pieces are left."""
    transformer = copy.deepcopy(model.transformer)
    transformer.encoder.layer = torch.nn.ModuleList()
    transformer.config.num_hidden_layers = 0
    with torch.no_grad():
        transformer.embeddings.position_embeddings.weight.zero_()
    return TorchModel(transformer, model.tokenizer, model.settings, special=SPECIAL)
