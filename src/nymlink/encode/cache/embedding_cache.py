"""A folder of vectors kept by content: encoder and name."""

from __future__ import annotations

from pathlib import Path

from nymlink.core.user_cache import vector_cache
from nymlink.encode.cache.encoder_cache import EncoderCache


class EmbeddingCache:
    """A folder of vectors that were encoded before, of any number of encoders.

    Vectors are kept as float16 in blocks that are written once, each in one step: a killed process loses only what
    came after its last block, and several processes may read and write at once.

    Args:
        folder: made when the first block is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._encoder_caches: dict[tuple[str, int], EncoderCache] = {}

    @classmethod
    def of_user(cls) -> EmbeddingCache:
        """Open the user's cache, which all indexes share."""
        return cls(vector_cache())

    def for_encoder(self, fingerprint: str, *, width: int) -> EncoderCache:
        """Open the part of one encoder, as it is on disk now.

        Args:
            fingerprint: of the encoder, 64 hex digits.
            width: length of a vector.
        """
        new = EncoderCache(self.folder / fingerprint, width=width)
        encoder_cache = self._encoder_caches.setdefault((fingerprint, width), new)
        encoder_cache.refresh()
        return encoder_cache
