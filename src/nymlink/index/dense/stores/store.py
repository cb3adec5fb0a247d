"""Stores: where the vectors of an index are searched, other than by our own exact search of the mapped file."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Protocol

from nymlink.core.store.arrays import Vectors
from nymlink.index.fusion.hits import Rows


class Store(Protocol):
    """A search for the nearest vectors of an index, which have copies there.

    A store finds candidates only. Their scores are the cosines of the vectors in the mapped file of the index, so
    that they are the same whichever store found them. Several threads may search at the same time.

    Attributes:
        FILES: names of the files that :meth:`save` writes.
        is_exact: whether it finds all of the nearest vectors.
        most: largest k; for a larger one, the mapped file is searched.
    """

    FILES: ClassVar[tuple[str, ...]]

    @property
    def is_exact(self) -> bool: ...

    @property
    def most(self) -> int: ...

    def search(self, queries: Vectors, k: int) -> Rows:
        """Find the entries of largest inner product with each query, in no defined order.

        Args:
            queries: float32 (Q, D).
            k: number of entries of a query, from 1 to :attr:`most`.

        Returns:
            int32 (Q, at least k): rows; :data:`~nymlink.index.fusion.hits.NONE` where there are fewer.

        Raises:
            StoreError: it cannot be searched.
        """
        ...

    def save(self, directory: Path) -> None:
        """Write what belongs into the directory of the search.

        Raises:
            OSError: it cannot be written.
        """
        ...
