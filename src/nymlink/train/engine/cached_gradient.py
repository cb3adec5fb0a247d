"""The vectors of a batch of names, and the way back from a loss over them to the gradients of the weights.

Names are encoded in pieces of like length, so that little of what is computed is padding. Where the graph of the
whole batch does not fit into memory, the way back is that of GradCache (Gao et al., "Scaling Deep Contrastive
Learning Batch Size under Memory Limited Setup", RepL4NLP 2021): all names are encoded without a graph; the
gradient of the loss to their vectors is computed; then piece after piece is encoded again, with a graph and the
same dropout, and its part of that gradient sent back through it. The loss is over the whole batch all the same,
and so are its gradients.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError
from nymlink.encode.model.tokens import Rows, Tokens, plan, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.dropout import cheap_dropout
from nymlink.train.engine.precision import Precision

_PADDING: Final = 0.25
_PIECE_TOKENS: Final = {"cpu": 1024, "cuda": 8192}
"""On a CPU, small pieces: what a layer writes is still in the cache when the next one reads it."""


class Encoding:
    """The vectors of the names of a batch.

    Args:
        model: the encoder, in the mode it is to be run in.
        tokens: N names.
        precision: what to compute in.
        graph_tokens: hold the graph of at most so many tokens, padding included.

    Attributes:
        vectors: float32 (N, D), without a graph, not of unit length.
        cached: whether the names will be encoded again on the way back.
    """

    def __init__(self, model: TorchModel, tokens: Tokens, precision: Precision, *, graph_tokens: int) -> None:
        self._model = model
        self._tokens = tokens
        self._precision = precision
        self._pieces = _pieces(tokens, precision.device, graph_tokens)
        self.cached = sum(len(rows) * int(tokens.lengths[rows].max()) for rows in self._pieces) > graph_tokens
        self._states: list[Sequence[Tensor]] = []
        self._outputs: list[Tensor] = []
        with precision.autocast(), torch.set_grad_enabled(not self.cached):
            for rows in self._pieces:
                if self.cached:
                    self._states.append(_random_state(precision.device))
                self._outputs.append(_run(model, tokens, rows, precision.device))
        self.vectors = torch.zeros(len(tokens), model.width, device=precision.device)
        for rows, output in zip(self._pieces, self._outputs, strict=True):
            self.vectors[torch.from_numpy(rows)] = output.detach()

    def backward(self, gradient: Tensor) -> None:
        """Add to the gradients of the weights. To be called once: graphs are freed.

        Args:
            gradient: (N, D): of a loss to :attr:`vectors`.
        """
        parts = [gradient[torch.from_numpy(rows)] for rows in self._pieces]
        if not self.cached:
            if parts:
                torch.autograd.backward(self._outputs, parts)
            return
        with _restored(self._precision.device):
            for rows, state, part in zip(self._pieces, self._states, parts, strict=True):
                _set_random_state(self._precision.device, state)
                with self._precision.autocast():
                    output = _run(self._model, self._tokens, rows, self._precision.device)
                torch.autograd.backward(output, part)


def encode(model: TorchModel, tokens: Tokens, precision: Precision, *, at_once: int | None = None) -> Tensor:
    """The vectors of N names in evaluation mode, without a way back.

    Args:
        model: the encoder.
        tokens: N names.
        precision: what to compute in.
        at_once: encode at most so many tokens at a time, padding included; as many as are fast otherwise.

    Returns:
        float32 (N, D), not of unit length.
    """
    vectors = torch.zeros(len(tokens), model.width, device=precision.device)
    with evaluating(model), torch.no_grad(), precision.autocast():
        for rows in _pieces(tokens, precision.device, at_once):
            vectors[torch.from_numpy(rows)] = _run(model, tokens, rows, precision.device)
    return vectors


def encode_names(model: TorchModel, names: Sequence[str], precision: Precision, *, at_once: int) -> Tensor:
    """The same for names that are not tokenised yet.

    Raises:
        NymlinkError: the weights diverged: vectors are no finite numbers.
    """
    vectors = encode(model, tokenise(model.tokenizer, names), precision, at_once=at_once)
    if not torch.isfinite(vectors).all():
        raise NymlinkError("the encoder's vectors are no longer finite numbers")
    return vectors


def _pieces(tokens: Tokens, device: torch.device, limit: int | None = None) -> list[Rows]:
    budget = _PIECE_TOKENS[device.type]
    return list(plan(tokens.lengths, budget=budget if limit is None else min(budget, limit), padding=_PADDING))


def _run(model: TorchModel, tokens: Tokens, rows: Rows, device: torch.device) -> Tensor:
    ids, real = tokens.padded(rows, pad_id=model.pad_id)
    # No mask where nothing is padding: there is then nothing to add to the attention.
    mask = None if np.all(real) else torch.from_numpy(real).to(device)
    with cheap_dropout(device):
        output: Tensor = model(torch.from_numpy(ids).to(device), mask)
    return output


@contextlib.contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Within it, a model is in evaluation mode."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def _random_state(device: torch.device) -> Sequence[Tensor]:
    state = [torch.get_rng_state()]
    if device.type == "cuda":
        state.append(torch.cuda.get_rng_state(device))
    return state


def _set_random_state(device: torch.device, state: Sequence[Tensor]) -> None:
    torch.set_rng_state(state[0])
    if device.type == "cuda":
        torch.cuda.set_rng_state(state[1], device)


@contextlib.contextmanager
def _restored(device: torch.device) -> Iterator[None]:
    """After it, random numbers go on as if none had been drawn within it."""
    state = _random_state(device)
    try:
        yield
    finally:
        _set_random_state(device, state)
