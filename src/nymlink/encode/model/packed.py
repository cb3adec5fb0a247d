"""Linear layers with weights in the memory layout of oneDNN."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """A linear layer that is faster, on a CPU and without gradients.

    torch reorders the weights to oneDNN's layout for every product anew; this layer does it once, as
    ``torch.compile`` does with frozen weights.

    Args:
        linear: the layer; its weights stay as they are.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self.bias = linear.bias

    def forward(self, input: Tensor) -> Tensor:
        """Compute x Wᵀ + b: (…, K) → (…, N)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product


def pack(model: nn.Module) -> None:
    """Replace the linear layers of a model on a CPU, where torch has oneDNN; it cannot be trained afterwards."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Linear:
                setattr(module, name, PackedLinear(child))
