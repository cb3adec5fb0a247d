"""The vectors that a store holds for an index: their fingerprint, and their name there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import xxhash

from nymlink.core.json_objects import member
from nymlink.core.store.arrays import HalfVectors

_NAME: Final = re.compile(r"nymlink_[0-9a-z_]{1,48}")
"""PostgreSQL allows 63 characters, with those added while vectors are uploaded."""

_HASHED: Final = 1 << 14
"""Vectors whose bytes are hashed at a time."""


def _name(fingerprint: str, kind: str) -> str:
    return f"nymlink_{fingerprint[:16]}_{kind}"


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Vectors of an index, as a store holds them.

    Attributes:
        name: of the table or collection.
        fingerprint: of the vectors and their order, kept with them.
        kind: ``"exact"`` or ``"hnsw"``.
        count: how many.
        width: of a vector.
    """

    name: str
    fingerprint: str
    kind: str
    count: int
    width: int

    @classmethod
    def of(cls, vectors: HalfVectors, kind: str) -> StoredContent:
        """Describe vectors, float16 (E, D).

        The name is made from the fingerprint: a new release of a vocabulary does not disturb who still searches
        the old one, and equal vectors are uploaded once.
        """
        count, width = vectors.shape
        digest = xxhash.xxh3_128(f"{count} {width} ".encode())
        for start in range(0, count, _HASHED):
            digest.update(vectors[start : start + _HASHED].astype("<f2").tobytes())
        fingerprint = digest.hexdigest()
        return cls(_name(fingerprint, kind), fingerprint, kind, count, width)

    @property
    def is_named_as_built(self) -> bool:
        """Whether building the index again would look for the vectors under the same name."""
        return self.name == _name(self.fingerprint, self.kind)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], *, kind: str, count: int, width: int) -> StoredContent:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        name, fingerprint = member(value, "name", str), member(value, "fingerprint", str)
        if not _NAME.fullmatch(name) or not re.fullmatch("[0-9a-f]{32}", fingerprint):
            raise ValueError("the name or fingerprint of its vectors in the store is none")
        return cls(name, fingerprint, kind, count, width)
