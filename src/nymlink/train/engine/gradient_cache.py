"""Encoding with gradients: pieces of a batch, cached gradients, and faster dropout on a CPU.

Pieces hold inputs of similar length, to save padding. If the computation graph of a whole batch does not fit into
memory, gradients are cached as in GradCache (Gao et al., "Scaling Deep Contrastive Learning Batch Size under
Memory Limited Setup", RepL4NLP 2021). First, all inputs are encoded without a graph, and the gradient of the loss
to their vectors is computed. Then each piece is encoded again, with a graph and the same dropout, and its part of
that gradient is propagated. The loss and its gradients equal those of the whole batch.

On a CPU, torch's dropout draws a 64-bit random number for each value. With passages and a small encoder, these
draws take a third of the time of a forward and backward pass, mostly in attention. :func:`dropout` draws a quarter
as many.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from nymlink.core.errors import NymlinkError
from nymlink.encode.model.token_batches import Rows, Tokens, plan_batches, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.optimiser import Precision


def fast_dropout(device: torch.device) -> AbstractContextManager[Any]:
    """Replace torch's ``dropout`` by :func:`dropout` until the block ends, on a CPU only.

    Fused attention (SDPA) has a dropout of its own, but is not used on a CPU
    (:func:`~nymlink.encode.model.torch_model.attention_on`).
    """
    return _FastDropout() if device.type == "cpu" else nullcontext()


def dropout(input: Tensor, p: float) -> Tensor:
    """Set values to 0 with probability p, and divide the others by 1 − p.

    One random number decides on four values.

    Args:
        input: a tensor of any shape.
        p: dropout probability, above 0 and below 1 − 2⁻¹⁶. The probability used differs from p by at most 2⁻¹⁶.
    """
    draws = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    decisions = draws.view(torch.int16)[: input.numel()].view(input.shape)
    kept = decisions >= round(p * 65536) - 32768
    return input * kept.to(input.dtype).div_(1 - p)


class _FastDropout(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        # For other probabilities, torch raises an error, or has nothing to draw.
        if func is functional.dropout and given["training"] and 0 < given["p"] < 1 - 2**-16:
            return dropout(args[0], given["p"])
        return func(*args, **given)


_PADDING: Final = 0.25
_PIECE_TOKENS: Final = {"cpu": 1024, "cuda": 8192}
"""Device → most tokens of a piece. On a CPU, the output of a layer should fit into the CPU's cache."""


class EncodedBatch:
    """The vectors of a batch of inputs, with their backward pass.

    Args:
        model: the encoder, in training or evaluation mode.
        tokens: N inputs.
        precision: the precision to compute in.
        graph_tokens: most tokens of a computation graph in memory, padding included.

    Attributes:
        vectors: float32 (N, D), without a graph, not of unit length.
        cached: whether the backward pass encodes the inputs again.
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
        """Add the gradients of the loss to the gradients of the weights.

        This frees the computation graphs, so it can be called only once.

        Args:
            gradient: (N, D): gradient of the loss to :attr:`vectors`.
        """
        parts = [gradient[torch.from_numpy(rows)] for rows in self._pieces]
        if not self.cached:
            if parts:
                torch.autograd.backward(self._outputs, parts)
            return
        with _preserved_random_state(self._precision.device):
            for rows, state, part in zip(self._pieces, self._states, parts, strict=True):
                _set_random_state(self._precision.device, state)
                with self._precision.autocast():
                    output = _run(self._model, self._tokens, rows, self._precision.device)
                torch.autograd.backward(output, part)


def encode(model: TorchModel, tokens: Tokens, precision: Precision, *, at_once: int | None = None) -> Tensor:
    """Encode N inputs in evaluation mode, without gradients.

    Args:
        model: the encoder.
        tokens: N inputs.
        precision: the precision to compute in.
        at_once: most tokens at a time, padding included; ``None`` for a number that is fast on the device.

    Returns:
        float32 (N, D), not of unit length.
    """
    vectors = torch.zeros(len(tokens), model.width, device=precision.device)
    with evaluation_mode(model), torch.no_grad(), precision.autocast():
        for rows in _pieces(tokens, precision.device, at_once):
            vectors[torch.from_numpy(rows)] = _run(model, tokens, rows, precision.device)
    return vectors


def encode_names(model: TorchModel, names: Sequence[str], precision: Precision, *, at_once: int) -> Tensor:
    """Tokenise and encode N names with :func:`encode`.

    Raises:
        NymlinkError: a vector is not finite: the weights have diverged.
    """
    vectors = encode(model, tokenise(model.tokenizer, names), precision, at_once=at_once)
    if not torch.isfinite(vectors).all():
        raise NymlinkError("the encoder's vectors are no longer finite numbers")
    return vectors


def _pieces(tokens: Tokens, device: torch.device, limit: int | None = None) -> list[Rows]:
    budget = _PIECE_TOKENS[device.type]
    return list(
        plan_batches(tokens.lengths, budget=budget if limit is None else min(budget, limit), padding=_PADDING)
    )


def _run(model: TorchModel, tokens: Tokens, rows: Rows, device: torch.device) -> Tensor:
    ids, real = tokens.padded(rows, pad_id=model.pad_id)
    # Without padding, save the time of an attention mask.
    mask = None if np.all(real) else torch.from_numpy(real).to(device)
    with fast_dropout(device):
        output: Tensor = model(torch.from_numpy(ids).to(device), mask)
    return output


@contextlib.contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode until the block ends."""
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
def _preserved_random_state(device: torch.device) -> Iterator[None]:
    """Restore the state of the random number generators when the block ends."""
    state = _random_state(device)
    try:
        yield
    finally:
        _set_random_state(device, state)
