"""What runs an encoder's network: a registry that any package can add to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

from nymlink.core.errors import InputError
from nymlink.core.registry import Registry
from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.settings import EncoderSettings
from nymlink.encode.model.tokens import Ids

Precision = Literal["fp32", "bf16", "fp16", "int8"]


class Network(Protocol):
    """Token ids → vectors, on some device and in some precision.

    Attributes:
        width: length of a vector.
        pad_id: the id that shorter names of a batch are filled with.
        precision: of its matrix products.
        device: where they run, for example ``"cpu"`` or ``"cuda"``.
        batch_tokens: how many tokens it is best given at once.
        padding: the share of a batch that may be filling (see :func:`~nymlink.encode.model.tokens.plan`).
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
        """Hex digest of all that the network is: two with the same make the same vectors.

        Raises:
            InputError: the files that it was loaded from have changed since.
        """
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """One way to run networks.

    Attributes:
        name: as given to ``--backend``.
        description: one line for the help.
        files: the precisions it may offer, the preferred first, with the patterns of the weight files that each is
            made from.
        devices: the kinds of device it may run on.
        open: loads the network of a folder; ``None`` for precision or device takes the best there is.
        priority: where several can read a folder, the smallest does.
    """

    name: str
    description: str
    files: Mapping[Precision, tuple[str, ...]]
    devices: tuple[str, ...]
    open: Callable[[Path, EncoderSettings, Precision | None, str | None], Network]
    priority: int = 0

    def serves(self, precision: str | None, device: str | None) -> bool:
        """Whether it may have what is asked for; ``None`` asks for nothing."""
        return precision in (None, *self.files) and (device is None or device.partition(":")[0] in self.devices)

    def patterns(self, precision: str | None) -> tuple[str, ...]:
        """Of the weight files for a precision; of all for ``None``, or one it does not have."""
        own = [patterns for each, patterns in self.files.items() if precision in (None, each)]
        return tuple(dict.fromkeys(chain.from_iterable(own or self.files.values())))

    def reads(self, folder: Path, precision: str | None) -> bool:
        """Whether a folder holds weights of its kind, for a precision."""
        return any(any(folder.glob(pattern)) for pattern in self.patterns(precision))


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
