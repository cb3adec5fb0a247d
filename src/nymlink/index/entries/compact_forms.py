"""Find entries by their compact forms: "ET 1", where the query is "ET1"."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from nymlink.core.store.arrays import map_array, save_array
from nymlink.index.hits import Rows
from nymlink.text.compact import compact, compact_all, compact_roman, has_roman


@dataclass(frozen=True, slots=True)
class CompactForms:
    """Hashes of T compact forms: one of each text and, of a text with Roman numerals, one that keeps these.

    They are not compared themselves: of ten million names two have the same hash with a probability of 3e-6.

    Attributes:
        hashes: uint64 (T), ascending: XXH3 of each compact form.
        rows: int32 (T): the entry of each, ascending where hashes are equal.
    """

    FILES: ClassVar = ("compact_hashes.npy", "compact_rows.npy")

    hashes: npt.NDArray[np.uint64]
    rows: Rows

    def __post_init__(self) -> None:
        if self.hashes.dtype != np.uint64 or self.rows.dtype != np.int32 or self.hashes.shape != self.rows.shape:
            raise ValueError("the compact forms of the entries do not fit their rows")

    @classmethod
    def of(cls, texts: pa.LargeStringArray, rows: Rows) -> CompactForms:
        """Hash the compact forms of the texts of entries.

        Args:
            texts: large_string (T).
            rows: int32 (T): the entry of each.
        """
        roman = has_roman(texts)
        forms = [*compact_all(texts).to_pylist(), *map(compact_roman, texts.filter(roman).to_pylist())]
        hashes = np.fromiter(map(_hash, forms), np.uint64, len(forms))
        rows = np.concatenate([rows, rows[roman.to_numpy(zero_copy_only=False)]])
        order = np.lexsort((rows, hashes))
        return cls(hashes[order], rows[order])

    @classmethod
    def none(cls) -> CompactForms:
        """Make the table without any form."""
        return cls(np.zeros(0, np.uint64), np.zeros(0, np.int32))

    def check_rows(self, entries: int) -> None:
        """Raise ValueError where a row is that of no entry."""
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < entries:
            raise ValueError("there are compact forms of entries that do not exist")

    def find(self, text: str) -> tuple[int, ...]:
        """Find the entries with the compact form of a text."""
        return self.find_form(compact(text))

    def find_form(self, form: str) -> tuple[int, ...]:
        """Find the entries with a compact form."""
        start, end = np.searchsorted(self.hashes, np.uint64(_hash(form)) + np.arange(2, dtype=np.uint64)).tolist()
        return tuple(dict.fromkeys(self.rows[start:end].tolist()))

    def save(self, directory: Path) -> None:
        """Write the hashes into a directory."""
        save_array(directory, "compact_hashes", self.hashes)
        save_array(directory, "compact_rows", self.rows)

    @classmethod
    def load(cls, directory: Path) -> CompactForms:
        """Map the hashes of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files hold something else, or do not fit each other.
        """
        return cls(map_array(directory, "compact_hashes"), map_array(directory, "compact_rows"))


def _hash(form: str) -> int:
    # A lone surrogate of a broken query is a character like any other.
    return xxhash.xxh3_64_intdigest(form.encode("utf-8", "surrogatepass"))
