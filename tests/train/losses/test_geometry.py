from __future__ import annotations

import pytest
import torch

from nymlink.train.losses.base import distances, similarities, squared_distances


def test_distances_are_those_of_unit_vectors() -> None:
    vectors = torch.randn(20, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    units = vectors / vectors.norm(dim=1, keepdim=True)
    expected = torch.cdist(units, units, compute_mode="donot_use_mm_for_euclid_dist")
    found = similarities(vectors, 3 * vectors)
    torch.testing.assert_close(distances(found), expected)
    torch.testing.assert_close(squared_distances(found), expected**2, atol=1e-12, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype: torch.dtype) -> None:
    vectors = torch.randn(20, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
    expected = similarities(vectors.float(), vectors.float())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = similarities(vectors, vectors)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)


def test_equal_vectors_are_at_distance_zero_and_have_a_finite_gradient() -> None:
    vectors = torch.randn(3, 768, generator=torch.Generator().manual_seed(0))[[0, 0, 1, 2]].requires_grad_()
    apart = distances(similarities(vectors, vectors))
    assert apart.diagonal().tolist() == [0, 0, 0, 0]
    assert apart[0, 1] == 0
    apart.sum().backward()
    assert vectors.grad is not None
    assert torch.isfinite(vectors.grad).all()
