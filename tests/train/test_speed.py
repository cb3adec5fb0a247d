"""What makes a step faster leaves its result as it was."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from nymlink.train.optimise import adamw
from nymlink.train.speed import CheapDropout, densify, quicken
from tests.encode import tiny

pytestmark = pytest.mark.usefixtures("one_thread")


def test_dropout_drops_its_share_and_keeps_the_sum() -> None:
    torch.manual_seed(0)
    values = torch.ones(999, 1001)
    dropped = CheapDropout(0.1)(values)
    assert set(dropped.unique().tolist()) == {0.0, float(torch.tensor(1.0) / 0.9)}
    assert abs(float((dropped == 0).float().mean()) - 0.1) < 0.002
    assert abs(float(dropped.mean()) - 1) < 0.002
    # Neighbours share a random number, and are independent all the same.
    zero = (dropped == 0).float().flatten()
    for apart in range(1, 9):
        assert abs(float((zero[apart:] * zero[:-apart]).mean()) - 0.01) < 0.001


def test_dropout_is_repeated_by_its_seed_and_has_its_gradient() -> None:
    layer, values = CheapDropout(0.3), torch.rand(5, 7, requires_grad=True)
    torch.manual_seed(1)
    first = layer(values)
    torch.manual_seed(1)
    second = layer(values)
    assert torch.equal(first, second)
    first.sum().backward()
    assert torch.equal(values.grad * values.detach(), first.detach())
    assert torch.equal(layer.eval()(values), values)


def test_half_precision_stays_half_precision() -> None:
    assert CheapDropout(0.1)(torch.ones(6, dtype=torch.bfloat16)).dtype == torch.bfloat16


def test_sparse_gradients_move_the_weights_as_dense_ones_do() -> None:
    plain = tiny.transformer("bert").eval()
    quick = copy.deepcopy(plain)
    quicken(quick, torch.device("cpu"))
    ids = torch.tensor([[2, 7, 9, 3], [2, 7, 7, 3]])
    for model in (plain, quick):
        optimiser = adamw(model.parameters(), learning_rate=0.01, weight_decay=0.01)
        for _ in range(3):
            optimiser.zero_grad()
            for piece in ids[:, None]:
                states = model(input_ids=piece).last_hidden_state
                (states * torch.linspace(-1, 2, 32)).sum().backward()
            densify(model.parameters())
            optimiser.step()
    for (name, one), other in zip(plain.named_parameters(), quick.parameters(), strict=True):
        torch.testing.assert_close(one, other, msg=name)


def test_only_plain_dropout_is_replaced() -> None:
    model = nn.Sequential(nn.Dropout(0.2), nn.Dropout2d(0.2), nn.Sequential(nn.Dropout(0.4)))
    quicken(model, torch.device("cpu"))
    assert [type(module).__name__ for module in model.modules() if hasattr(module, "p")] == [
        "CheapDropout",
        "Dropout2d",
        "CheapDropout",
    ]
