"""Errors of a training that runs out of memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from nymlink.core.errors import NymlinkError


class OutOfMemoryError(NymlinkError):
    """Memory ran out; the message says what to change."""


@contextlib.contextmanager
def out_of_memory_advice(advice: str) -> Iterator[None]:
    """Turn errors of the block for want of memory into one that says what to do.

    Args:
        advice: what to do.

    Raises:
        OutOfMemoryError: the memory of the device or of the machine ran out.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError(f"out of memory: {advice}") from error
    except RuntimeError as error:
        # torch raises a plain RuntimeError where the memory of a CPU runs out.
        if "allocate memory" not in str(error):
            raise
        raise OutOfMemoryError(f"out of memory: {advice}") from error
