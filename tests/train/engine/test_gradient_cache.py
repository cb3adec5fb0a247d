"""Cached gradients against one pass over the whole batch: the same vectors and gradients, dropout included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from nymlink.encode.model.token_batches import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine import gradient_cache
from nymlink.train.engine.gradient_cache import EncodedBatch, encode
from nymlink.train.engine.optimiser import Precision, densify_gradients, use_sparse_embedding_gradients
from tests.encode import tiny

CPU = torch.device("cpu")
FLOAT32 = Precision("float32", CPU)
NAMES = [*tiny.NAMES, "heart", "short fever", "many weeks of short stature", "infarction attack"] * 3


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("base"))


def load(base: Path) -> TorchModel:
    model = TorchModel.load(base).train()
    use_sparse_embedding_gradients(model)
    return model


def tokens(model: TorchModel) -> Tokens:
    return tokenise(model.tokenizer, NAMES)


def loss(vectors: Tensor) -> Tensor:
    unit = torch.nn.functional.normalize(vectors)
    return ((unit @ unit.T) * torch.linspace(-1, 1, len(unit))).square().sum()


def learn(model: TorchModel, *, graph_tokens: int) -> tuple[EncodedBatch, dict[str, Tensor]]:
    """Encode, and send the loss's gradient back."""
    model.zero_grad()
    torch.manual_seed(5)
    encoding = EncodedBatch(model, tokens(model), FLOAT32, graph_tokens=graph_tokens)
    vectors = encoding.vectors.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(vectors), vectors)
    encoding.backward(gradient)
    densify_gradients(model.parameters())
    return encoding, gradients(model)


def gradients(model: TorchModel) -> dict[str, Tensor]:
    return {name: value.grad for name, value in model.named_parameters() if value.grad is not None}


def close(first: dict[str, Tensor], second: dict[str, Tensor]) -> None:
    """Equal up to rounding, which is of the size of what is added up, not of what is left of it."""
    assert first.keys() == second.keys()
    for name, value in first.items():
        error = float((value - second[name]).abs().max())
        assert error <= 1e-4 * float(value.abs().max()) + 1e-5, name


def test_pieces_encoded_twice_give_what_one_pass_gives(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(base)
    # Pieces must be the same for dropout to be the same.
    monkeypatch.setitem(gradient_cache._PIECE_TOKENS, "cpu", 40)
    once, in_one = learn(model, graph_tokens=10**6)
    after_one = torch.rand(3)
    twice, in_pieces = learn(model, graph_tokens=40)
    after_pieces = torch.rand(3)
    assert (once.cached, twice.cached) == (False, True)
    assert torch.equal(once.vectors, twice.vectors)
    close(in_one, in_pieces)
    assert torch.equal(after_one, after_pieces)  # random numbers go on alike


def test_without_dropout_it_is_the_gradient_of_one_padded_batch(base: Path) -> None:
    model = load(base).eval()
    ids, real = map(torch.from_numpy, tokens(model).padded(np.arange(len(NAMES)), pad_id=model.pad_id))
    whole = model(ids, real)
    loss(whole).backward()
    densify_gradients(model.parameters())
    expected = gradients(model)
    for graph_tokens in (30, 200, 10**6):
        encoding, found = learn(model, graph_tokens=graph_tokens)
        torch.testing.assert_close(encoding.vectors, whole.detach(), rtol=1e-4, atol=1e-5)
        close(found, expected)


def test_dropout_differs_from_batch_to_batch(base: Path) -> None:
    model = load(base)
    first, second = (EncodedBatch(model, tokens(model), FLOAT32, graph_tokens=50).vectors for _ in range(2))
    assert not torch.equal(first, second)


def test_encoding_without_a_way_back_is_in_evaluation_mode(base: Path) -> None:
    model = load(base)
    vectors = encode(model, tokens(model), FLOAT32)
    assert torch.equal(vectors, encode(model, tokens(model), FLOAT32))
    assert model.training
    assert not vectors.requires_grad


def test_of_few_tokens_at_once_vectors_are_the_same(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(base)
    vectors = encode(model, tokens(model), FLOAT32)
    original = TorchModel.forward
    sizes = []

    def forward(model: TorchModel, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        sizes.append(ids.numel())
        return original(model, ids, mask)

    monkeypatch.setattr(TorchModel, "forward", forward)
    torch.testing.assert_close(encode(model, tokens(model), FLOAT32, at_once=30), vectors, rtol=1e-4, atol=1e-5)
    assert max(sizes) <= 30


def test_an_empty_share_of_a_batch_is_no_error(base: Path) -> None:
    model = load(base)
    encoding = EncodedBatch(model, tokenise(model.tokenizer, []), FLOAT32, graph_tokens=50)
    assert encoding.vectors.shape == (0, model.width)
    encoding.backward(torch.zeros(0, model.width))


def test_half_precision_is_near(base: Path) -> None:
    model = load(base).eval()
    _, exact = learn(model, graph_tokens=60)
    model.zero_grad()
    encoding = EncodedBatch(model, tokens(model), Precision("bfloat16", CPU), graph_tokens=60)
    assert encoding.vectors.dtype == torch.float32
    encoding.backward(torch.ones_like(encoding.vectors))
    assert gradients(model).keys() == exact.keys()
