"""The encoder of an index: what the index remembers of it, and loading it when a query needs it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_objects import record
from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.embedded import embedded

if TYPE_CHECKING:
    from nymlink.encode.backends import Precision
    from nymlink.encode.cache.embedding_cache import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.settings import Pooling


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """What an index remembers of the encoder that it was built with.

    Attributes:
        name: where it was: a folder, or a model on the Hugging Face hub; ``None`` where that is not known.
        width: length of a vector.
        fingerprint: what identifies it, see :attr:`nymlink.encode.encoder.Encoder.fingerprint`.
        pooling: its pooling.
        max_length: the tokens that names were cut to.
        precision: of its network; ``None`` where that is not known.
        backend: what ran its network; ``None`` where that is not known.
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
        """The record of an encoder."""
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
        """Load the encoder from where it is now; whether it is this one is for :meth:`check` to see.

        It may run on another device and in another precision than when the index was built, as long as the vectors
        are the same: a GPU encodes a vocabulary, a CPU its queries.

        Raises:
            InputError, StoreError, UnknownNameError, MissingExtraError: as :meth:`Encoder.load`.
        """
        from nymlink.encode.encoder import Encoder

        # All precisions but int8 make the same vectors, and the best is for the device to say.
        load = partial(
            Encoder.load,
            place,
            precision="int8" if self.precision == "int8" else None,
            pooling=self.pooling,
            max_length=self.max_length,
        )
        try:
            encoder = load()
        except InputError as refused:
            # The folder's graph may pool in another way than it was asked to when the index was built.
            if self.backend is None:
                raise
            try:
                return load(backend=self.backend)
            except InputError:
                raise refused from None
        if encoder.fingerprint != self.fingerprint and encoder.backend != self.backend is not None:
            # A folder may hold graphs that are not known to be made of its weights.
            with suppress(InputError):
                return load(backend=self.backend)
        return encoder

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> EncoderRecord:
        """What :meth:`to_dict` gave.

        Raises:
            ValueError: the value is damaged.
        """
        found = record(cls, value)
        for said in (found.name, found.backend):
            if not isinstance(said, str | None):
                raise ValueError(f"its encoder is said to be {said!r}")
        return found

    def check(self, encoder: Encoder, index: Path | None) -> None:
        """See that this is the encoder that was recorded.

        Args:
            encoder: an encoder.
            index: the directory that the record is from, for the message.

        Raises:
            StoreError: it is another one.
        """
        if self._leads_to(encoder):
            # It is no use to search with what is there now.
            advice = (
                f"{self.name}, or how its vectors are made, has changed since: build the index again, or give the "
                "encoder as it was with --encoder"
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

    def _leads_to(self, encoder: Encoder) -> bool:
        """Whether this is what the record leads to now: from the same place, and loaded in the same way."""
        if self.name is None or encoder.name != self.name:
            return False
        settings, precision = encoder.settings, encoder.network.precision
        alike = (settings.pooling, settings.max_length) == (self.pooling, self.max_length)
        return alike and (precision == "int8") == (self.precision == "int8")


class QueryEncoder:
    """Encodes queries with the encoder that an index was built with.

    Args:
        record: what the index remembers of it.
        given: the encoder, or where it is now; ``None`` for where it was.
        index: the directory of the index, for messages.

    Raises:
        StoreError: a loaded encoder was given, and it is another one.
    """

    def __init__(
        self, record: EncoderRecord, given: Encoder | str | Path | None = None, *, index: Path | None = None
    ) -> None:
        self.record = record
        self._given = given
        self._index = index
        if given is not None and not isinstance(given, str | Path):
            record.check(given, index)

    def encode(self, names: Sequence[str], *, cache: EmbeddingCache | None = None) -> Vectors:
        """The vectors of names; the first call loads the encoder.

        Raises:
            StoreError: it is not to be found, or is another one than the index was built with.
            InputError: there is no encoder where it was said to be now.
        """
        return self.loaded.encode(names, cache=cache)

    @property
    def place(self) -> str | Path | None:
        """Where it is now, if that was said; ``None`` for where it was.

        Raises:
            InputError: a loaded encoder was given that was not loaded from anywhere.
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
        """The encoder itself, loaded when it is first asked for."""
        given = self._given
        if given is not None and not isinstance(given, str | Path):
            return given
        place = self.record.name if given is None else given
        if place is None:
            raise StoreError("the index does not say where its encoder is: do so with --encoder", path=self._index)
        if given is None and embedded(place) is None:
            # Before anything of it is read or fetched: an index may be from anybody.
            index = "the index" if self._index is None else f"the index {self._index}"
            warnings.warn(f"{index} asks for {_outside(place)} (--encoder names another)", stacklevel=2)
        try:
            encoder = self.record.load(place)
        except InputError as error:
            if given is not None:
                raise
            raise StoreError(
                f"the encoder it was built with cannot be loaded ({error}): say where it is now with --encoder",
                path=self._index,
            ) from error
        self.record.check(encoder, self._index)
        return encoder


def _outside(place: str | Path) -> str:
    """The encoder that an index asks for, without control characters of its own."""
    hub = "" if Path(place).is_absolute() or Path(place).is_dir() else " of the Hugging Face hub"
    return f"the encoder {str(place)!r}{hub}"
