"""Restrict what is looked for: by branches, semantic types, sources of names, and ids."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.store.arrays import Bools
from nymlink.vocabulary.hierarchy import descendants, flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """What is looked for: what meets all conditions, each by any of its values; an empty one is none.

    Attributes:
        branches: ids of concepts, looked for with all their descendants.
        types: semantic types; case is ignored.
        sources: sources of names.
        ids: ids of concepts; old ones stand for those that replace them.
    """

    branches: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.branches or self.types or self.sources or self.ids)

    def names(self, vocabulary: Vocabulary) -> Bools:
        """Tell which names of a vocabulary are looked for.

        Returns:
            bool (N).

        Raises:
            UnknownNameError: a branch or an id is not in the vocabulary.
            InputError: a type or source is not, or nothing is left.
        """
        concepts = self.concepts(vocabulary)
        columns = vocabulary.columns
        names: Bools = concepts[columns.names["concept"].to_numpy()]
        if self.sources:
            names &= _has_label(columns.names["source"].cast(pa.string()), self.sources, "source")
        if not names.any():
            raise InputError("nothing is left to look for: no concept meets all conditions")
        return names

    def concepts(self, vocabulary: Vocabulary) -> Bools:
        """Tell which concepts of a vocabulary are looked for, as far as sources do not decide: bool (C)."""
        concepts = np.ones(len(vocabulary), bool)
        if self.branches:
            concepts &= descendants(vocabulary, self.branches)
        if self.types:
            rows, types = flatten_lists(vocabulary.columns.concepts["semantic_types"])
            of_type = np.zeros(len(vocabulary), bool)
            folded = tuple(value.casefold() for value in self.types)
            of_type[rows[_has_label(pc.utf8_lower(types), folded, "semantic type")]] = True
            concepts &= of_type
        if self.ids:
            listed = np.zeros(len(vocabulary), bool)
            for concept_id in self.ids:
                current = vocabulary.resolve(concept_id)
                if not current:
                    raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary")
                for each in current:
                    listed[vocabulary.row(each)] = True
            concepts &= listed
        return concepts


def _has_label(column: pa.Array | pa.ChunkedArray, wanted: Collection[str], noun: str) -> Bools:
    """Tell which values are wanted.

    Raises:
        InputError: a wanted value is not among them.
    """
    present = set(pc.unique(column).to_pylist())
    if missing := sorted(set(wanted) - present):
        known = ", ".join(sorted(filter(None, present))[:20])
        raise InputError(f"no {noun} {missing[0]!r} in the vocabulary; there are: {known}")
    selected: Bools = pc.is_in(column, pa.array(sorted(wanted), pa.string())).to_numpy(zero_copy_only=False)
    return selected
