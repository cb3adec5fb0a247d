"""What runs an encoder's network: a registry that any package can add to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from nymlink.encode.settings import EncoderSettings
from nymlink.encode.tokens import Ids
from nymlink.errors import InputError
from nymlink.registry import Registry

Precision = Literal["fp32", "bf16", "fp16", "int8"]
Vectors = npt.NDArray[np.float32]


class Network(Protocol):
    """Token ids → vectors, on some device and in some precision.

    Attributes:
        width: length of a vector.
        pad_id: the id that shorter names of a batch are filled with.
        precision: of its matrix products.
        device: where they run, for example ``"cpu"`` or ``"cuda"``.
        batch_tokens: how many tokens it is best given at once.
        padding: the share of a batch that may be filling (see :func:`~nymlink.encode.tokens.plan`).
    """

    width: int
    pad_id: int
    precision: Precision
    device: str
    batch_tokens: int
    padding: float

    def vectors(self, ids: Ids, mask: Ids) -> Vectors:
        """Unit vectors.

        Args:
            ids: int64 (B, T).
            mask: int64 (B, T): 1 for a real token, 0 for filling.

        Returns:
            float32 (B, D).

        Raises:
            MemoryError: the batch is too large for the device.
        """
        ...

    def digest(self) -> str:
        """Hex digest of the weights."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """One way to run networks.

    Attributes:
        name: as given to ``--backend``.
        description: one line for the help.
        files: patterns of the weight files it reads, the preferred first.
        open: loads the network of a folder; ``None`` for precision or device takes the best there is.
        priority: where several can read a folder, the smallest does.
    """

    name: str
    description: str
    files: tuple[str, ...]
    open: Callable[[Path, EncoderSettings, Precision | None, str | None], Network]
    priority: int = 0

    def reads(self, folder: Path) -> bool:
        """Whether a folder holds weights of its kind."""
        return any(any(folder.glob(pattern)) for pattern in self.files)


BACKENDS: Final[Registry[Backend]] = Registry("nymlink.encoder_backends", noun="encoder back end")


def require_precision(precision: str, offered: tuple[Precision, ...], *, where: str) -> None:
    """See that a precision can be had.

    Raises:
        InputError: it cannot; the message lists those that can.
    """
    if precision not in offered:
        known = f"known: {', '.join(get_args(Precision))}" if precision not in get_args(Precision) else ""
        raise InputError(
            f"no precision {precision!r} {where}: choose from {', '.join(offered)}; {known}".rstrip("; ")
        )
