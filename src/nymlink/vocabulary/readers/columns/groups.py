"""Group rows by concept with whole arrays: codes, distinct pairs, lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.store.arrays import Array, Ints


class Numbering(dict[str, int]):
    """Numbers of strings, from 0 in the order in which they are first looked up."""

    def __missing__(self, value: str) -> int:
        self[value] = code = len(self)
        return code


def map_distinct(column: pa.ChunkedArray, function: Callable[[str], Any], dtype: npt.DTypeLike) -> Array:
    """Apply a function to a dictionary-encoded column, calling it once for each distinct value."""
    encoded = column.combine_chunks()
    distinct = encoded.dictionary.to_pylist()
    results: Array = np.array([function(value) for value in distinct], dtype)[encoded.indices.to_numpy()]
    return results


def distinct_pairs(owners: Array, values: Array) -> tuple[Ints, Ints]:
    """Deduplicate (owner, value) pairs, ordered by owner, then by first occurrence."""
    key = owners.astype(np.int64) << 32 | values.astype(np.int64)
    first = np.sort(np.unique(key, return_index=True)[1])
    first = first[np.argsort(owners[first], kind="stable")]
    return owners[first].astype(np.int64), values[first].astype(np.int64)


def group_lists(owners: Array, values: pa.Array, count: int) -> pa.ListArray:
    """Group values, ordered by owner, into one list for each of ``count`` owners."""
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
