"""Texts of the same words in whatever order: "pancreatic cancer", "cancer pancreatic"."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.hashing import mix
from nymlink.index.sparse.features import TEXT_BITS, Points
from nymlink.index.sparse.postings import chunks

_TEXT: Final = np.uint64((1 << TEXT_BITS) - 1)


def word_digests(texts: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """A number for each of E texts, equal where they have the same words, each as often, and all but surely else.

    The texts' words are separated by single spaces.
    """
    found = np.zeros(len(texts), np.uint64)
    for start, end in chunks(pc.binary_length(texts).to_numpy()):
        words = Points(texts[start:end].to_pylist()).words()
        # A sum does not know in which order it was added up.
        np.add.at(found[start:end], words & _TEXT, mix(words >> np.uint64(TEXT_BITS)))
    return found
