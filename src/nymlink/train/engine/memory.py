"""What a training says when memory does not suffice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from nymlink.core.errors import NymlinkError


class OutOfMemoryError(NymlinkError):
    """Memory does not suffice; the message says what needs less."""


@contextlib.contextmanager
def fitting(advice: str) -> Iterator[None]:
    """Within it, too little memory is an error that says what to do.

    Raises:
        OutOfMemoryError: memory, the device's or the machine's, does not suffice.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError(f"out of memory: {advice}") from error
    except RuntimeError as error:
        # What torch raises where a CPU's memory does not suffice.
        if "allocate memory" not in str(error):
            raise
        raise OutOfMemoryError(f"out of memory: {advice}") from error
