"""Linear layers whose weights lie in memory as oneDNN multiplies them."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """Does what a linear layer does, on a CPU and without gradients, but faster.

    torch puts the weights into the order that oneDNN wants for every product anew; this does it once. It is what
    ``torch.compile`` does with frozen weights.

    Args:
        linear: the layer; its weights stay as they are.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach())
        self.bias = linear.bias

    def forward(self, input: Tensor) -> Tensor:
        """(…, K) → (…, N)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product


def pack(model: nn.Module) -> None:
    """Replace the linear layers of a model on a CPU, where this torch can: it is not to be trained any more."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Linear:
                setattr(module, name, PackedLinear(child))
