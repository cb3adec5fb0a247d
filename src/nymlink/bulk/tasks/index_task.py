"""What tasks that ask an index have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nymlink.core.files import sha256
from nymlink.core.store.ownership import MANIFEST


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTask:
    """A task whose unit of work is a mention, linked by an index.

    Attributes:
        index: the folder of the index.
        encoder: where the encoder of the index is, if it was moved.
    """

    index: str
    encoder: str | None = None

    unit = "mentions"

    @property
    def folders(self) -> tuple[str, ...]:
        """The index."""
        return (self.index,)

    @property
    def index_digest(self) -> str:
        """Digest of the manifest of the index, which has the digests of all its files."""
        return sha256(Path(self.index) / MANIFEST)
