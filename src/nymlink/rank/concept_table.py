"""What is known of each concept of an index without any question: its names and references, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Ints
from nymlink.index.fusion.hits import NONE, Rows
from nymlink.index.index import Index
from nymlink.vocabulary.model import KINDS


@dataclass(frozen=True, slots=True, eq=False)
class ConceptTable:
    """Names and references of the C concepts and N names of an index.

    Attributes:
        entry_of_name: int32 (N): the entry of each name; :data:`~nymlink.index.fusion.hits.NONE` where it is not
            searched.
        kind_of_name: int64 (N): place of its kind among :data:`~nymlink.vocabulary.model.KINDS`, the surest first.
        preferred_entry: int32 (C): the entry of the surest name of each concept that is searched.
        entry_counts: int64 (C): how many entries are names of it.
        references: int64 (C): how many identifiers elsewhere it refers to.
    """

    entry_of_name: Rows
    kind_of_name: Ints
    preferred_entry: Rows
    entry_counts: Ints
    references: Ints

    @classmethod
    def of(cls, index: Index) -> ConceptTable:
        """Collect what is known of the concepts of an index."""
        entries, owners, columns = index.entries, index.owners, index.vocabulary.columns
        entry_of_name = np.full(index.vocabulary.name_count, NONE, np.int32)
        entry_of_name[entries.names] = np.repeat(np.arange(len(entries), dtype=np.int32), np.diff(entries.offsets))
        kinds = columns.names["kind"].combine_chunks()
        ranks = np.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], np.int64)
        kind_of_name = ranks[kinds.indices.to_numpy()]
        searched = np.flatnonzero(entry_of_name != NONE)
        # The first of each concept by kind, then as in the vocabulary.
        surest = searched[np.lexsort((searched, kind_of_name[searched], owners[searched]))]
        concepts, first = np.unique(owners[surest], return_index=True)
        preferred_entry = np.full(len(index.vocabulary), NONE, np.int32)
        preferred_entry[concepts] = entry_of_name[surest[first]]
        named = np.unique(owners[searched].astype(np.int64) * len(entries) + entry_of_name[searched])
        return cls(
            entry_of_name=entry_of_name,
            kind_of_name=kind_of_name,
            preferred_entry=preferred_entry,
            entry_counts=np.bincount(named // max(len(entries), 1), minlength=len(index.vocabulary)),
            references=_lengths(columns.concepts["xrefs"]),
        )


def _lengths(lists: pa.ChunkedArray) -> Ints:
    lengths: Ints = pc.list_value_length(lists).to_numpy().astype(np.int64)
    return lengths
