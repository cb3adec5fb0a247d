"""Back ends: libraries that run encoders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

from nymlink.core.errors import InputError
from nymlink.core.registry import Registry
from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.token_batches import Ids

Precision = Literal["fp32", "bf16", "fp16", "int8"]


class Network(Protocol):
    """A model that turns token ids into vectors, on a device and in a precision.

    Attributes:
        width: length of a vector.
        pad_id: token id for padding.
        precision: precision of its matrix products.
        device: its device, for example ``"cpu"`` or ``"cuda"``.
        batch_tokens: number of tokens in a batch that is fastest on the device.
        padding: largest share of padding in a batch, see
            :func:`~nymlink.encode.model.token_batches.plan_batches`.
        at_once: number of batches to encode at once, by threads.
    """

    width: int
    pad_id: int
    precision: Precision
    device: str
    batch_tokens: int
    padding: float
    at_once: int

    def vectors(self, ids: Ids, mask: Ids) -> Vectors:
        """Encode token ids as unit vectors.

        Args:
            ids: int64 (B, T).
            mask: int64 (B, T): 1 for a real token, 0 for padding.

        Returns:
            float32 (B, D).

        Raises:
            MemoryError: the batch is too large for the device.
        """
        ...

    def digest(self) -> str:
        """Compute a hex digest of the network. Networks with the same digest make the same vectors.

        Raises:
            InputError: the files have changed since it was loaded.
        """
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """A way to run networks.

    Attributes:
        name: value of ``--backend``.
        description: one line for the help.
        files: precision → patterns of the weight files. The preferred precision comes first.
        devices: the kinds of device on which it runs.
        open: function that loads the network of a folder. ``None`` as precision or device means the best one
            available.
        priority: if several back ends can read a folder, the one with the smallest number is used.
    """

    name: str
    description: str
    files: Mapping[Precision, tuple[str, ...]]
    devices: tuple[str, ...]
    open: Callable[[Path, EncoderSettings, Precision | None, str | None], Network]
    priority: int = 0

    def serves(self, precision: str | None, device: str | None) -> bool:
        """Whether the back end supports a precision and a device. ``None`` stands for any."""
        return precision in (None, *self.files) and (device is None or device.partition(":")[0] in self.devices)

    def patterns(self, precision: str | None) -> tuple[str, ...]:
        """Return the patterns of the weight files for a precision.

        For ``None`` or an unsupported precision, return the patterns of all weight files.
        """
        own = [patterns for each, patterns in self.files.items() if precision in (None, each)]
        return tuple(dict.fromkeys(chain.from_iterable(own or self.files.values())))

    def reads(self, folder: Path, precision: str | None) -> bool:
        """Whether a folder has weight files for a precision."""
        return any(any(folder.glob(pattern)) for pattern in self.patterns(precision))


BACKENDS: Final[Registry[Backend]] = Registry("nymlink.encoder_backends", noun="encoder back end")


def require_precision(precision: str, offered: tuple[Precision, ...], *, where: str) -> None:
    """Check that a precision is among those offered.

    Raises:
        InputError: it is not. The message lists the precisions offered.
    """
    if precision not in offered:
        known = f"known: {', '.join(get_args(Precision))}" if precision not in get_args(Precision) else ""
        raise InputError(
            f"no precision {precision!r} {where}: choose from {', '.join(offered)}; {known}".rstrip("; ")
        )
