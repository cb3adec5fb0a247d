"""Hash integers, reproducibly across machines and versions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Hash 64-bit integers by the finaliser of SplitMix64 (Steele, Lea & Flood 2014), element by element."""
    mixed = values >> np.uint64(30)
    mixed ^= values
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
