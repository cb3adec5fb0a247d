"""The product of matrices of 8-bit integers, which processors multiply several times as fast as float32.

NumPy has none that is fast; ONNX Runtime, which encoders run in, does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.onnx_session import open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

LARGEST_LEFT: Final = 63
"""Larger values on the left are not allowed: where a processor adds up pairs of products in 16 bits, 127 · 127 · 2
is about the most there is room for, and the left has 64 added to it."""

_GRAPH: Final = bytes.fromhex(
    "08083a7b0a1e0a01610a01620a047a65726f120163220d4d61744d756c496e7465676572120770726f647563742a0b10022a014042047a"
    "65726f5a150a016112100a0e0802120a0a031201710a031201645a150a016212100a0e0803120a0a031201640a0312016562150a016312"
    "100a0e0806120a0a031201710a0312016542040a00100a"
)
"""A model of one node, MatMulInteger: (a - 64) b. To make it takes the onnx package, to run it does not; a test
makes it anew."""


def product(left: npt.NDArray[np.int8], right: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
    """The product of two matrices, exact.

    Args:
        left: int8 (Q, D), no value beyond :data:`LARGEST_LEFT` either way.
        right: int8 (D, E), no value below -127.

    Returns:
        int32 (Q, E).
    """
    shifted = (left + np.int8(LARGEST_LEFT + 1)).view(np.uint8)
    (found,) = _session().run(None, {"a": shifted, "b": right})
    matrix: npt.NDArray[np.int32] = found
    return matrix


@cache
def is_exact() -> bool:
    """Whether the product is what it must be here, tried once with the largest values there can be.

    Each kind of processor does it by instructions of its own, and a wrong product would silently lose entries.
    """
    draw = np.random.default_rng(0)
    left = draw.choice(np.array([-LARGEST_LEFT, LARGEST_LEFT], np.int8), (67, 389))
    right = draw.choice(np.array([-127, 127], np.int8), (389, 101))
    expected = left.astype(np.int32) @ right.astype(np.int32)
    return all(np.array_equal(product(left[:rows], right), expected[:rows]) for rows in (1, 2, len(left)))


@cache
def _session() -> InferenceSession:
    return open_session(_GRAPH)
