"""Gradients of word embeddings, which are of few words: small until the step that they are for."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn
from transformers import PreTrainedModel


def sparsify(model: nn.Module) -> None:
    """Let gradients of word embeddings hold only the rows of words that occur.

    Otherwise they have 30,000 rows for each piece of a batch; :func:`densify` fills in the others once a step.
    """
    for module in model.modules():
        if isinstance(module, PreTrainedModel):
            embeddings = module.get_input_embeddings()
            if isinstance(embeddings, nn.Embedding):
                embeddings.sparse = True


def densify(parameters: Iterable[nn.Parameter]) -> None:
    """Make sparse gradients dense: AdamW moves every row, whether it occurred or not."""
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()
