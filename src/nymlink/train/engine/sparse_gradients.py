"""Sparse gradients of word embeddings: a batch has few of the words."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn
from transformers import PreTrainedModel


def use_sparse_embedding_gradients(model: nn.Module) -> None:
    """Make the gradients of word embeddings sparse: they hold only the rows of words that occur.

    Dense ones have some 30,000 rows for each piece of a batch. :func:`densify_gradients` makes them dense once a
    step.
    """
    for module in model.modules():
        if isinstance(module, PreTrainedModel):
            embeddings = module.get_input_embeddings()
            if isinstance(embeddings, nn.Embedding):
                embeddings.sparse = True


def densify_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Make sparse gradients dense: AdamW updates every row, also those of words that do not occur."""
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()
