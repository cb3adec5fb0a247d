"""Arrays as other numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from nymlink.core.store.arrays import as_float32, map_array


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


@pytest.mark.parametrize(
    "kind", ["<M8[D]", "S5", "c16", [("a", "<i8")], "V4", ">i4" if sys.byteorder == "little" else "<i4"]
)
def test_only_numbers_of_this_processor_are_arrays(tmp_path: Path, kind: npt.DTypeLike) -> None:
    np.save(tmp_path / "odd.npy", np.zeros(3, kind))
    with pytest.raises(ValueError, match=r"odd\.npy holds .*, no numbers of this processor"):
        map_array(tmp_path, "odd")
