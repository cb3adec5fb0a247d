"""The encoder of an index: its record, and the encoder of queries, which is loaded at the first query."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_files import to_dataclass
from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.folder import installed

if TYPE_CHECKING:
    from nymlink.encode.backend import Precision
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.encoder_settings import Pooling


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """Identity and settings of the encoder with which an index was built.

    Attributes:
        name: its folder, or the name of a model on the Hugging Face hub; ``None`` if unknown.
        width: length of a vector.
        fingerprint: see :attr:`nymlink.encode.encoder.Encoder.fingerprint`.
        pooling: its pooling.
        max_length: most tokens of a name. Longer names were truncated.
        precision: the precision of its network; ``None`` if unknown.
        backend: name of the back end that ran its network; ``None`` if unknown.
    """

    name: str | None
    width: int
    fingerprint: str
    pooling: Pooling
    max_length: int
    precision: Precision | None = None
    backend: str | None = None

    @classmethod
    def of(cls, encoder: Encoder) -> EncoderRecord:
        """Record an encoder."""
        return cls(
            name=encoder.name,
            width=encoder.width,
            fingerprint=encoder.fingerprint,
            pooling=encoder.settings.pooling,
            max_length=encoder.settings.max_length,
            precision=encoder.network.precision,
            backend=encoder.backend,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def load(self, place: str | Path) -> Encoder:
        """Load the encoder from its present place.

        The caller then compares it with the record (:meth:`check`).

        Device and precision may be others than those with which the index was built, as long as the vectors are
        the same. For example, a GPU may encode the vocabulary, and a CPU the queries.

        Args:
            place: a folder, or the name of a model on the hub.

        Raises:
            InputError, StoreError, UnknownNameError, MissingExtraError: as :meth:`Encoder.load`.
        """
        from nymlink.encode.encoder import Encoder

        # All precisions except int8 give the same vectors. Which of them is best depends on the device.
        load = partial(
            Encoder.load,
            place,
            precision="int8" if self.precision == "int8" else None,
            pooling=self.pooling,
            max_length=self.max_length,
        )
        try:
            encoder = load()
        except InputError as first_error:
            # The graph in the folder may have a built-in pooling that differs from the recorded pooling.
            if self.backend is None:
                raise
            try:
                return load(backend=self.backend)
            except InputError:
                raise first_error from None
        if encoder.fingerprint != self.fingerprint and encoder.backend != self.backend is not None:
            # nymlink cannot tell whether the folder's graphs were exported from its weights.
            with suppress(InputError):
                return load(backend=self.backend)
        return encoder

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> EncoderRecord:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        return to_dataclass(cls, value)

    def check(self, encoder: Encoder, index: Path | None) -> None:
        """Check that an encoder is the recorded one.

        Args:
            encoder: an encoder.
            index: the directory of the record, for the message.

        Raises:
            StoreError: it is another encoder.
        """
        if self._was_loaded_as_recorded(encoder):
            # The recorded place now has a wrong encoder, so the message must not recommend it.
            advice = (
                f"{self.name}, or how its vectors are made, has changed since: build the index again, or say "
                "where the encoder is as it was (`nymlink index set --encoder`)"
            )
        else:
            name = self.name or "the encoder it was built with"
            advice = f"search with {name}, or build the index again with this encoder"
        if encoder.width != self.width:
            raise StoreError(
                f"the encoder makes vectors of width {encoder.width}, but those of the index have width "
                f"{self.width}: {advice}",
                path=index,
            )
        if encoder.fingerprint != self.fingerprint:
            raise StoreError(
                f"the encoder is not the one that the index was built with (fingerprint "
                f"{encoder.fingerprint[:12]}…, not {self.fingerprint[:12]}…): {advice}",
                path=index,
            )

    def _was_loaded_as_recorded(self, encoder: Encoder) -> bool:
        """Whether an encoder was loaded from the recorded place with the recorded settings."""
        if self.name is None or encoder.name != self.name:
            return False
        settings, precision = encoder.settings, encoder.network.precision
        same_settings = (settings.pooling, settings.max_length) == (self.pooling, self.max_length)
        return same_settings and (precision == "int8") == (self.precision == "int8")


class QueryEncoder:
    """Encodes queries with the encoder with which an index was built.

    Args:
        record: the record of that encoder.
        given: the loaded encoder, or its present place; ``None`` for the recorded place.
        index: the directory of the index, for messages.

    Raises:
        StoreError: the given loaded encoder is not the recorded one.
    """

    def __init__(
        self, record: EncoderRecord, given: Encoder | str | Path | None = None, *, index: Path | None = None
    ) -> None:
        self.record = record
        self._given = given
        self._index = index
        if given is not None and not isinstance(given, str | Path):
            record.check(given, index)

    @property
    def width(self) -> int:
        """Length of its vectors. It is known before the encoder is loaded."""
        return self.record.width

    def encode(
        self, names: Sequence[str], *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Vectors:
        """Encode N names: float32 (N, D). The first call loads the encoder.

        Raises:
            StoreError: the encoder was not found, or is not the encoder with which the index was built.
            InputError: there is no encoder at the given place.
        """
        return self.loaded.encode(names, cache=cache, progress=progress)

    @property
    def place(self) -> str | Path | None:
        """The given place of the encoder; ``None`` for the recorded place.

        Raises:
            InputError: the given encoder was made in memory, and has no place.
        """
        if self._given is None or isinstance(self._given, str | Path):
            return self._given
        if self._given.name is None:
            raise InputError(
                "the encoder of this index was made in memory, and another process cannot load it: load the index "
                "there, with that encoder"
            )
        return self._given.name

    @cached_property
    def loaded(self) -> Encoder:
        """The encoder, loaded at the first access."""
        given = self._given
        if given is not None and not isinstance(given, str | Path):
            return given
        place = self.record.name if given is None else given
        if place is None:
            raise StoreError(
                "the index does not know the place of its encoder: set it (`nymlink index set --encoder`)",
                path=self._index,
            )
        if given is None and installed(place) is None:
            # Warn before reading or fetching anything from this place: the index may come from a stranger.
            index = "the index" if self._index is None else f"the index {self._index}"
            warnings.warn(
                f"{index} asks for {_describe(place)} (`nymlink index set --encoder` names another)", stacklevel=2
            )
        try:
            encoder = self.record.load(place)
        except InputError as error:
            if given is not None:
                raise
            raise StoreError(
                f"the encoder it was built with cannot be loaded ({error}): say where it is now "
                "(`nymlink index set --encoder`)",
                path=self._index,
            ) from error
        self.record.check(encoder, self._index)
        return encoder


def _describe(place: str | Path) -> str:
    """Describe an encoder that is not installed with nymlink, for a message without control characters."""
    hub = "" if Path(place).is_absolute() or Path(place).is_dir() else " of the Hugging Face hub"
    return f"the encoder {str(place)!r}{hub}"
