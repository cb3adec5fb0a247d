"""Grouping rows by concept with whole arrays: codes, distinct pairs, lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.store.arrays import Array, Ints


class Numbering(dict[str, int]):
    """Numbers strings from 0 in the order in which they are first asked for."""

    def __missing__(self, value: str) -> int:
        self[value] = code = len(self)
        return code


def map_distinct(column: pa.ChunkedArray, function: Callable[[str], Any], dtype: npt.DTypeLike) -> Array:
    """``function`` of each value of a dictionary-encoded column, called once for each distinct value."""
    encoded = column.combine_chunks()
    distinct = encoded.dictionary.to_pylist()
    results: Array = np.array([function(value) for value in distinct], dtype)[encoded.indices.to_numpy()]
    return results


def distinct_pairs(owners: Array, values: Array) -> tuple[Ints, Ints]:
    """Each pair (owner, value) once, ordered by owner, then by where it first stood."""
    key = owners.astype(np.int64) << 32 | values.astype(np.int64)
    first = np.sort(np.unique(key, return_index=True)[1])
    first = first[np.argsort(owners[first], kind="stable")]
    return owners[first].astype(np.int64), values[first].astype(np.int64)


def group_lists(owners: Array, values: pa.Array, count: int) -> pa.ListArray:
    """One list for each of ``count`` owners, from values that stand in the order of their owners."""
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)
