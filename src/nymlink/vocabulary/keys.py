"""The normal forms of many names at once, by which they are found and compared."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.normalise import normalise

# ASCII's punctuation and what Python calls white space in it.
_SEPARATORS: Final = r"[[:punct:]\s\x0b\x1c-\x1f]+"
_STRETCH: Final = 1 << 20


def normalise_all(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """What :func:`~nymlink.text.normalise.normalise` makes of each text, a million at a time.

    Most names are ASCII, and those never become Python objects.

    Args:
        texts: large_string (N).

    Returns:
        large_string (N).
    """
    stretches = [_normalise(texts.slice(start, _STRETCH)) for start in range(0, len(texts), _STRETCH)]
    return pa.chunked_array(stretches, pa.large_string())


def _normalise(texts: pa.ChunkedArray) -> pa.LargeStringArray:
    texts = texts.combine_chunks()
    keys = pc.ascii_trim(pc.replace_substring_regex(pc.ascii_lower(texts), _SEPARATORS, " "), " ")
    # Nothing is left of a name that is all punctuation: it stays as it is.
    rest = pc.invert(pc.and_(pc.string_is_ascii(texts), pc.not_equal(keys, "")))
    return pc.replace_with_mask(
        keys, rest, pa.array(map(normalise, texts.filter(rest).to_pylist()), pa.large_string())
    )
