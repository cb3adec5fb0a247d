"""Arrays as other numbers."""

from __future__ import annotations

import numpy as np

from nymlink.core.store.arrays import as_float32


def test_every_finite_float16_is_the_same_as_float32() -> None:
    all_of_them = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = all_of_them[np.isfinite(all_of_them)]
    found = as_float32(finite)
    assert found.dtype == np.float32
    expected = finite.astype(np.float32)
    # Bits, that zero and minus zero are told apart.
    assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))
    assert np.array_equal(as_float32(finite.reshape(2, -1)[:, ::3]), expected.reshape(2, -1)[:, ::3])
    assert as_float32(expected) is expected
