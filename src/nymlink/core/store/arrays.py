"""The types of NumPy arrays, and arrays on disk, opened by mapping them into memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
"""(N, D): the vectors of N names, as they are computed with."""
Kept = npt.NDArray[np.float16]
"""(N, D): the same as they are kept on disk."""


def as_float32(values: Kept | Vectors) -> Vectors:
    """The same finite numbers as float32; what is float32 stays as it is.

    ``astype`` looks at one after the other. The bits of a float16 in the places where a float32 has them are that
    number, but for what the exponent is counted from: 2¹¹² times as small.
    """
    if values.dtype == np.float32:
        return cast(Vectors, values)
    bits = np.ascontiguousarray(values).view(np.uint16).astype(np.uint32)
    signs = (bits & np.uint32(0x8000)) << np.uint32(16)
    bits &= np.uint32(0x7FFF)
    bits <<= np.uint32(13)
    bits |= signs
    found = bits.view(np.float32)
    found *= np.float32(2.0**112)
    return found


def save_array(directory: Path, name: str, array: npt.NDArray[Any]) -> None:
    """Write an array to ``name.npy``."""
    np.save(directory / f"{name}.npy", array, allow_pickle=False)


def save_blocks(
    directory: Path, name: str, blocks: Iterable[npt.NDArray[Any]], *, dtype: npt.DTypeLike, shape: tuple[int, ...]
) -> None:
    """Write an array to ``name.npy`` of which a block is there at a time.

    Args:
        directory: where it goes.
        name: its name.
        blocks: contiguous arrays of this type, which one after the other are the array.
        dtype: its type.
        shape: its shape.
    """
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with open(directory / f"{name}.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(block.data)


def map_array(directory: Path, name: str) -> npt.NDArray[Any]:
    """Map the array in ``name.npy`` into memory.

    Raises:
        OSError: there is no such file.
        ValueError: it holds no array, or less of it than it says.
    """
    # Copy-on-write, not read-only: compiled code often takes no read-only arrays, even where it writes to none.
    try:
        mapped: npt.NDArray[Any] = np.load(directory / f"{name}.npy", mmap_mode="c", allow_pickle=False)
    except (EOFError, ArithmeticError, SyntaxError, TokenError, TypeError) as error:
        # NumPy reads the header as if it were Python.
        raise ValueError(f"{name}.npy is no array ({error})") from error
    if not mapped.ndim:
        raise ValueError(f"{name}.npy holds a single value")
    # A plain array: taking single values out of a memmap is several times slower.
    return mapped.view(np.ndarray)
