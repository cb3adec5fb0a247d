"""The entries of an index: prepared names of a vocabulary, each with the names it stands for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.hashing import mix
from nymlink.core.progress import track
from nymlink.core.store.arrays import map_array, save_array
from nymlink.index.entries.initials import Initials
from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.index.entries.word_order import word_digests
from nymlink.index.entries.words import Words
from nymlink.index.fusion.hits import NONE, Rows
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

_CONCEPT: Final = np.uint64(0xBF2E6A3D1C9B5C47)
"""Added to a concept before it is mixed, this tells it from a word."""


@dataclass(frozen=True, slots=True)
class Entries:
    """E distinct prepared names, in code point order.

    Attributes:
        texts: large_string (E).
        offsets: int64 (E + 1): the names of entry i are ``names[offsets[i]:offsets[i + 1]]``.
        names: int32: name rows of the vocabulary; those of one entry from the surest kind to the loosest, then
            in the vocabulary's order.
        others: large_string (V): prepared names that are not searched, in code point order: each has the words of
            its entry's text, in another order.
        other_rows: int32 (V): the entry of each of them.
        words: of the texts; the others have no more.
        initials: of the texts.
    """

    FILES: ClassVar = (
        "entries.arrow",
        "entry_offsets.npy",
        "entry_names.npy",
        "other_orders.arrow",
        "other_order_rows.npy",
    )

    texts: pa.LargeStringArray
    offsets: npt.NDArray[np.int64]
    names: npt.NDArray[np.int32]
    others: pa.LargeStringArray = field(default_factory=lambda: pa.array([], pa.large_string()))
    other_rows: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    words: Words = field(init=False, repr=False)
    initials: Initials = field(init=False, repr=False)
    _searched: SortedTexts = field(init=False, repr=False)
    _not_searched: SortedTexts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.texts) + 1 or int(self.offsets[-1]) != len(self.names):
            raise ValueError("the offsets of the entries do not fit their texts and names")
        if self.offsets[0] != 0 or np.any(self.offsets[1:] < self.offsets[:-1]):
            raise ValueError("the offsets of the entries do not ascend from 0")
        if self.texts.type != pa.large_string() or self.others.type != pa.large_string():
            raise ValueError("the texts of the entries are no large strings")
        if self.offsets.dtype != np.int64 or self.names.dtype != np.int32:
            raise ValueError("the offsets of the entries or their names are of another type")
        if self.other_rows.dtype != np.int32 or self.other_rows.shape != (len(self.others),):
            raise ValueError("the entries of names in other orders do not fit these")
        if len(self.others) and not 0 <= self.other_rows.min() <= self.other_rows.max() < len(self.texts):
            raise ValueError("there are names in other orders of entries that there are not")
        object.__setattr__(self, "words", Words(self.texts))
        object.__setattr__(self, "initials", Initials(self.texts))
        object.__setattr__(self, "_searched", SortedTexts(self.texts))
        object.__setattr__(self, "_not_searched", SortedTexts(self.others))

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        *,
        languages: Collection[str] | None = None,
        any_order: bool = False,
        progress: bool = False,
    ) -> Entries:
        """The entries of all names of live concepts; names that are blank when prepared are left out.

        Args:
            vocabulary: whose names.
            languages: names in these languages only.
            any_order: whether names of the same concepts that differ in nothing but the order of their words are
                one entry, as one string of NLM's *norm* (McCray et al., "Lexical methods for managing variation in
                biomedical terminologies", 1994). The first of them in the order of ``names`` is searched.
            progress: whether to show progress when standard error is a terminal.
        """
        rows, texts, ranks, owners = [], [], [], []
        for batch in track(vocabulary.name_batches(languages=languages), "preparing", shown=progress):
            rows.append(batch["row"].to_numpy())
            texts.extend(normalise_all(pa.chunked_array([batch["text"]])).chunks)
            kinds = batch["kind"]
            rank = np.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], np.int8)
            ranks.append(rank[kinds.indices.to_numpy()])
            owners.append(batch["concept"].to_numpy())
        table = pa.table(
            {
                "text": pa.chunked_array(texts, pa.large_string()),
                "rank": np.concatenate([np.zeros(0, np.int8), *ranks]),
                "row": np.concatenate([np.zeros(0, np.int64), *rows]),
                "concept": np.concatenate([np.zeros(0, np.int32), *owners]),
            }
        )
        table = table.filter(pa.compute.not_equal(table["text"], ""))
        table = table.sort_by([("text", "ascending"), ("rank", "ascending"), ("row", "ascending")])
        runs = pa.compute.run_end_encode(table["text"].combine_chunks())
        ends = runs.run_ends.to_numpy().astype(np.int64)
        names = table["row"].to_numpy().astype(np.int32)
        found = cls(runs.values, np.concatenate([[0], ends]), names)
        if not any_order:
            return found
        return found._in_any_order(table["rank"].to_numpy(), table["concept"].to_numpy())

    def _in_any_order(self, ranks: npt.NDArray[np.int8], concepts: npt.NDArray[np.int32]) -> Entries:
        """The same, names of the same concepts being one entry in whatever order their words are.

        Args:
            ranks: how sure each name is.
            concepts: whose each name is.
        """
        text = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        digests = word_digests(self.texts)
        # Each concept counts once, however many of its names are written so.
        order = np.lexsort((concepts, text))
        text_of, concept_of = text[order], concepts[order]
        new = np.append(True, (text_of[1:] != text_of[:-1]) | (concept_of[1:] != concept_of[:-1]))[: len(order)]
        np.add.at(digests, text_of[new], mix(concept_of[new].astype(np.uint64) + _CONCEPT))
        _, alike = np.unique(digests, return_inverse=True)
        order = np.lexsort((self.names, ranks, alike[text]))
        _, firsts = np.unique(alike[text[order]], return_index=True)
        searched = text[order[firsts]]
        # Entries are in the order of their texts.
        place = np.empty(len(searched), np.int32)
        place[np.argsort(searched)] = np.arange(len(searched))
        row = place[alike]
        names = self.names[order[np.argsort(row[text[order]], kind="stable")]]
        ends = np.cumsum(np.bincount(row[text], minlength=len(searched)))
        rest = np.ones(len(self), bool)
        rest[searched] = False
        return Entries(
            self.texts.take(pa.array(np.sort(searched))),
            np.concatenate([[0], ends]),
            names,
            self.texts.filter(pa.array(rest)),
            row[rest],
        )

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def distinct_names(self) -> int:
        """How many distinct prepared names the entries have, those in other orders among them."""
        return len(self.texts) + len(self.others)

    def text(self, row: int) -> str:
        """The prepared name of an entry."""
        return str(self.texts[row].as_py())

    def concepts(self, row: int, owners: npt.NDArray[np.int32]) -> frozenset[int]:
        """The concepts that have the name of an entry.

        Args:
            row: the entry.
            owners: the concept of each name of the vocabulary.
        """
        return frozenset(owners[self.names_of(row)].tolist())

    def names_of(self, row: int) -> npt.NDArray[np.int32]:
        """The name rows of an entry."""
        return self.names[self.offsets[row] : self.offsets[row + 1]]

    def find(self, text: str) -> int | None:
        """The row of the entry of a prepared name, searched or not; ``None`` for what is no name."""
        row = self._searched.find(text)
        return self.find_other(text) if row is None else row

    def find_other(self, text: str) -> int | None:
        """The row of the entry of a prepared name that is not searched; ``None`` for any other text."""
        other = self._not_searched.find(text)
        return None if other is None else int(self.other_rows[other])

    def searched(self, text: str) -> str:
        """The order of words that is searched for what is a name in another; any other text as it is."""
        row = self.find_other(text)
        return text if row is None else self.text(row)

    def find_all(self, texts: Sequence[str]) -> Rows:
        """The rows of Q texts: int32 (Q), :data:`~nymlink.index.fusion.hits.NONE` for what is no name."""
        rows = map(self.find, texts)
        return np.array([NONE if row is None else row for row in rows], np.int32)

    def save(self, directory: Path) -> None:
        """Write the entries into a directory."""
        _save_texts(directory / "entries.arrow", self.texts)
        _save_texts(directory / "other_orders.arrow", self.others)
        save_array(directory, "entry_offsets", self.offsets)
        save_array(directory, "entry_names", self.names)
        save_array(directory, "other_order_rows", self.other_rows)

    @classmethod
    def load(cls, directory: Path) -> Entries:
        """Map the entries of a directory into memory.

        Raises:
            OSError: a file of them is missing.
            ValueError, pyarrow.ArrowException: the files hold something else, or do not fit each other.
        """
        return cls(
            _map_texts(directory / "entries.arrow"),
            map_array(directory, "entry_offsets"),
            map_array(directory, "entry_names"),
            _map_texts(directory / "other_orders.arrow"),
            map_array(directory, "other_order_rows"),
        )


def _save_texts(path: Path, texts: pa.LargeStringArray) -> None:
    table = pa.table({"text": texts})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)


def _map_texts(path: Path) -> pa.LargeStringArray:
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    if table.column_names != ["text"]:
        raise ValueError(f"{path.name} has the columns {', '.join(table.column_names)}")
    column = table["text"]
    # In full: Arrow follows the offsets of texts without looking.
    column.validate(full=True)
    return column.chunk(0) if column.num_chunks else pa.array([], pa.large_string())
