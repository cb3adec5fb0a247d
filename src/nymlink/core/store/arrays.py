"""Arrays in memory-mapped files, types of arrays, and hashes of numbers."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", bound=np.number[Any])

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
"""(N, D) float32: the vectors of N names, for computation."""
HalfVectors = npt.NDArray[np.float16]
"""(N, D) float16: the vectors of N names, as stored on disk."""


def as_float32(values: HalfVectors | Vectors) -> Vectors:
    """Convert finite float16 values to float32, several times faster than ``astype``.

    Float32 is returned as it is.

    The sign, exponent and fraction of a float16 are moved to the fields of a float32. This gives the number times
    2⁻¹¹², because the exponent bias is 127 instead of 15. A multiplication corrects it.
    """
    if values.dtype == np.float32:
        return cast(Vectors, values)
    # Signed integers are converted with copies of the sign. So one shift moves all fields; the mask clears copies.
    bits = np.ascontiguousarray(values).view(np.int16).astype(np.int32)
    bits <<= np.int32(13)
    bits &= np.int32(-0x70002000)
    converted = bits.view(np.float32)
    converted *= np.float32(2.0**112)
    return converted


def save_array(directory: Path, name: str, array: npt.NDArray[Any]) -> None:
    """Write an array to ``name.npy``."""
    np.save(directory / f"{name}.npy", array, allow_pickle=False)


def save_blocks(
    directory: Path, name: str, blocks: Iterable[npt.NDArray[Any]], *, dtype: npt.DTypeLike, shape: tuple[int, ...]
) -> None:
    """Write an array to ``name.npy`` block by block, so that the whole array is never in memory.

    Args:
        directory: the directory of the file.
        name: the name of the file without its ending.
        blocks: contiguous arrays of type ``dtype``; their concatenation is the array.
        dtype: the type of the array.
        shape: the shape of the whole array.
    """
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    with open(directory / f"{name}.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(block.data)


def map_array(directory: Path, name: str, *, scattered: bool = False) -> npt.NDArray[Any]:
    """Map the array in ``name.npy`` into memory.

    Args:
        directory: the directory of the file.
        name: the name of the file without its ending.
        scattered: whether single rows of a large file will be read. The system then does not read ahead.

    Raises:
        OSError: there is no such file.
        ValueError: the file holds no array of numbers, or is truncated.
    """
    # Map copy-on-write, not read-only: compiled code often rejects read-only arrays, even if it does not write.
    try:
        mapped: npt.NDArray[Any] = np.load(directory / f"{name}.npy", mmap_mode="c", allow_pickle=False)
    except (EOFError, ArithmeticError, SyntaxError, TokenError, TypeError) as error:
        # NumPy parses the header as Python, so a damaged header raises errors of the parser.
        raise ValueError(f"{name}.npy is not an array ({error})") from error
    if mapped.dtype.kind not in "biuf" or not mapped.dtype.isnative:
        raise ValueError(f"{name}.npy holds {mapped.dtype}, no numbers of this processor")
    if not mapped.ndim:
        raise ValueError(f"{name}.npy holds a single value")
    if scattered and hasattr(mmap, "MADV_RANDOM") and isinstance(mapped.base, mmap.mmap):
        # This is only advice. If the system refuses it, reading works as before.
        with suppress(OSError):
            mapped.base.madvise(mmap.MADV_RANDOM)
    # Return a plain array, because reading single values from a memmap is several times slower.
    return mapped.view(np.ndarray)


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Hash 64-bit integers by the finaliser of SplitMix64 (Steele, Lea & Flood 2014), element by element."""
    mixed = values >> np.uint64(30)
    mixed ^= values
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def starts_of_runs(values: npt.NDArray[Any]) -> Ints:
    """Find where each run of equal values begins."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def distinct(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Sort numbers and remove repetitions, faster than :func:`numpy.unique` for millions."""
    ordered = np.sort(values)
    return ordered[starts_of_runs(ordered)]
