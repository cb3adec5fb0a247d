"""Embeddings for new pieces, made of the base's by aligning pieces of names with pieces of their translations.

Nothing is trained. What a new piece means is read off which English pieces the translations of its names have.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import torch
from tokenizers import Tokenizer
from torch import nn

from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from recipes.xl_mini.tokenizer import SPECIAL

NEAREST: Final = 4
"""English pieces that an embedding is the mean of."""

LEAST: Final = 0.004
"""count(p, t)² / (count(p) · count(t)) from which English piece p is aligned with new piece t."""

LONGEST: Final = 32
"""Tokens that names are cut to."""

_BLOCK: Final = 4096
_WORD_START: Final = "▁"
_CONTINUES: Final = "##"

Matrix = npt.NDArray[np.float32]


def make(folder: Path, base: str | Path, tokenizer: Path) -> None:
    """Write the base with new tokenizer and embeddings as an encoder, unless it is there."""
    target = folder / "transplanted"
    if not target.exists():
        pairs = pq.read_table(folder / "translations.parquet", columns=["english", "name"])
        transplant(TorchModel.load(base), Tokenizer.from_file(str(tokenizer)), pairs).save(target)


def transplant(base: TorchModel, tokenizer: Tokenizer, pairs: pa.Table) -> TorchModel:
    """Give a model another tokenizer.

    Args:
        base: a BERT with a WordPiece tokenizer; unchanged.
        tokenizer: the new one, with the tokens of :data:`~recipes.xl_mini.tokenizer.SPECIAL`.
        pairs: columns ``english`` and ``name``, its translation.

    Returns:
        The model with the base's layers, and without dropout.
    """
    known = base.transformer.get_input_embeddings().weight.detach().numpy()
    transformer = copy.deepcopy(base.transformer)
    vectors = embeddings(known, base.tokenizer, tokenizer, pairs)
    transformer.set_input_embeddings(nn.Embedding.from_pretrained(torch.from_numpy(vectors), freeze=False))
    config = transformer.config
    config.vocab_size = len(vectors)
    config.pad_token_id = tokenizer.token_to_id(SPECIAL["pad_token"])
    # Distillation is exact about single vectors: no noise in them.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    tokenizer.enable_truncation(LONGEST)
    settings = EncoderSettings(pooling=base.settings.pooling, max_length=LONGEST)
    return TorchModel(transformer, tokenizer, settings, special=SPECIAL)


def embeddings(known: Matrix, english: Tokenizer, tokenizer: Tokenizer, pairs: pa.Table) -> Matrix:
    """Make an embedding for each piece of a tokenizer.

    A piece that the English tokenizer has keeps its embedding; any other has the mean of the English pieces that
    it is aligned with, or else of its own letters, of the mean length of an embedding.

    Args:
        known: (E or more, D): the English embeddings.
        english: the English tokenizer, of E pieces.
        tokenizer: the new one, of P pieces.
        pairs: columns ``english`` and ``name``, its translation.

    Returns:
        (P, D).
    """
    # A model may have more embeddings than its tokenizer has pieces.
    known = known[: english.get_vocab_size()]
    pieces = _pieces(tokenizer)
    same = english.get_vocab()
    rows = np.array([same.get(_as_wordpiece(piece), -1) for piece in pieces])
    copied = rows >= 0
    made = np.zeros((len(pieces), known.shape[1]), np.float32)
    made[copied] = known[rows[copied]]
    length = float(np.linalg.norm(known, axis=1).mean())
    aligned = alignment(_occurrences(english, pairs["english"]), _occurrences(tokenizer, pairs["name"]))
    means = np.asarray(aligned @ known, np.float32)
    has_any = np.diff(aligned.indptr) > 0
    placed = has_any & ~copied
    made[placed] = _of_length(means[placed], length)
    spelt = np.flatnonzero(~copied & ~has_any)
    made[spelt] = _of_length(_spelling(pieces, spelt, made, copied | has_any), length)
    return made


def alignment(english: sp.csr_matrix, other: sp.csr_matrix) -> sp.csr_matrix:
    """Align pieces that occur in the same pairs.

    Args:
        english: (N, E): 1 where an English name has a piece.
        other: (N, P): 1 where its translation has a piece.

    Returns:
        (P, E): equal weights, 1 in sum, of the English pieces nearest to each other piece; none where none is near
        enough.
    """
    english_counts, counts = (np.asarray(side.sum(0), np.float64).ravel() for side in (english, other))
    turned = other.T.tocsr()
    blocks = []
    for start in range(0, turned.shape[0], _BLOCK):
        together = (turned[start : start + _BLOCK] @ english).tocsr().astype(np.float64)
        owners = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
        together.data **= 2
        together.data /= counts[start + owners] * english_counts[together.indices]
        blocks.append(_nearest(together))
    return sp.vstack(blocks, format="csr")


def _nearest(scores: sp.csr_matrix) -> sp.csr_matrix:
    """Keep the best scores of each row, as equal weights."""
    rows, columns = [], []
    for row in range(scores.shape[0]):
        first, last = scores.indptr[row : row + 2]
        best = first + np.argsort(-scores.data[first:last], kind="stable")[:NEAREST]
        best = best[scores.data[best] >= LEAST]
        rows.append(np.full(len(best), row))
        columns.append(scores.indices[best])
    places, targets = np.concatenate(rows), np.concatenate(columns)
    weights = 1 / np.bincount(places, minlength=scores.shape[0])[places]
    return sp.csr_matrix((weights, (places, targets)), shape=scores.shape)


def _occurrences(tokenizer: Tokenizer, names: pa.ChunkedArray) -> sp.csr_matrix:
    """Tell which pieces each name has: (names, pieces), without the tokens around each name."""
    tokens = tokenise(tokenizer, names.to_pylist())
    shape = (len(tokens), tokenizer.get_vocab_size())
    found = sp.csr_matrix((np.ones(len(tokens.ids), np.float32), tokens.ids, tokens.offsets), shape=shape)
    found.sum_duplicates()
    found.data[:] = 1
    around = tokenizer.encode("").ids
    kept = np.ones(shape[1], np.float32)
    kept[around] = 0
    found = (found @ sp.diags(kept)).tocsr()
    found.eliminate_zeros()
    return found


def _spelling(
    pieces: Sequence[str], rows: npt.NDArray[np.int64], made: Matrix, known: npt.NDArray[np.bool_]
) -> Matrix:
    """Average the embeddings of the letters of each piece; zeros where no letter has one."""
    place = {piece: row for row, piece in enumerate(pieces) if known[row]}
    vectors = np.zeros((len(rows), made.shape[1]), np.float32)
    for at, row in enumerate(rows.tolist()):
        letters = [place[letter] for letter in pieces[row].removeprefix(_WORD_START) if letter in place]
        if letters:
            vectors[at] = made[letters].mean(0)
    return vectors


def _of_length(vectors: Matrix, length: float) -> Matrix:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors * (length / np.maximum(norms, 1e-12))


def _pieces(tokenizer: Tokenizer) -> list[str]:
    return [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]


def _as_wordpiece(piece: str) -> str:
    """Write a piece as WordPiece does: ``▁heart`` → ``heart``, ``itis`` → ``##itis``."""
    if piece in SPECIAL.values():
        return piece
    return piece.removeprefix(_WORD_START) if piece.startswith(_WORD_START) else f"{_CONTINUES}{piece}"
