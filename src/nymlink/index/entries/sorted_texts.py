"""Sorted texts in Arrow arrays: binary search, almost without Python objects, and files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from nymlink.core.store.arrays import Bools, map_array, save_array
from nymlink.index.hits import Rows
from nymlink.text.writing import compact, compact_all, compact_roman, has_roman

_LANDMARKS: Final = 4096
_STEP: Final = 16
"""About so many texts are kept as Python objects (landmarks), with at least ``_STEP`` texts from one to the
next.
"""


class SortedTexts:
    """Texts with binary search.

    Args:
        texts: large_string (N): distinct texts in code point order, which is also the order of their UTF-8 bytes.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        _, ends, letters = texts.buffers()
        self._rows = range(len(texts))
        self._ends = memoryview(ends or bytes(8)).cast("q")[texts.offset :]
        self._bytes = memoryview(letters or b"")
        self._step = max(_STEP, len(texts) // _LANDMARKS)

    def find(self, text: str) -> int | None:
        """Find the row of a text; ``None`` if there is none."""
        encoded = text.encode("utf-8", "surrogatepass")
        row = self._place(encoded)
        return row if row < len(self._rows) and self._encoded(row) == encoded else None

    def with_prefix(self, prefix: str, *, sizes: range) -> Iterator[str]:
        """Yield, in order, the texts that begin with a prefix and whose number of bytes is in a range."""
        for row in self.rows_with_prefix(prefix):
            if self._ends[row + 1] - self._ends[row] in sizes:
                yield self._encoded(row).decode()

    def rows_with_prefix(self, prefix: str) -> range:
        """Find the rows of the texts with a prefix."""
        encoded = prefix.encode("utf-8", "surrogatepass")
        # No byte of a text in UTF-8 is as large as 0xff.
        first, last = map(self._place, (encoded, encoded + b"\xff"))
        return range(first, last)

    def sizes(self, rows: range) -> npt.NDArray[np.int64]:
        """Return the numbers of bytes of the texts at consecutive rows: int64 (len(rows))."""
        ends = np.asarray(self._ends[rows.start : rows.stop + 1], np.int64)
        sizes: npt.NDArray[np.int64] = ends[1:] - ends[:-1]
        return sizes

    @cached_property
    def _landmarks(self) -> list[bytes]:
        """Every ``_step``-th text as a Python object. A search among these copies no text."""
        return [self._encoded(row) for row in self._rows[:: self._step]]

    def _place(self, encoded: bytes) -> int:
        """Find the row of the first text that is equal to or after a text."""
        after = bisect_left(self._landmarks, encoded) * self._step
        first, last = max(after - self._step, 0), min(after, len(self._rows))
        return bisect_left(self._rows, encoded, first, last, key=self._encoded)

    def _encoded(self, row: int) -> bytes:
        return self._bytes[self._ends[row] : self._ends[row + 1]].tobytes()


def save_texts(path: Path, texts: pa.LargeStringArray) -> None:
    """Write texts to an Arrow file."""
    table = pa.table({"text": texts})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)


def map_texts(path: Path) -> pa.LargeStringArray:
    """Map the texts of a file into memory.

    Raises:
        OSError: the file is missing.
        ValueError, pyarrow.ArrowException: it holds something else.
    """
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    if table.column_names != ["text"]:
        raise ValueError(f"{path.name} has the columns {', '.join(table.column_names)}")
    column = table["text"]
    # Validate in full, because Arrow uses the offsets of texts without a check.
    column.validate(full=True)
    return column.chunk(0) if column.num_chunks else pa.array([], pa.large_string())


@dataclass(frozen=True, slots=True)
class OtherTexts:
    """T texts, each with an entry that it belongs to.

    Attributes:
        texts: large_string (T), distinct, in code point order.
        rows: int32 (T): the entry of each text.
    """

    texts: pa.LargeStringArray
    rows: npt.NDArray[np.int32]
    _sorted: SortedTexts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.texts.type != pa.large_string():
            raise ValueError("the other texts of entries are not large strings")
        if self.rows.dtype != np.int32 or self.rows.shape != (len(self.texts),):
            raise ValueError("the rows of other texts of entries do not fit these")
        object.__setattr__(self, "_sorted", SortedTexts(self.texts))

    @classmethod
    def of(cls, row_of: Mapping[str, int]) -> OtherTexts:
        """Make the table of texts with their rows."""
        texts = sorted(row_of)
        return cls(pa.array(texts, pa.large_string()), np.array([row_of[text] for text in texts], np.int32))

    @classmethod
    def none(cls) -> OtherTexts:
        """Make the table without any text."""
        return cls.of({})

    def check_rows(self, entries: int) -> None:
        """Raise ValueError if a row belongs to no entry."""
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < entries:
            raise ValueError("there are other texts of entries that do not exist")

    def find(self, text: str) -> int | None:
        """Find the entry of a text; ``None`` if there is none."""
        place = self._sorted.find(text)
        return None if place is None else int(self.rows[place])

    @staticmethod
    def files(name: str) -> tuple[str, str]:
        """Return the names of the files that :meth:`save` writes."""
        return f"{name}.arrow", f"{name}_rows.npy"

    def save(self, directory: Path, name: str) -> None:
        """Write the table into a directory."""
        save_texts(directory / f"{name}.arrow", self.texts)
        save_array(directory, f"{name}_rows", self.rows)

    @classmethod
    def load(cls, directory: Path, name: str) -> OtherTexts:
        """Map the table of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError, pyarrow.ArrowException: the files hold something else, or do not fit each other.
        """
        return cls(map_texts(directory / f"{name}.arrow"), map_array(directory, f"{name}_rows"))


@dataclass(frozen=True, slots=True)
class CompactForms:
    """Hashes of T compact forms of texts.

    Each text has a compact form. A text with Roman numerals has a second one, in which the numerals are kept.

    Only the hashes of forms are compared. Among ten million forms, two have the same hash with a probability of
    3e-6.

    Attributes:
        hashes: uint64 (T), ascending: XXH3 of each compact form.
        rows: int32 (T): the entry of each hash. For equal hashes, the rows ascend.
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
            rows: int32 (T): the entry of each text.
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

    def only(self, allowed: Bools) -> CompactForms:
        """Keep the forms of some entries, given as bool (E)."""
        kept = allowed[self.rows]
        return CompactForms(self.hashes[kept], self.rows[kept])

    def check_rows(self, entries: int) -> None:
        """Raise ValueError if a row belongs to no entry."""
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < entries:
            raise ValueError("there are compact forms of entries that do not exist")

    def find(self, text: str) -> tuple[int, ...]:
        """Find the entries with the compact form of a text."""
        return self.find_form(compact(text))

    def find_form(self, form: str) -> tuple[int, ...]:
        """Find the entries with a compact form."""
        wanted, hashes = _hash(form), self.hashes.data
        # For a single hash, this is faster than a search by NumPy.
        end = start = bisect_left(hashes, wanted)
        while end < len(hashes) and hashes[end] == wanted:
            end += 1
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
    # A broken query may contain a lone surrogate, which is hashed like any other character.
    return xxhash.xxh3_64_intdigest(form.encode("utf-8", "surrogatepass"))
