"""Remember which index a project is linked to, and check whether its vocabulary is still the same."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
from xxhash import xxh3_128

from nymlink.index.index import Index
from nymlink.vocabulary.vocabulary import Vocabulary

IndexState = Literal["same", "changed", "gone"]

DEFAULT: Final = "hpo"
"""The name of the embedded default."""

ADVICE: Final = {
    "changed": "the vocabulary of the index differs from that of the project: apply the decisions to it with "
    "`nymlink project rebase`, or give the earlier index",
    "gone": "the index that the project was linked to is not here: give it, or apply the decisions to another "
    "index with `nymlink project rebase`",
}
"""Advice if the index is not the same."""


@dataclass(frozen=True, slots=True)
class IndexReference:
    """The index that a project is linked to.

    Attributes:
        name: its name on a server, or the name of its folder.
        path: its folder; empty for an index in memory.
        digest: digest of the concepts and names of its vocabulary.
        sources: names and versions of the sources of its vocabulary, for people.
    """

    name: str
    path: str
    digest: str
    sources: str

    @classmethod
    def of(cls, name: str, index: Index) -> IndexReference:
        """Describe an index."""
        sources = (f"{source.name} {source.version or ''}".strip() for source in index.vocabulary.sources)
        path = "" if index.directory is None else str(index.directory)
        return cls(name, path, vocabulary_digest(index.vocabulary), ", ".join(sources))

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> IndexReference:
        """Rebuild a reference from :meth:`to_dict`; missing values become empty, and match no index."""
        return cls(**{each.name: str(value.get(each.name, "")) for each in fields(cls)})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def state(self, digest: str | None) -> IndexState:
        """Compare a vocabulary's digest with that of the linked one; ``None`` means that the index is gone."""
        if digest is None:
            return "gone"
        return "same" if digest == self.digest else "changed"


def vocabulary_digest(vocabulary: Vocabulary) -> str:
    """Compute a digest of ids, names and obsolete marks; it is the same in memory and in a folder."""
    concepts, names = vocabulary.columns.concepts, vocabulary.columns.names
    digest = xxh3_128(json.dumps([source.version for source in vocabulary.sources]).encode())
    for column in (concepts["id"], names["text"]):
        for lengths, text in map(_text, column.chunks):
            digest.update(lengths.tobytes())
            digest.update(text)
    digest.update(np.packbits(concepts["obsolete"].to_numpy()).tobytes())
    return digest.hexdigest()


def _text(chunk: pa.Array) -> tuple[np.ndarray[Any, Any], memoryview]:
    """Return the lengths of the texts of an array in bytes, and their bytes."""
    wide = pa.types.is_large_string(chunk.type)
    offsets = np.frombuffer(chunk.buffers()[1], np.int64 if wide else np.int32)
    offsets = offsets[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
    return np.diff(offsets), memoryview(chunk.buffers()[2] or b"")[offsets[0] : offsets[-1]]
