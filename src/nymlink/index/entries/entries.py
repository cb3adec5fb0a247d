"""The entries of an index: prepared names of a vocabulary, each with its original names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.computing import remember
from nymlink.core.store.arrays import Bools, map_array, mix, save_array
from nymlink.core.terminal import track
from nymlink.index.entries.sorted_texts import CompactForms, OtherTexts, SortedTexts, map_texts, save_texts
from nymlink.index.entries.words import Initials, WordNumbers, Words, word_digests
from nymlink.index.hits import NONE, Rows
from nymlink.text.normalise import fold
from nymlink.vocabulary.columns import normalise_all
from nymlink.vocabulary.concepts import KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

_CONCEPT: Final = np.uint64(0xBF2E6A3D1C9B5C47)
"""Number added to the number of a concept before hashing, so that its hash differs from hashes of words."""

_REMEMBERED: Final = 1 << 14
"""Number of texts whose rows are remembered, because a query is looked up several times."""


@dataclass(frozen=True, slots=True)
class Entries:
    """E distinct prepared names, in code point order.

    Attributes:
        texts: large_string (E).
        offsets: int64 (E + 1): the names of entry i are ``names[offsets[i]:offsets[i + 1]]``.
        names: int32: name rows of the vocabulary. The names of one entry are ordered by kind, the most exact kind
            first, then as in the vocabulary.
        reordered: prepared names that have the words of an entry in another order. They are not searched.
        folded: folded forms of texts. A folded form is left out if it equals a text, or if several texts share it.
        compact: compact forms of the texts and of the reordered names.
        word_numbers: the words of the texts, as numbers.
        words: the distinct words of the texts.
        initials: the initials of the texts.
    """

    FILES: ClassVar = (
        "entries.arrow",
        "entry_offsets.npy",
        "entry_names.npy",
        *OtherTexts.files("other_orders"),
        *OtherTexts.files("folded"),
        *CompactForms.FILES,
        *WordNumbers.FILES,
    )

    texts: pa.LargeStringArray
    offsets: npt.NDArray[np.int64]
    names: npt.NDArray[np.int32]
    reordered: OtherTexts = field(default_factory=OtherTexts.none)
    folded: OtherTexts = field(default_factory=OtherTexts.none)
    compact: CompactForms = field(default_factory=CompactForms.none)
    word_numbers: WordNumbers = field(default_factory=WordNumbers.none)
    words: Words = field(init=False, repr=False)
    initials: Initials = field(init=False, repr=False)
    _sorted_texts: SortedTexts = field(init=False, repr=False)
    _find: Callable[[str], int | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.texts) + 1 or int(self.offsets[-1]) != len(self.names):
            raise ValueError("the offsets of the entries do not fit their texts and names")
        if self.offsets[0] != 0 or np.any(self.offsets[1:] < self.offsets[:-1]):
            raise ValueError("the offsets of the entries do not ascend from 0")
        if self.texts.type != pa.large_string():
            raise ValueError("the texts of the entries are not large strings")
        if self.offsets.dtype != np.int64 or self.names.dtype != np.int32:
            raise ValueError("the offsets of the entries or their names are of another type")
        for others in (self.reordered, self.folded, self.compact):
            others.check_rows(len(self.texts))
        object.__setattr__(self, "words", Words(self.texts))
        object.__setattr__(self, "initials", Initials(self.texts))
        object.__setattr__(self, "_sorted_texts", SortedTexts(self.texts))
        object.__setattr__(self, "_find", remember(_REMEMBERED)(self._search))

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        *,
        languages: Collection[str] | None = None,
        any_order: bool = False,
        progress: bool = False,
    ) -> Entries:
        """Prepare all names of concepts that are not obsolete. Names whose prepared form is empty are left out.

        Args:
            vocabulary: the vocabulary of the names.
            languages: prepare names in these languages only; ``None`` for all.
            any_order: merge names of the same concepts that differ only in the order of their words, as NLM's
                *norm* does (McCray et al., "Lexical methods for managing variation in biomedical terminologies",
                1994). Of the merged names, the first in the order of ``names`` is searched.
            progress: show progress when standard error is a terminal.
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
        entries = cls(runs.values, np.concatenate([[0], ends]), names)
        if any_order:
            entries = entries._merge_word_orders(table["rank"].to_numpy(), table["concept"].to_numpy())
        return replace(
            entries,
            folded=entries._fold_texts(),
            compact=entries._compact_texts(),
            word_numbers=WordNumbers.of(entries.texts),
        )

    def _fold_texts(self) -> OtherTexts:
        rows = np.flatnonzero(pa.compute.invert(pa.compute.string_is_ascii(self.texts)).to_numpy(False))
        row_of: dict[str, int] = {}
        shared = set()
        for row, text in zip(rows.tolist(), self.texts.take(pa.array(rows)).to_pylist(), strict=True):
            folded = fold(text)
            if folded != text and row_of.setdefault(folded, row) != row:
                shared.add(folded)
        return OtherTexts.of({t: row for t, row in row_of.items() if t not in shared and self.find(t) is None})

    def _compact_texts(self) -> CompactForms:
        """Make the compact forms of all texts, in each stored order of their words."""
        rows = np.arange(len(self), dtype=np.int32)
        texts = pa.chunked_array([self.texts, self.reordered.texts]).combine_chunks()
        return CompactForms.of(texts, np.concatenate([rows, self.reordered.rows]))

    def _merge_word_orders(self, ranks: npt.NDArray[np.int8], concepts: npt.NDArray[np.int32]) -> Entries:
        """Merge entries that have the same concepts and the same words, in any order.

        Args:
            ranks: int8 (N): rank of the kind of each name; 0 is the most exact kind.
            concepts: int32 (N): the concept of each name.
        """
        text = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        digests = word_digests(self.texts)
        # Each concept counts once in the digest of a text, even if several of its names have this text.
        order = np.lexsort((concepts, text))
        text_of, concept_of = text[order], concepts[order]
        new = np.append(True, (text_of[1:] != text_of[:-1]) | (concept_of[1:] != concept_of[:-1]))[: len(order)]
        np.add.at(digests, text_of[new], mix(concept_of[new].astype(np.uint64) + _CONCEPT))
        _, group = np.unique(digests, return_inverse=True)
        order = np.lexsort((self.names, ranks, group[text]))
        _, firsts = np.unique(group[text[order]], return_index=True)
        searched = text[order[firsts]]
        # Entries are in the order of their texts.
        row_of_group = np.empty(len(searched), np.int32)
        row_of_group[np.argsort(searched)] = np.arange(len(searched))
        row = row_of_group[group]
        names = self.names[order[np.argsort(row[text[order]], kind="stable")]]
        ends = np.cumsum(np.bincount(row[text], minlength=len(searched)))
        rest = np.ones(len(self), bool)
        rest[searched] = False
        return Entries(
            self.texts.take(pa.array(np.sort(searched))),
            np.concatenate([[0], ends]),
            names,
            OtherTexts(self.texts.filter(pa.array(rest)), row[rest]),
        )

    def restricted(self, allowed: Bools) -> Entries:
        """Keep some names only; entries keep their rows, and those without a name are not found.

        Args:
            allowed: bool (N): whether each name of the vocabulary is kept.
        """
        kept = allowed[self.names]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
        part = replace(self, offsets=before[self.offsets], names=self.names[kept])
        part = replace(part, compact=self.compact.only(part.named))
        # The words stay known, so that none of them is taken for a slip.
        object.__setattr__(part, "words", self.words)
        object.__setattr__(part, "initials", self.initials)
        return part

    @property
    def named(self) -> Bools:
        """Whether each entry has names: bool (E)."""
        named: Bools = np.diff(self.offsets) > 0
        return named

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def distinct_names(self) -> int:
        """Number of distinct prepared names. Names with the words of an entry in another order count too."""
        return len(self.texts) + len(self.reordered.texts)

    def text(self, row: int) -> str:
        """Return the prepared name of an entry."""
        return str(self.texts[row].as_py())

    def concepts(self, row: int, concept_of_name: npt.NDArray[np.int32]) -> frozenset[int]:
        """Find the rows of the concepts that have the name of an entry.

        Args:
            row: row of the entry.
            concept_of_name: int32: the concept of each name of the vocabulary.
        """
        return frozenset(concept_of_name[self.names_of(row)].tolist())

    def names_of(self, row: int) -> npt.NDArray[np.int32]:
        """Return the name rows of an entry: int32."""
        return self.names[self.offsets[row] : self.offsets[row + 1]]

    def find(self, text: str) -> int | None:
        """Find the entry of a prepared name, in any stored order of its words; ``None`` if there is none."""
        return self._find(text)

    def _search(self, text: str) -> int | None:
        row = self._sorted_texts.find(text)
        return self.find_reordered(text) if row is None else self._named(row)

    def find_reordered(self, text: str) -> int | None:
        """Find the entry of a prepared name stored with another order of words; ``None`` for other texts."""
        return self._named(self.reordered.find(text))

    def _named(self, row: int | None) -> int | None:
        """Return the row of an entry that has names; a restriction leaves others."""
        return None if row is None or self.offsets[row] == self.offsets[row + 1] else row

    def find_folded(self, text: str) -> int | None:
        """Find the entry with the same folded form as a prepared text; ``None`` if there is not exactly one."""
        folded = fold(text)
        row = self.find(folded)
        return self._named(self.folded.find(folded)) if row is None else row

    def searched_order(self, text: str) -> str:
        """Put the words of a name into the order that is searched. Return other texts unchanged."""
        row = self.find_reordered(text)
        return text if row is None else self.text(row)

    def find_all(self, texts: Sequence[str]) -> Rows:
        """Find the entries of Q texts: int32 (Q), :data:`~nymlink.index.hits.NONE` if there is none."""
        rows = map(self.find, texts)
        return np.array([NONE if row is None else row for row in rows], np.int32)

    def save(self, directory: Path) -> None:
        """Write the entries into a directory."""
        save_texts(directory / "entries.arrow", self.texts)
        save_array(directory, "entry_offsets", self.offsets)
        save_array(directory, "entry_names", self.names)
        self.reordered.save(directory, "other_orders")
        self.folded.save(directory, "folded")
        self.compact.save(directory)
        self.word_numbers.save(directory)

    @classmethod
    def load(cls, directory: Path) -> Entries:
        """Map the entries of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError, pyarrow.ArrowException: the files hold something else, or do not fit each other.
        """
        return cls(
            map_texts(directory / "entries.arrow"),
            map_array(directory, "entry_offsets"),
            map_array(directory, "entry_names"),
            OtherTexts.load(directory, "other_orders"),
            OtherTexts.load(directory, "folded"),
            CompactForms.load(directory),
            WordNumbers.load(directory),
        )
