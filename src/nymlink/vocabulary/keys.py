"""Normalise many names at once: the keys by which they are found and compared."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.normalisation.normalise import normalise
from nymlink.text.writing import normalise_signs

# ASCII punctuation, and what Python counts as ASCII white space.
_SEPARATORS: Final = r"[[:punct:]\s\x0b\x1c-\x1f]+"
_SIGNS: Final = r"[+−′’]|-[)\]}]|-$|^-|[0-9]- |(\b|[0-9])\p{L}?'"
"""What texts have that may have signs."""

_BATCH: Final = 1 << 20


def normalise_all(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Apply :func:`~nymlink.text.normalisation.normalise.normalise` to each text, fast where it is ASCII.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    batches = [_normalise(texts.slice(start, _BATCH)) for start in range(0, len(texts), _BATCH)]
    return pa.chunked_array(batches, pa.large_string())


def normalise_all_with_signs(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Normalise texts like :func:`normalise_all`, but keep their signs as words.

    "(+)-carvone" and "(-)-carvone" are then different names: see :func:`~nymlink.text.writing.normalise_signs`.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    keys = normalise_all(texts).combine_chunks()
    signed = pc.match_substring_regex(texts, _SIGNS).combine_chunks()
    others = [normalise_signs(text).casefold() for text in texts.filter(signed).to_pylist()]
    return pa.chunked_array([pc.replace_with_mask(keys, signed, pa.array(others, pa.large_string()))])


def _normalise(texts: pa.ChunkedArray) -> pa.LargeStringArray:
    texts = texts.combine_chunks()
    keys = pc.ascii_trim(pc.replace_substring_regex(pc.ascii_lower(texts), _SEPARATORS, " "), " ")
    # A name of punctuation only becomes empty here: normalise() keeps it.
    others = pc.invert(pc.and_(pc.string_is_ascii(texts), pc.not_equal(keys, "")))
    return pc.replace_with_mask(
        keys, others, pa.array(map(normalise, texts.filter(others).to_pylist()), pa.large_string())
    )
