from __future__ import annotations

import pytest
import torch
from torch import nn

from nymlink.encode.model.torch_model import PackedLinear, pack


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 3, 32), (7, 9, 32), (4, 32), (0, 3, 32)])
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_a_linear_layer(dtype: torch.dtype, shape: tuple[int, ...], bias: bool) -> None:
    if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("oneDNN packs no bf16 on this processor")
    torch.manual_seed(0)
    layer, values = nn.Linear(32, 12, bias=bias).to(dtype), torch.randn(shape).to(dtype)
    with torch.inference_mode():
        torch.testing.assert_close(PackedLinear(layer)(values), layer(values), atol=0.02, rtol=0.02)


def test_layers_of_layers_are_packed_and_others_left() -> None:
    class Own(nn.Linear):
        """Does something else than a linear layer."""

    model = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.GELU()), Own(4, 4))
    pack(model)
    assert [type(each) for each in model.modules()][2:] == [PackedLinear, nn.GELU, Own]
