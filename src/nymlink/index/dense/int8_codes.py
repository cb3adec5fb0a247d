"""Vectors in 8 bits a coordinate, which rule out most entries before an exact search looks at any.

A vector v is about v' = s c, whole numbers c times one step s, and a query q about q'. The product of the two,
which is one of whole numbers, is off by no more than

    |q · v - q' · v'| = |(q - q') · v' + q · (v - v')| ≤ |q - q'| |v'| + |q| |v - v'|

(Cauchy and Schwarz), about 0.03 for unit vectors of width 384. So of many entries some hundred can be among the
best, and only they are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Kept, Vectors, as_float32, map_array, save_array, save_blocks
from nymlink.index.dense.integer_product import LARGEST_LEFT, is_exact, product
from nymlink.index.fusion.hits import Rows

_ENTRIES: Final = 1 << 16
QUERIES: Final = 1 << 7
"""A block of products is at most 128 × 65,536 int32, 32 MB. For few queries fewer, larger blocks are faster."""

_AT_ONCE: Final = 1 << 13
"""Vectors whose codes are made at a time."""

_GROUP: Final = 16
"""Entries whose best product is looked at first: most groups have none that is good enough."""

_SHARE: Final = 64
"""Where more than one entry in so many can be among the best, the codes say too little to be worth their while."""

_LARGEST: Final = 127

_ROUNDING: Final = 3e-4
"""More than the rounding of products of unit vectors, and than half of what counts as equal among them: all from 1
up count as 1, and a unit vector kept as float16 is longer by a 2,048th at most."""

_NEVER: Final = np.iinfo(np.int32).min

Owners = npt.NDArray[np.int64]


class Codes:
    """The codes of the vectors of entries.

    Args:
        codes: int8 (E · D): blocks of 65,536 entries, one after the other, in each of which all first coordinates
            stand together, then all second ones, and so on.
        bounds: float32 (3): the step, the length of the longest v', and that of the longest v - v'.
        width: D.

    Raises:
        ValueError: these do not fit each other.
    """

    FILES: ClassVar = ("codes.npy", "code_bounds.npy")

    def __init__(self, codes: npt.NDArray[np.int8], bounds: Vectors, *, width: int) -> None:
        if codes.dtype != np.int8 or codes.ndim != 1 or codes.size % max(width, 1):
            raise ValueError(f"its codes are {codes.dtype} {codes.shape}, not of width {width}")
        if bounds.dtype != np.float32 or bounds.shape != (3,):
            raise ValueError(f"the bounds of its codes are {bounds.dtype} {bounds.shape}")
        self._codes = codes
        self._bounds = bounds
        self._width = width

    @classmethod
    def of(cls, vectors: Kept) -> Self:
        """The codes of unit vectors, float16 (E, D), in memory."""
        made = _Maker(vectors)
        codes = np.empty(vectors.size, np.int8)
        done = 0
        for block in made.blocks():
            codes[done : done + block.size] = block.ravel()
            done += block.size
        return cls(codes, made.bounds, width=vectors.shape[1])

    @classmethod
    def write(cls, directory: Path, vectors: Kept) -> Self:
        """What :meth:`of` and :meth:`save` do, but memory holds a block at a time."""
        made = _Maker(vectors)
        save_blocks(directory, "codes", made.blocks(), dtype=np.int8, shape=(vectors.size,))
        save_array(directory, "code_bounds", made.bounds)
        return cls.load(directory, vectors)

    def candidates(self, queries: Vectors, k: int) -> tuple[Owners, Rows] | None:
        """All entries that may be among the k with the largest product with a query, or among those equal to them.

        Args:
            queries: float32 (Q, D), of unit length: :data:`QUERIES` at a time, or less, for the memory this takes.
            k: how many, at least 1.

        Returns:
            Which query, int64 (n), ascending, and which entry, int32 (n); ``None`` where it is quicker to look at
            every entry.
        """
        entries = self._codes.size // max(self._width, 1)
        if k > entries // _GROUP or not is_exact():
            return None
        asked, slack = self._asked(queries)
        # Of each query the largest products of k groups, so that as many entries reach the least of them.
        reached = np.full((len(queries), k), _NEVER, np.int32)
        found: list[tuple[Owners, Rows, npt.NDArray[np.int32]]] = []
        count = 0
        for first in range(0, entries, _ENTRIES):
            groups = self._products(asked, first, min(first + _ENTRIES, entries))
            highest = groups.max(axis=1)
            reached = np.partition(np.concatenate([reached, highest], axis=1), -k, axis=1)[:, -k:]
            lowest = reached.min(axis=1) - slack
            owner, group = np.nonzero(highest >= lowest[:, None])
            picked = groups[owner, :, group]
            close = picked >= lowest[owner, None]
            count += int(np.count_nonzero(close))
            if count > len(queries) * entries // _SHARE:
                return None
            pair, place = np.nonzero(close)
            rows = (first + place * groups.shape[2] + group[pair]).astype(np.int32)
            found.append((owner[pair], rows, picked[pair, place]))
        owners, rows, products = (np.concatenate(column) for column in zip(*found, strict=True))
        enough = np.flatnonzero(products >= lowest[owners])
        order = enough[np.argsort(owners[enough], kind="stable")]
        return owners[order], rows[order]

    def _asked(self, queries: Vectors) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
        """The codes of queries, and how far below another a product may be and its entry still be the better."""
        step, longest, off = self._bounds.astype(np.float64)
        steps = np.abs(queries).max(axis=1, keepdims=True).astype(np.float64) / LARGEST_LEFT
        steps[steps == 0] = 1
        codes = np.rint(queries / steps)
        error = np.linalg.norm(queries - codes * steps, axis=1) * longest
        length = np.linalg.norm(queries.astype(np.float64), axis=1)
        error += length * (off + _ROUNDING)
        # Either of two products may be off.
        return codes.astype(np.int8), np.ceil(2 * error / (steps[:, 0] * step)).astype(np.int64)

    def _products(self, asked: npt.NDArray[np.int8], first: int, last: int) -> npt.NDArray[np.int32]:
        """The products of queries with entries: int32 (Q, 16, G), a group a column; the last are filled up."""
        codes = self._codes[first * self._width : last * self._width].reshape(self._width, -1)
        products = product(asked, codes)
        missing = -(last - first) % _GROUP
        if missing:
            products = np.pad(products, ((0, 0), (0, missing)), constant_values=_NEVER)
        return products.reshape(len(asked), _GROUP, products.shape[1] // _GROUP)

    def save(self, directory: Path) -> None:
        """Write them into a directory."""
        save_array(directory, "codes", self._codes)
        save_array(directory, "code_bounds", self._bounds)

    @classmethod
    def load(cls, directory: Path, vectors: Kept) -> Self:
        """Map those of a directory into memory.

        Raises:
            OSError: a file of them is missing.
            ValueError: they do not fit the vectors.
        """
        codes = map_array(directory, "codes")
        if codes.size != vectors.size:
            raise ValueError(f"its codes are of {codes.size:,} coordinates, its vectors have {vectors.size:,}")
        return cls(codes, map_array(directory, "code_bounds"), width=vectors.shape[1])


class _Maker:
    """Makes codes block by block, and their bounds, which are known after the last."""

    def __init__(self, vectors: Kept) -> None:
        self._vectors = vectors
        self.bounds = np.array([self._largest() / _LARGEST, 0, 0], np.float32)

    def blocks(self) -> Iterator[npt.NDArray[np.int8]]:
        """int8 (D, n): the codes of up to 65,536 entries each."""
        for start in range(0, len(self._vectors), _ENTRIES):
            block = self._vectors[start : start + _ENTRIES]
            codes = np.empty(block.shape[::-1], np.int8)
            for first in range(0, len(block), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                codes[:, some] = self._codes(as_float32(block[some])).T
            yield codes

    def _codes(self, vectors: Vectors) -> Vectors:
        """Whole numbers (n, D); the bounds take note of them."""
        codes: Vectors = np.rint(vectors / self.bounds[0])
        about = codes * self.bounds[0]
        lengths = [np.linalg.norm(one, axis=1).max() for one in (about, vectors - about)]
        self.bounds[1:] = np.maximum(self.bounds[1:], lengths)
        return codes

    def _largest(self) -> float:
        """The largest coordinate, either way; 1 where all are 0."""
        parts = (self._vectors[start : start + _AT_ONCE] for start in range(0, len(self._vectors), _AT_ONCE))
        return max((float(np.abs(as_float32(part)).max()) for part in parts), default=0.0) or 1.0
