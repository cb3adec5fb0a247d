"""The untrained students.

- Six of the twelve layers of multilingual-e5-small, over the pieces that names use, and a second vector for each
  piece, which is added after the layers. The last two layers bring the languages together, the first four read
  the pieces: of the choices of six layers tried, these lose the least before any training. It ships.
- One layer over pieces of names: ten times as fast. In both, a piece begins with the vector that the teachers of
  languages give it alone, mapped to the space of nymlink-mini, so that the student knows words of the languages.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.torch_model import BertPieces, BertPiecesConfig, TorchModel
from recipes.xl_mini.teachers import Matrix
from recipes.xl_mini.tokenizer import E5_SPECIAL, SPECIAL

LONGEST: Final = 32
"""Tokens of a name; more are cut."""

LAYERS: Final = (0, 1, 2, 3, 10, 11)
"""Layers of E5 that are kept."""

SHARED: Final = 192
"""Numbers of a joined vector in which the vectors of both students are added; as many keep the states of E5."""

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


def layers_of_e5(e5: TorchModel, tokenizer: Tokenizer, *, layers: Sequence[int] = LAYERS) -> TorchModel:
    """Keep six layers of E5.

    Args:
        e5: multilingual-e5-small.
        tokenizer: pieces of E5 that are kept.
        layers: numbers of the layers that are kept.

    Returns:
        The layers over the pieces, without dropout.
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
    settings = EncoderSettings(pooling="mean", max_length=LONGEST)
    return TorchModel(network, tokenizer, settings, special=E5_SPECIAL).eval()


def with_pieces(
    layers: TorchModel, mapped: torch.nn.Linear, pieces: torch.Tensor, mean: npt.NDArray[np.float32]
) -> TorchModel:
    """Make the student of six layers.

    Args:
        layers: layers of E5 over P pieces.
        mapped: map of the states of the last layer, less their mean.
        pieces: (P, D): vectors of the pieces that are added to the mapped states.
        mean: (D): mean of the states. The last layer subtracts it.
    """
    network = BertPieces(BertPiecesConfig(**{**layers.transformer.config.to_dict(), "model_type": None}))
    weights = {
        **layers.transformer.state_dict(),
        **{f"mapped.{name}": value for name, value in mapped.state_dict().items()},
        "pieces.weight": pieces,
    }
    network.load_state_dict(weights)
    with torch.no_grad():
        network.encoder.layer[-1].output.LayerNorm.bias -= torch.from_numpy(mean)
    return TorchModel(network, layers.tokenizer, layers.settings, special=E5_SPECIAL).eval()


def joinable(
    six: TorchModel, one: TorchModel, names: Sequence[str], encode: Callable[[TorchModel, Sequence[str]], Matrix]
) -> tuple[TorchModel, TorchModel]:
    """Turn the students so that their sum has room for the states of E5, which know more words than both learned.

    The sum of both is cut to its :data:`SHARED` main directions. Half of a vector remains for the main directions
    of E5's states.

    Args:
        six: the student of six layers, whose vectors have D numbers.
        one: the student of one layer.
        names: English names, which the directions are computed from.
        encode: encodes N names by a model: (N, D), not of unit length.

    Returns:
        The students. Their vectors have D and :data:`SHARED` numbers.
    """
    learned, states = six.transformer, copy.deepcopy(six)
    # The states themselves: no map and no vectors of pieces.
    states.transformer.pieces = None
    with torch.no_grad():
        states.transformer.mapped.weight.copy_(torch.eye(len(states.transformer.mapped.weight)))
        states.transformer.mapped.bias.zero_()
    own, other, raw = encode(six, names), encode(one, names), encode(states, names)
    length = np.linalg.norm(own, axis=1).mean()
    mean = raw.mean(axis=0)
    shared = _directions(_unit(_unit(own) + _unit(other)))
    further = _directions(raw - mean) * (length / np.linalg.norm(raw - mean, axis=1).mean())
    made = []
    for model, weight, bias, pieces, vector_size in (
        (
            six,
            np.vstack([shared.T @ learned.mapped.weight.detach().numpy(), further.T]),
            np.concatenate([shared.T @ learned.mapped.bias.detach().numpy(), -further.T @ mean]),
            learned.pieces.weight.detach().numpy() @ shared,
            shared.shape[1] + further.shape[1],
        ),
        (one, shared.T, np.zeros(shared.shape[1]), None, shared.shape[1]),
    ):
        size = 0 if pieces is None else pieces.shape[1]
        config = {**model.transformer.config.to_dict(), "model_type": None}
        network = BertPieces(BertPiecesConfig(**config, vector_size=vector_size, piece_size=size))
        network.load_state_dict(
            {
                **{name: value for name, value in model.transformer.state_dict().items() if "pieces" not in name},
                "mapped.weight": torch.tensor(weight, dtype=torch.float32),
                "mapped.bias": torch.tensor(bias, dtype=torch.float32),
                **({} if pieces is None else {"pieces.weight": torch.tensor(pieces)}),
            }
        )
        special = E5_SPECIAL if model is six else SPECIAL
        made.append(TorchModel(network, model.tokenizer, model.settings, special=special).eval())
    return made[0], made[1]


def _directions(vectors: Matrix) -> Matrix:
    """Find the main directions of N vectors: (D, :data:`SHARED`), fewer if D is less."""
    return np.linalg.svd(vectors, full_matrices=False)[2][:SHARED].T


def _unit(vectors: Matrix) -> Matrix:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
