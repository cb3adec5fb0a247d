"""Digests of texts that do not depend on word order: "pancreatic cancer", "cancer pancreatic"."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.hashing import mix
from nymlink.index.sparse.features import TEXT_BITS, CodePoints
from nymlink.index.sparse.postings import chunks

_TEXT: Final = np.uint64((1 << TEXT_BITS) - 1)


def word_digests(texts: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """Digest E texts by their words: equal for the same words in any order, and almost surely different otherwise.

    Args:
        texts: large_string (E), words separated by single spaces.

    Returns:
        uint64 (E).
    """
    digests = np.zeros(len(texts), np.uint64)
    for start, end in chunks(pc.binary_length(texts).to_numpy()):
        words = CodePoints(texts[start:end].to_pylist()).words()
        # A sum of hashes does not depend on their order.
        np.add.at(digests[start:end], words & _TEXT, mix(words >> np.uint64(TEXT_BITS)))
    return digests
