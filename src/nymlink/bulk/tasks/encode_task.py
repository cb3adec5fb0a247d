"""Encode names as vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nymlink.bulk.rows.row import Row
from nymlink.bulk.tasks.task import Answer, Work
from nymlink.core.errors import InputError
from nymlink.encode.backends import Precision
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.embedded import MINI
from nymlink.encode.model.settings import Pooling


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeTask:
    """Encodes names; arguments are those of :meth:`~nymlink.encode.encoder.Encoder.load`.

    Attributes:
        encoder: an installed encoder, a folder, or the name of a model on the Hugging Face hub.
    """

    encoder: str = MINI
    backend: str | None = None
    precision: Precision | None = None
    device: str | None = None
    pooling: Pooling | None = None
    max_length: int | None = None

    command = "encode"
    column = "name"
    unit = "names"

    @property
    def folders(self) -> tuple[str, ...]:
        """The folder of the encoder, where it is one."""
        return (self.encoder,) if Path(self.encoder).is_dir() else ()

    def open(self) -> Work:
        """Load the encoder.

        Raises:
            InputError, StoreError, UnknownNameError, MissingExtraError: as of
                :meth:`~nymlink.encode.encoder.Encoder.load`.
        """
        return _Encoding(self)


class _Encoding:
    def __init__(self, task: EncodeTask) -> None:
        self._encoder = Encoder.load(
            task.encoder,
            backend=task.backend,
            precision=task.precision,
            device=task.device,
            pooling=task.pooling,
            max_length=task.max_length,
        )
        vector = pa.list_(pa.float32(), self._encoder.width)
        self.schema = pa.schema([("id", pa.string()), ("name", pa.string()), ("vector", vector)])
        self.identity: Mapping[str, Any] = {
            "encoder": self._encoder.fingerprint,
            "settings": {"precision": self._encoder.network.precision},
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        if any(row.mentions is not None for row in rows):
            raise InputError("a document is no name: encode a table of names")
        vectors = self._encoder.encode([row.text for row in rows])
        for row, vector in zip(rows, vectors, strict=True):
            yield Answer([(row.id, row.text, vector)], 1, int(not vector.any()))
