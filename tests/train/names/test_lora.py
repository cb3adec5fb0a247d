"""LoRA in tiny models of every kind."""

from __future__ import annotations

import pytest
import torch

from nymlink.core.errors import InputError
from nymlink.train.names.tuning import TARGETS, LoraSettings, add_lora, merge_lora
from tests.encode.kinds import KINDS, encode, tiny


@pytest.mark.parametrize("kind", KINDS)
def test_lora_is_merged_into_plain_weights(kind: str) -> None:
    model = tiny(kind)
    before, names = encode(model), list(model.state_dict())
    wrapped = add_lora(model, LoraSettings(rank=2, alpha=4))
    torch.testing.assert_close(encode(wrapped), before)
    changes = {name: value for name, value in wrapped.named_parameters() if value.requires_grad}
    assert all("lora_" in name for name in changes)
    assert len(changes) == 3 * 2 * len(TARGETS[model.config.model_type])
    encode(wrapped).square().sum().backward()
    assert all(value.grad is not None for value in changes.values())
    torch.manual_seed(1)
    with torch.no_grad():
        for value in changes.values():
            value.normal_(std=0.3)
    after = encode(wrapped)
    assert not torch.allclose(after, before, atol=1e-3)
    merged = merge_lora(wrapped)
    assert list(merged.state_dict()) == names
    torch.testing.assert_close(encode(merged), after, atol=1e-5, rtol=1e-5)


def test_lora_lists_the_models_it_knows() -> None:
    with pytest.raises(InputError, match=r"types bert, .*not albert \(whose linear layers are .*query"):
        add_lora(tiny("Albert"), LoraSettings())
    with pytest.raises(ValueError, match="must be at least 1, not 0 and 32"):
        LoraSettings(rank=0)
