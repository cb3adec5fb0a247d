"""NumPy arrays on disk, opened by mapping them into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def save_array(directory: Path, name: str, array: npt.NDArray[Any]) -> None:
    """Write an array to ``name.npy``."""
    np.save(directory / f"{name}.npy", array, allow_pickle=False)


def map_array(directory: Path, name: str) -> npt.NDArray[Any]:
    """Map the array in ``name.npy`` into memory.

    Raises:
        OSError: there is no such file.
        ValueError: it holds no array, or less of it than it says.
    """
    # Copy-on-write, not read-only: compiled code often takes no read-only arrays, even where it writes to none.
    mapped: npt.NDArray[Any] = np.load(directory / f"{name}.npy", mmap_mode="c", allow_pickle=False)
    # A plain array: taking single values out of a memmap is several times slower.
    return mapped.view(np.ndarray)
