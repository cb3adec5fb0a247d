"""The vocabulary: an immutable set of concepts and names, looked up without loading it into Python."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import UnknownNameError
from nymlink.text.normalise import normalise
from nymlink.vocabulary import store
from nymlink.vocabulary.assemble import assemble, disassemble
from nymlink.vocabulary.columns import Columns
from nymlink.vocabulary.languages import with_regions
from nymlink.vocabulary.model import KINDS, Concept, Name, Source
from nymlink.vocabulary.tables import Tables


class Vocabulary:
    """Concepts and names with their provenance. Made by :meth:`load`, :func:`read_vocabulary` or :meth:`of`.

    A concept's *row* is its place in :attr:`columns`; rows are what indexes and evaluations count in.

    Attributes:
        columns: everything, in Arrow columns.
        sources: where it comes from.
        settings: how its sources were read.
    """

    def __init__(
        self, columns: Columns, sources: Sequence[Source], settings: Mapping[str, Any] | None = None
    ) -> None:
        self.columns = columns
        self.sources = tuple(sources)
        self.settings = dict(settings or {})
        self._ids = _only_chunk(columns.concepts["id"])
        self._texts = _only_chunk(columns.names["text"])
        self._redirects_from = _only_chunk(columns.redirects["old"])
        self._owners = _only_chunk(columns.names["concept"]).to_numpy()
        # Per name a code and, for the few codes there are, the label: look-ups of names decode nothing.
        self._labels = {
            field: (column.indices.to_numpy(), column.dictionary.to_pylist())
            for field in ("lang", "kind", "source")
            for column in (_only_chunk(columns.names[field]),)
        }
        self._sureness = np.array([KINDS.index(kind) for kind in self._labels["kind"][1]])

    @classmethod
    def of(
        cls, *parts: tuple[Source, Tables], repeats: bool = False, settings: Mapping[str, Any] | None = None
    ) -> Vocabulary:
        """A vocabulary of one or several sources, in memory.

        Args:
            parts: each source and its tables, in order of precedence.
            repeats: whether a name that several sources give a concept is kept once for each of them.
            settings: how they were read.
        """
        columns = assemble([(source.name, tables) for source, tables in parts], repeats=repeats)
        return cls(columns, [source for source, _ in parts], settings)

    def extended(self, source: Source, tables: Tables) -> Vocabulary:
        """This vocabulary with what another source adds to it."""
        return Vocabulary.of(*self.parts(), (source, tables), settings=self.settings)

    def parts(self) -> list[tuple[Source, Tables]]:
        """Each source and what it holds: what :meth:`of` makes the same vocabulary of again."""
        tables = disassemble(self.columns, [source.name for source in self.sources])
        return [(source, own) for source, (_, own) in zip(self.sources, tables, strict=True)]

    @classmethod
    def load(cls, directory: str | Path) -> Vocabulary:
        """Open a vocabulary directory; its files are mapped into memory, not read.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        return cls(*store.load(Path(directory)))

    def save(self, directory: str | Path) -> None:
        """Write the vocabulary to a directory, atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        store.save(self.columns, self.sources, Path(directory), settings=self.settings)

    def __len__(self) -> int:
        """The number of concepts."""
        return len(self._ids)

    def __iter__(self) -> Iterator[Concept]:
        """The concepts one by one, in the order of their rows."""
        return map(self.concept, range(len(self)))

    @property
    def name_count(self) -> int:
        """The number of (concept, name) rows."""
        return len(self._texts)

    def __contains__(self, concept_id: str) -> bool:
        return self.row(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """The concept of that very id.

        Raises:
            UnknownNameError: the vocabulary holds no such id (alternate ids: see :meth:`resolve`).
        """
        return self.concept(self._known_row(concept_id))

    def row(self, concept_id: str) -> int | None:
        """The row of the concept of that very id, or ``None``."""
        order = self.columns.concepts_by_id
        place = bisect_left(order, concept_id, key=self._id_at)
        if place < len(order) and self._id_at(order[place]) == concept_id:
            return int(order[place])
        return None

    def concept_id(self, row: int) -> str:
        """The id of a concept row."""
        return self._id_at(row)

    def concept(self, row: int) -> Concept:
        """The concept at a row."""
        columns = self.columns.concepts
        value = {field: columns[field][row].as_py() for field in columns.column_names}
        lists = ("semantic_types", "xrefs", "parents", "replaced_by")
        value.update({field: tuple(value[field]) for field in lists})
        return Concept(name=self.preferred_name(row), **value)

    def preferred_name(self, row: int) -> str:
        """The preferred name of a concept row.

        Where it has none of that kind, the first of its surest kind, and its id where it has no name at all.
        """
        start, end = self.columns.name_offsets[row : row + 2]
        if start == end:
            return self._id_at(row)
        return self._text_at(start + self._sureness[self._labels["kind"][0][start:end]].argmin())

    def name(self, row: int) -> Name:
        """The name at a name row."""
        labels = {field: known[codes[row]] for field, (codes, known) in self._labels.items()}
        return Name(text=self._text_at(row), concept_id=self._id_at(self._owners[row]), **labels)

    def names(
        self, concept_id: str, *, lang: str | None = None, kinds: Collection[str] | None = None
    ) -> tuple[Name, ...]:
        """The names of a concept, preferred ones first, on request of one language or some kinds only.

        Raises:
            UnknownNameError: the vocabulary holds no such id.
        """
        row = self._known_row(concept_id)
        found = (self.name(at) for at in range(*self.columns.name_offsets[row : row + 2].tolist()))
        return tuple(
            name for name in found if (lang is None or name.lang == lang) and (kinds is None or name.kind in kinds)
        )

    def find(self, text: str) -> tuple[Name, ...]:
        """All names equal to ``text`` but for case and punctuation, with the concepts they name."""
        key = normalise(text)
        order = self.columns.names_by_key
        place = bisect_left(order, key, key=self._key_at)
        found = []
        while place < len(order) and self._key_at(order[place]) == key:
            found.append(self.name(int(order[place])))
            place += 1
        return tuple(found)

    def containing(self, text: str, *, limit: int) -> tuple[str, ...]:
        """The ids of concepts with a name that contains ``text``, whatever its case, at most ``limit`` of them."""
        if not _is_encodable(text):
            return ()
        found: dict[str, None] = {}
        for batch in self.name_batches(obsolete=True):
            matching = pc.match_substring(batch["text"], text, ignore_case=True)
            found.update((self._id_at(row), None) for row in batch["concept"].filter(matching).to_pylist())
            if len(found) >= limit:
                break
        return tuple(found)[:limit]

    def resolve(self, concept_id: str) -> tuple[str, ...]:
        """The ids of the live concepts that an id stands for now, following alternate ids and replacements.

        Where these lead to no live concept, the obsolete ones reached last stand for themselves; an unknown id
        stands for nothing.
        """
        concepts = self.columns.concepts
        live: dict[str, None] = {}
        last: tuple[str, ...] = ()
        seen: set[str] = set()
        step = [concept_id]
        while step:
            fresh = [at for at in dict.fromkeys(step) if at not in seen]
            seen.update(fresh)
            obsolete, step = [], []
            for at in fresh:
                row = self.row(at)
                if row is not None and not concepts["obsolete"][row].as_py():
                    live[at] = None
                    continue
                if row is not None:
                    obsolete.append(at)
                    step += concepts["replaced_by"][row].as_py()
                step += self._redirected(at)
            last = tuple(obsolete) or last
        return tuple(live) or last

    def ancestors(self, concept_id: str) -> tuple[str, ...]:
        """The ids of all concepts above one, nearest first; a cycle in the parents does no harm.

        Parents that the source names but does not hold are among them.

        Raises:
            UnknownNameError: the vocabulary holds no such id.
        """
        found: dict[str, None] = {}
        parents = self.columns.concepts["parents"]
        rows = [self._known_row(concept_id)]
        while rows:
            above = dict.fromkeys(parent for row in rows for parent in parents[row].as_py())
            fresh = [parent for parent in above if parent not in found and parent != concept_id]
            found.update(dict.fromkeys(fresh))
            rows = [row for row in map(self.row, fresh) if row is not None]
        return tuple(found)

    def name_batches(
        self,
        *,
        languages: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        obsolete: bool = False,
        batch_size: int = 65_536,
    ) -> Iterator[pa.RecordBatch]:
        """The names in columns, ``batch_size`` rows at a time, without a Python object per name.

        Args:
            languages: these languages only, each with its regions.
            kinds: these kinds only.
            obsolete: whether names of obsolete concepts are among them.
            batch_size: rows looked at per batch; a batch holds those of them that were asked for.

        Yields:
            Batches of the :data:`~nymlink.vocabulary.columns.NAMES` columns and ``row`` (int64), the name row.
        """
        if languages is not None:
            languages = with_regions(languages, self._labels["lang"][1])
        live = None if obsolete else ~self.columns.concepts["obsolete"].to_numpy()
        names = self.columns.names
        for start in range(0, len(names), batch_size):
            batch = names.slice(start, batch_size)
            wanted = np.ones(len(batch), bool)
            if live is not None:
                wanted &= live[batch["concept"].to_numpy()]
            for field, values in (("lang", languages), ("kind", kinds)):
                if values is not None:
                    wanted &= pc.is_in(
                        batch[field].cast(pa.string()), pa.array(sorted(values), pa.string())
                    ).to_numpy()
            rows = pa.array(np.arange(start, start + len(batch), dtype=np.int64))
            yield from batch.append_column("row", rows).filter(pa.array(wanted)).combine_chunks().to_batches()

    def counts(self, field: str) -> dict[str, int]:
        """How many names there are by ``"lang"``, ``"kind"`` or ``"source"``, most frequent first."""
        codes, labels = self._labels[field]
        totals = np.bincount(codes, minlength=len(labels)).tolist()
        return dict(
            Counter({label: total for label, total in zip(labels, totals, strict=True) if total}).most_common()
        )

    def semantic_types(self) -> dict[str, int]:
        """How many concepts there are by semantic type, most frequent first."""
        counted = pc.value_counts(pc.list_flatten(self.columns.concepts["semantic_types"])).to_pylist()
        return dict(Counter({one["values"]: one["counts"] for one in counted}).most_common())

    def _known_row(self, concept_id: str) -> int:
        row = self.row(concept_id)
        if row is None:
            now = self.resolve(concept_id)
            hint = f"; it is now {', '.join(now)}" if now else ""
            raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary{hint}")
        return row

    def _id_at(self, row: Any) -> str:
        return str(self._ids[int(row)].as_py())

    def _text_at(self, row: Any) -> str:
        return str(self._texts[int(row)].as_py())

    def _key_at(self, row: Any) -> str:
        return normalise(self._text_at(row))

    def _redirected(self, concept_id: str) -> list[str]:
        old, new = self._redirects_from, self.columns.redirects["new"]
        place = bisect_left(range(len(old)), concept_id, key=lambda at: str(old[at].as_py()))
        found = []
        while place < len(old) and old[place].as_py() == concept_id:
            found.append(str(new[place].as_py()))
            place += 1
        return found


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_encodable(text: str) -> bool:
    """Whether there is no lone surrogate (half a character, from a broken argument) in a text; no name has one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
