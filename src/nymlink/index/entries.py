"""The entries of an index: the distinct prepared names of a vocabulary, each with the names it stands for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.arrays import map_array, save_array
from nymlink.index.hits import NONE, Rows
from nymlink.progress import track
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Entries:
    """E distinct prepared names, in code point order.

    Attributes:
        texts: large_string (E).
        offsets: int64 (E + 1): the names of entry i are ``names[offsets[i]:offsets[i + 1]]``.
        names: int32: name rows of the vocabulary; those of one entry from the surest kind to the loosest, then
            in the vocabulary's order.
    """

    FILES: ClassVar = ("entries.arrow", "entry_offsets.npy", "entry_names.npy")

    texts: pa.LargeStringArray
    offsets: npt.NDArray[np.int64]
    names: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.texts) + 1 or int(self.offsets[-1]) != len(self.names):
            raise ValueError("the offsets of the entries do not fit their texts and names")
        if self.offsets[0] != 0 or np.any(self.offsets[1:] < self.offsets[:-1]):
            raise ValueError("the offsets of the entries do not ascend from 0")

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, *, languages: Collection[str] | None = None, progress: bool = False
    ) -> Entries:
        """The entries of all names of live concepts; names that are blank when prepared are left out.

        Args:
            vocabulary: whose names.
            languages: names in these languages only.
            progress: whether to show progress when standard error is a terminal.
        """
        rows, texts, ranks = [], [], []
        for batch in track(vocabulary.name_batches(languages=languages), "preparing", shown=progress):
            rows.append(batch["row"].to_numpy())
            texts.extend(normalise_all(pa.chunked_array([batch["text"]])).chunks)
            kinds = batch["kind"]
            rank = np.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], np.int8)
            ranks.append(rank[kinds.indices.to_numpy()])
        table = pa.table(
            {
                "text": pa.chunked_array(texts, pa.large_string()),
                "rank": np.concatenate([np.zeros(0, np.int8), *ranks]),
                "row": np.concatenate([np.zeros(0, np.int64), *rows]),
            }
        )
        table = table.filter(pa.compute.not_equal(table["text"], ""))
        table = table.sort_by([("text", "ascending"), ("rank", "ascending"), ("row", "ascending")])
        runs = pa.compute.run_end_encode(table["text"].combine_chunks())
        ends = runs.run_ends.to_numpy().astype(np.int64)
        return cls(runs.values, np.concatenate([[0], ends]), table["row"].to_numpy().astype(np.int32))

    def __len__(self) -> int:
        return len(self.texts)

    def text(self, row: int) -> str:
        """The prepared name of an entry."""
        return str(self.texts[row].as_py())

    def concepts(self, row: int, owners: npt.NDArray[np.int32]) -> frozenset[int]:
        """The concepts that have the name of an entry.

        Args:
            row: the entry.
            owners: the concept of each name of the vocabulary.
        """
        return frozenset(owners[self.names[self.offsets[row] : self.offsets[row + 1]]].tolist())

    def find(self, text: str) -> int | None:
        """The row of an entry, or ``None``."""
        row = int(self.find_all([text])[0])
        return None if row == NONE else row

    def find_all(self, texts: Sequence[str]) -> Rows:
        """The rows of Q texts: int32 (Q), :data:`~nymlink.index.hits.NONE` for what is no entry."""
        if not len(self):
            return np.full(len(texts), NONE, np.int32)
        _, ends, data = self.texts.buffers()
        bounds, known = memoryview(ends).cast("q")[self.texts.offset :], memoryview(data)

        def encoded(row: int) -> bytes:
            return known[bounds[row] : bounds[row + 1]].tobytes()

        def find(text: bytes) -> int:
            row = bisect_left(range(len(self)), text, key=encoded)
            return row if row < len(self) and encoded(row) == text else NONE

        # UTF-8 sorts as code points do, and as it lies in memory no string is made of an entry to look at it.
        return np.array([find(text.encode("utf-8", "surrogatepass")) for text in texts], np.int32)

    def save(self, directory: Path) -> None:
        """Write the entries into a directory."""
        table = pa.table({"text": self.texts})
        with (
            pa.OSFile(str(directory / "entries.arrow"), "wb") as sink,
            pa.ipc.new_file(sink, table.schema) as file,
        ):
            file.write_table(table)
        save_array(directory, "entry_offsets", self.offsets)
        save_array(directory, "entry_names", self.names)

    @classmethod
    def load(cls, directory: Path) -> Entries:
        """Map the entries of a directory into memory."""
        with pa.memory_map(str(directory / "entries.arrow")) as source:
            column = pa.ipc.open_file(source).read_all()["text"]
        # In full: Arrow follows the offsets of texts without looking.
        column.validate(full=True)
        return cls(
            column.chunk(0) if column.num_chunks else pa.array([], pa.large_string()),
            map_array(directory, "entry_offsets"),
            map_array(directory, "entry_names"),
        )
