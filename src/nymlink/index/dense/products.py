"""Exact products of matrices of small whole numbers."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.computing import open_session

LARGEST_LEFT: Final = 63
"""Largest absolute value in the left matrix.

Some processors add pairs of products in 16 bits, which holds at most about 127 · 127 · 2. The limit is 63, because
64 is added to the left values.
"""

_GRAPH: Final = bytes.fromhex(
    "08083a640a1e0a01610a01620a047a65726f120163220d4d61744d756c496e7465676572120770726f647563742a0b10022a014042047a65"
    "726f5a150a016112100a0e0802120a0a031201710a0312016462150a016312100a0e0806120a0a031201710a0312016542040a00100a"
)
"""An ONNX model with one node, MatMulInteger, which computes (a - 64) b. The matrix b is appended.

Its bytes are stored here because making it needs the onnx package. A test makes it again and compares.
"""


class Multiplier:
    """Multiplies matrices by a fixed one, exactly.

    The runtime arranges a fixed matrix once. So a single row is multiplied ten times as fast, and many rows twice
    as fast, as with two given matrices.

    Args:
        right: int8 (D, E). No value may be below -127.
    """

    def __init__(self, right: npt.NDArray[np.int8]) -> None:
        self._session = open_session(_GRAPH + _appended(right))

    def __call__(self, left: npt.NDArray[np.int8]) -> npt.NDArray[np.int32]:
        """Multiply a matrix by the fixed one.

        Args:
            left: int8 (Q, D). No absolute value may be above :data:`LARGEST_LEFT`.

        Returns:
            int32 (Q, E).
        """
        shifted = (left + np.int8(LARGEST_LEFT + 1)).view(np.uint8)
        (output,) = self._session.run(None, {"a": shifted})
        matrix: npt.NDArray[np.int32] = output
        return matrix


def _appended(right: npt.NDArray[np.int8]) -> bytes:
    """Write the matrix b of the graph: concatenated messages of Protocol Buffers are merged."""
    sizes = b"".join(b"\x08" + _varint(size) for size in right.shape)
    tensor = sizes + b"\x10\x03\x42\x01b\x4a" + _varint(right.size) + right.tobytes()
    initializer = b"\x2a" + _varint(len(tensor)) + tensor
    return b"\x3a" + _varint(len(initializer)) + initializer


def _varint(number: int) -> bytes:
    """Write a number from 0 in the form of Protocol Buffers: seven bits in a byte, the lowest first."""
    more = b""
    while number > 0x7F:
        more += bytes([number & 0x7F | 0x80])
        number >>= 7
    return more + bytes([number])


@cache
def is_exact() -> bool:
    """Test whether products are exact on this processor with the largest allowed values. The test runs once.

    Processors have different instructions for this product. A wrong product would lose entries without an error.
    """
    draw = np.random.default_rng(0)
    left = draw.choice(np.array([-LARGEST_LEFT, LARGEST_LEFT], np.int8), (67, 389))
    right = draw.choice(np.array([-127, 127], np.int8), (389, 101))
    multiply, expected = Multiplier(right), left.astype(np.int32) @ right.astype(np.int32)
    return all(np.array_equal(multiply(left[:rows]), expected[:rows]) for rows in (1, 2, len(left)))
