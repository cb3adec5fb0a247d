"""Cheap dropout drops out as torch's does."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from nymlink.train.engine.gradient_cache import dropout, fast_dropout
from tests.encode import tiny

CPU = torch.device("cpu")


def test_it_drops_its_share_and_keeps_the_sum() -> None:
    torch.manual_seed(0)
    values = torch.ones(999, 1001)
    dropped = dropout(values, 0.1)
    assert set(dropped.unique().tolist()) == {0.0, float(torch.tensor(1.0) / 0.9)}
    assert abs(float((dropped == 0).float().mean()) - 0.1) < 0.002
    assert abs(float(dropped.mean()) - 1) < 0.002
    # Neighbours share a random number, and are independent all the same.
    zero = (dropped == 0).float().flatten()
    for apart in range(1, 9):
        assert abs(float((zero[apart:] * zero[:-apart]).mean()) - 0.01) < 0.001


def test_it_is_repeated_by_its_seed_and_has_its_gradient() -> None:
    values = torch.rand(5, 7, requires_grad=True)
    torch.manual_seed(1)
    first = dropout(values, 0.3)
    torch.manual_seed(1)
    second = dropout(values, 0.3)
    assert torch.equal(first, second)
    first.sum().backward()
    assert torch.equal(values.grad * values.detach(), first.detach())


def test_half_precision_stays_half_precision() -> None:
    assert dropout(torch.ones(6, dtype=torch.bfloat16), 0.1).dtype == torch.bfloat16


def test_within_it_modules_drop_out_so_and_not_after_it() -> None:
    layer, values = nn.Dropout(0.5), torch.rand(50)
    torch.manual_seed(2)
    with fast_dropout(CPU):
        within = layer(values)
    torch.manual_seed(2)
    assert torch.equal(within, dropout(values, 0.5))
    torch.manual_seed(2)
    after = layer(values)
    torch.manual_seed(2)
    assert torch.equal(after, nn.functional.dropout(values, 0.5))


def test_what_is_not_by_chance_is_left_to_torch() -> None:
    values = torch.rand(50)
    with fast_dropout(CPU):
        assert torch.equal(nn.Dropout(0.5).eval()(values), values)
        assert torch.equal(nn.Dropout(0.0)(values), values)
        assert not nn.functional.dropout(values, 1.0).any()
        with pytest.raises(ValueError, match="between 0 and 1"):
            nn.functional.dropout(values, -1.0)


def test_all_dropout_of_a_transformer_is_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its attention has no module that could be replaced."""
    model = tiny.transformer("bert").train()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("torch has drawn for a dropout")

    monkeypatch.setattr(torch, "dropout", never)
    monkeypatch.setattr(torch._VF, "dropout", never)
    with fast_dropout(CPU):
        model(input_ids=torch.tensor([[2, 7, 9, 3]]))
    with pytest.raises(AssertionError, match="drawn"):
        model(input_ids=torch.tensor([[2, 7, 9, 3]]))
