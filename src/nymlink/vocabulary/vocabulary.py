"""The vocabulary: an immutable set of concepts and names, memory-mapped."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import UnknownNameError
from nymlink.core.prefixes import Prefixes, common_name, is_iri
from nymlink.text.normalise import normalise
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary import vocabulary_folder
from nymlink.vocabulary.columns import Columns, assemble, disassemble
from nymlink.vocabulary.concepts import KINDS, Concept, Name, Source, matching_languages
from nymlink.vocabulary.tables import Tables, with_common_prefixes

_REMEMBERED: Final = 1 << 14
"""Number of names that are remembered as objects."""


class Vocabulary:
    """Concepts and names with their provenance, made by :meth:`load`, :func:`read_vocabulary` or :meth:`of`.

    Indexes and evaluations refer to a concept by its *row* in :attr:`columns`.

    Attributes:
        columns: concepts, names and look-up arrays, in Arrow columns.
        sources: the sources.
        settings: reading options of the sources.

    Example:
        >>> from nymlink import read_vocabulary
        >>> vocabulary = read_vocabulary("diseases.obo")
        >>> len(vocabulary), vocabulary["MONDO:0004979"].name
        (61, 'asthma')
        >>> [name.concept_id for name in vocabulary.find("Heart attack")]
        ['MONDO:0005068']
        >>> vocabulary.save("diseases")
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
        # One code per name and a list of labels: look-ups need not decode Arrow dictionaries.
        self._labels = {
            field: (column.indices.to_numpy(), column.dictionary.to_pylist())
            for field in ("lang", "kind", "source")
            for column in (_only_chunk(columns.names[field]),)
        }
        self._kind_ranks = np.array([KINDS.index(kind) for kind in self._labels["kind"][1]])
        self._remembered: dict[int, Name] = {}

    @classmethod
    def of(
        cls, *parts: tuple[Source, Tables], repeats: bool = False, settings: Mapping[str, Any] | None = None
    ) -> Vocabulary:
        """Join sources into a vocabulary, in memory.

        A prefix that two sources declare for different namespaces is not used in ids of the later source.

        Args:
            parts: each source and its tables, in order of precedence.
            repeats: whether to keep a repeated name of a concept once per source.
            settings: reading options of the sources.
        """
        joined = with_common_prefixes(parts)
        columns = assemble([(source.name, tables) for source, tables in joined], repeats=repeats)
        return cls(columns, [source for source, _ in joined], settings)

    def extended(self, source: Source, tables: Tables) -> Vocabulary:
        """Return this vocabulary with another source added."""
        return Vocabulary.of(*self.parts(), (source, tables), settings=self.settings)

    def parts(self) -> list[tuple[Source, Tables]]:
        """Split the vocabulary into its sources and their tables; the inverse of :meth:`of`."""
        tables = disassemble(self.columns, [source.name for source in self.sources])
        # The redirects of all sources are with the first one.
        shared = self.prefixes
        return [
            (replace(source, prefixes=shared), replace(own, prefixes=shared))
            for source, (_, own) in zip(self.sources, tables, strict=True)
        ]

    @classmethod
    def load(cls, directory: str | Path) -> Vocabulary:
        """Open a vocabulary directory by memory mapping.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        return cls(*vocabulary_folder.load(Path(directory)))

    def save(self, directory: str | Path) -> None:
        """Write the vocabulary to a directory atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        vocabulary_folder.save(self.columns, self.sources, Path(directory), settings=self.settings)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of ids that only the sources declare, and their namespaces."""
        return {name: namespace for source in self.sources for name, namespace in source.prefixes.items()}

    def __len__(self) -> int:
        """Count the concepts."""
        return len(self._ids)

    def __iter__(self) -> Iterator[Concept]:
        """Iterate over the concepts, in the order of their rows."""
        return map(self.concept, range(len(self)))

    @property
    def name_count(self) -> int:
        """The number of (concept, name) rows."""
        return len(self._texts)

    def describe(self) -> dict[str, Any]:
        """Return sources, settings, and numbers of concepts and names, as JSON values."""
        return {
            "sources": [source.to_dict() for source in self.sources],
            "settings": self.settings,
            "concepts": len(self),
            "names": self.name_count,
        }

    def __contains__(self, concept_id: str) -> bool:
        return self.row(concept_id) is not None

    def __getitem__(self, concept_id: str) -> Concept:
        """Return the concept with this id; for alternate ids see :meth:`resolve`.

        Raises:
            UnknownNameError: no concept has this id.
        """
        return self.concept(self._known_row(concept_id))

    def row(self, concept_id: str) -> int | None:
        """Return the row of the concept with this id, or ``None``; for alternate ids see :meth:`resolve`."""
        order = self.columns.concepts_by_id
        place = bisect_left(order, concept_id, key=self._id_at)
        if place < len(order) and self._id_at(order[place]) == concept_id:
            return int(order[place])
        return None

    def concept_id(self, row: int) -> str:
        """Return the id of the concept at a row."""
        return self._id_at(row)

    def concept(self, row: int) -> Concept:
        """Return the concept at a row."""
        columns = self.columns.concepts
        value = {field: columns[field][row].as_py() for field in columns.column_names}
        lists = ("semantic_types", "xrefs", "parents", "replaced_by")
        value.update({field: tuple(value[field]) for field in lists})
        return Concept(name=self.preferred_name(row), **value)

    def preferred_name(self, row: int) -> str:
        """Return the preferred name of a concept row, or its first name of the most reliable kind, or its id."""
        name = self.preferred_row(row)
        return self._id_at(row) if name is None else self._text_at(name)

    def preferred_row(self, row: int) -> int | None:
        """Return the name row of the preferred name of a concept row, see :meth:`preferred_name`; or ``None``."""
        start, end = self.columns.name_offsets[row : row + 2]
        if start == end:
            return None
        return int(start + self._kind_ranks[self._labels["kind"][0][start:end]].argmin())

    def name(self, row: int) -> Name:
        """Return the name at a name row."""
        # A link needs the same name several times.
        if (known := self._remembered.get(row)) is not None:
            return known
        if len(self._remembered) >= _REMEMBERED:
            self._remembered.clear()
        labels = {field: known[codes[row]] for field, (codes, known) in self._labels.items()}
        name = Name(text=self._text_at(row), concept_id=self._id_at(self._owners[row]), **labels)
        return self._remembered.setdefault(row, name)

    def names(
        self, concept_id: str, *, lang: str | None = None, kinds: Collection[str] | None = None
    ) -> tuple[Name, ...]:
        """Return the names of a concept, preferred first, optionally of one language or some kinds.

        Raises:
            UnknownNameError: no concept has this id.
        """
        row = self._known_row(concept_id)
        names = (self.name(name_row) for name_row in range(*self.columns.name_offsets[row : row + 2].tolist()))
        return tuple(
            name for name in names if (lang is None or name.lang == lang) and (kinds is None or name.kind in kinds)
        )

    def find(self, text: str) -> tuple[Name, ...]:
        """Find all names equal to ``text`` except for case and punctuation.

        Verbatim names come first, then names that differ in case, then in signs
        (:func:`~nymlink.text.writing.writing_likeness`); ties are ordered by kind.
        """
        names = map(self.name, self.name_rows(text))
        return tuple(sorted(names, key=lambda name: (-writing_likeness(text, name.text), KINDS.index(name.kind))))

    def name_rows(self, text: str) -> list[int]:
        """Find the rows of the names of :meth:`find`."""
        key = normalise(text)
        order = self.columns.names_by_key
        places = range(bisect_left(order, key, key=self._key_at), len(order))
        return list(takewhile(lambda row: self._key_at(row) == key, (int(order[place]) for place in places)))

    def containing(self, text: str, *, limit: int) -> tuple[str, ...]:
        """Return the ids of at most ``limit`` concepts with ``text`` in a name, ignoring case."""
        if not _is_encodable(text):
            return ()
        ids: dict[str, None] = {}
        for batch in self.name_batches(obsolete=True):
            matching = pc.match_substring(batch["text"], text, ignore_case=True)
            ids.update((self._id_at(row), None) for row in batch["concept"].filter(matching).to_pylist())
            if len(ids) >= limit:
                break
        return tuple(ids)[:limit]

    def resolve(self, concept_id: str) -> tuple[str, ...]:
        """Resolve an id to the ids of live concepts, through alternate ids and replacements.

        The id may be written in another way than in the vocabulary: as an IRI, ``mondo:0005068``,
        ``MONDO_0005068``. If no live concept is reached, return the obsolete concepts reached last; for an unknown
        id, nothing.
        """
        return next(filter(None, map(self._resolve, (concept_id, *self._other_spellings(concept_id)))), ())

    def _other_spellings(self, concept_id: str) -> Iterator[str]:
        """Yield an id as the ids of this vocabulary may be written."""
        known = Prefixes.recorded(self.prefixes)
        curie = known.contract(concept_id.strip())
        yield curie
        if is_iri(curie):
            return
        name, sign, local = curie.partition(":") if ":" in curie else curie.rpartition("_")
        if not sign or not name or not local:
            return
        yield from (f"{own}:{local}" for own in self.id_prefixes.get(common_name(name), ()))
        yield from (f"{name}_{local}", f"{name.upper()}_{local}")
        if (iri := known.expand(f"{name}:{local}")) is not None:
            yield iri

    @cached_property
    def id_prefixes(self) -> dict[str, list[str]]:
        """The prefixes of ids, alternate ones too: what is common to all spellings → the spellings here."""
        found: dict[str, list[str]] = {}
        for ids in (self.columns.concepts["id"], self.columns.redirects["old"]):
            parts = pc.extract_regex(ids.cast(pa.large_string()), r"^(?P<prefix>[^:]+):")
            for prefix in pc.unique(pc.struct_field(parts, "prefix")).to_pylist():
                if prefix is not None and prefix not in (known := found.setdefault(common_name(prefix), [])):
                    known.append(prefix)
        return found

    @cached_property
    def concept_prefixes(self) -> tuple[npt.NDArray[np.int32], list[str]]:
        """The prefix of the id of each concept: int32 (C), places in a list of prefixes; ``""`` for none."""
        ids = self.columns.concepts["id"].cast(pa.large_string())
        prefixes = pc.struct_field(pc.extract_regex(ids, r"^(?P<prefix>[^:]+):"), "prefix")
        encoded = _only_chunk(pc.fill_null(prefixes, "").dictionary_encode())
        return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()

    def _resolve(self, concept_id: str) -> tuple[str, ...]:
        concepts = self.columns.concepts
        live: dict[str, None] = {}
        last: tuple[str, ...] = ()
        seen: set[str] = set()
        pending = [concept_id]
        while pending:
            unseen = [id_ for id_ in dict.fromkeys(pending) if id_ not in seen]
            seen.update(unseen)
            obsolete, pending = [], []
            for id_ in unseen:
                row = self.row(id_)
                if row is not None and not concepts["obsolete"][row].as_py():
                    live[id_] = None
                    continue
                if row is not None:
                    obsolete.append(id_)
                    pending += concepts["replaced_by"][row].as_py()
                pending += self._redirect_targets(id_)
            last = tuple(obsolete) or last
        return tuple(live) or last

    def ancestors(self, concept_id: str, *, most: float = inf) -> dict[str, int]:
        """Find the ancestors of a concept, parents outside the vocabulary included. Cycles do no harm.

        Args:
            concept_id: id of the concept.
            most: largest number of steps from the concept.

        Returns:
            Id of an ancestor → the number of steps up to it, nearest first.

        Raises:
            UnknownNameError: no concept has this id.
        """
        found: dict[str, int] = {}
        parents = self.columns.concepts["parents"]
        rows, steps = [self._known_row(concept_id)], 0
        while rows and steps < most:
            steps += 1
            above = dict.fromkeys(parent for row in rows for parent in parents[row].as_py())
            unseen = [parent for parent in above if parent not in found and parent != concept_id]
            found.update(dict.fromkeys(unseen, steps))
            rows = [row for row in map(self.row, unseen) if row is not None]
        return found

    def name_batches(
        self,
        *,
        languages: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        obsolete: bool = False,
        batch_size: int = 65_536,
    ) -> Iterator[pa.RecordBatch]:
        """Iterate over the names in columns, without a Python object per name.

        Args:
            languages: languages of the names, each with its regions; ``None``: all.
            kinds: kinds of the names; ``None``: all.
            obsolete: whether to include names of obsolete concepts.
            batch_size: rows per batch before selection.

        Yields:
            Batches of the :data:`~nymlink.vocabulary.columns.NAMES` columns and ``row`` (int64), the name row.
        """
        if languages is not None:
            languages = matching_languages(languages, self._labels["lang"][1])
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

    def searched_names(self) -> Iterator[Name]:
        """Iterate over the names of the concepts that are not obsolete."""
        return (self.name(row) for batch in self.name_batches() for row in batch["row"].to_pylist())

    def counts(self, field: str) -> dict[str, int]:
        """Count the names by ``"lang"``, ``"kind"`` or ``"source"``, most frequent first."""
        codes, labels = self._labels[field]
        totals = np.bincount(codes, minlength=len(labels)).tolist()
        return dict(
            Counter({label: total for label, total in zip(labels, totals, strict=True) if total}).most_common()
        )

    def semantic_types(self) -> dict[str, int]:
        """Count the concepts by semantic type, most frequent first."""
        rows = pc.value_counts(pc.list_flatten(self.columns.concepts["semantic_types"])).to_pylist()
        return dict(Counter({row["values"]: row["counts"] for row in rows}).most_common())

    def _known_row(self, concept_id: str) -> int:
        row = self.row(concept_id)
        if row is None:
            current = self.resolve(concept_id)
            hint = f"; it is now {', '.join(current)}" if current else ""
            raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary{hint}")
        return row

    def _id_at(self, row: Any) -> str:
        return str(self._ids[int(row)].as_py())

    def _text_at(self, row: Any) -> str:
        return str(self._texts[int(row)].as_py())

    def _key_at(self, row: Any) -> str:
        return normalise(self._text_at(row))

    def _redirect_targets(self, concept_id: str) -> list[str]:
        old, new = self._redirects_from, self.columns.redirects["new"]
        first = bisect_left(range(len(old)), concept_id, key=lambda at: str(old[at].as_py()))
        places = takewhile(lambda place: old[place].as_py() == concept_id, range(first, len(old)))
        return [str(new[place].as_py()) for place in places]


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogate (from a broken argument)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
