"""nymlink: ``Linker.link`` as it comes, over an index as it comes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree

from benchmarks.peers.dictionary import CONCEPTS, Dictionary, Search


def build(dictionary: Dictionary, index: Path, *, encoder: str | None) -> None:
    """Build the index, with vectors of its own."""
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.index.index import Index
    from nymlink.vocabulary.vocabulary import Vocabulary

    # Kept for those that search the same vectors; not part of the index.
    cache = dictionary.folder / "cache"
    rmtree(cache, ignore_errors=True)
    Index.build(
        Vocabulary.load(dictionary.folder / "vocabulary"),
        directory=index / "index",
        encoder=encoder,
        cache=None if encoder is None else EmbeddingCache(cache),
    )


def load(dictionary: Dictionary, index: Path, *, encoder: str | None) -> Search:
    """Load the index."""
    from nymlink.linking.linker import Linker

    os.environ["NYMLINK_CACHE"] = str(index / "cache")
    linker = Linker.load(index / "index", top_k=CONCEPTS)
    row = linker.index.vocabulary.row

    def search(block: Sequence[str]) -> list[list[int]]:
        return [[row(one.concept_id) for one in link.candidates] for link in linker.link(list(block))]

    return search
