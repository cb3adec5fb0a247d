"""What CONCEPT_RELATIONSHIP says: parents, replacements, and the standard concepts that others map to."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Array
from nymlink.vocabulary.readers.columns.delimited import CODE, NUMBER, TEXT
from nymlink.vocabulary.readers.columns.groups import distinct_pairs, group_lists, map_distinct
from nymlink.vocabulary.readers.omop.tables import INVALID, code_column, read_table

_RELATIONSHIP: Final = {
    "concept_id_1": NUMBER,
    "concept_id_2": NUMBER,
    "relationship_id": CODE,
    "invalid_reason": CODE,
}
_PARENT, _REPLACED, _NOTHING = "Is a", frozenset({"Maps to", "Concept replaced by"}), -1
_PREFIXES: Final = {"SNOMED": "SNOMEDCT", "MeSH": "MESH"}


class Relations:
    """The relations among some concepts.

    Args:
        folder: the export.
        ids: their ids; ``curies`` the same as ours.
        curies: their ids in our vocabulary.
        problems: told of broken rows.
    """

    def __init__(self, folder: Path, ids: pa.Array, curies: pa.Array, problems: Problems) -> None:
        self._count = len(ids)
        self._curies = curies
        found: dict[bool, list[tuple[Array, Array]]] = {True: [], False: []}
        for block in read_table(folder, "CONCEPT_RELATIONSHIP", _RELATIONSHIP, (), problems):
            valid = map_distinct(code_column(block, "invalid_reason"), lambda flag: flag not in INVALID, bool)
            names = code_column(block, "relationship_id")
            one = pc.index_in(block["concept_id_1"], ids).fill_null(_NOTHING).to_numpy()
            two = pc.index_in(block["concept_id_2"], ids).fill_null(_NOTHING).to_numpy()
            valid &= (one != _NOTHING) & (two != _NOTHING) & (one != two)
            for is_parent in (True, False):
                said = map_distinct(names, _PARENT.__eq__ if is_parent else _REPLACED.__contains__, bool) & valid
                found[is_parent].append((one[said], two[said]))
        self._parents, self._mapped = _joined(found[True]), _joined(found[False])

    def parents(self) -> pa.ListArray:
        """One list a concept: what it is a kind of."""
        return self._lists(*self._parents)

    def replacements(self, obsolete: Array) -> pa.ListArray:
        """One list a concept: what to use for those that are obsolete."""
        one, two = self._mapped
        return self._lists(one[obsolete[one]], two[obsolete[one]])

    def xrefs(self, table: pa.Table, obsolete: Array) -> pa.ListArray:
        """The code in the source vocabulary, then the standard concepts a live concept maps to."""
        one, two = self._mapped
        live = ~obsolete[one]
        prefixes = map_distinct(code_column(table, "vocabulary_id"), lambda name: _prefix(name) + ":", object)
        codes = pc.fill_null(table["concept_code"], "")
        given = pc.not_equal(codes, "").to_numpy()
        codes = pc.binary_join_element_wise(pa.array(prefixes, TEXT), codes, "").filter(pa.array(given))
        values = pa.concat_arrays([codes.combine_chunks(), self._curies.take(pa.array(two[live]))])
        owners = np.concatenate([np.flatnonzero(given), one[live]])
        order = np.argsort(owners, kind="stable")
        return group_lists(owners[order], values.take(pa.array(order)), self._count)

    def _lists(self, owners: Array, values: Array) -> pa.ListArray:
        return group_lists(owners, self._curies.take(pa.array(values)), self._count)


def _joined(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    none = np.array([], np.int64)
    return distinct_pairs(
        np.concatenate([none, *(one for one, _ in pairs)]), np.concatenate([none, *(two for _, two in pairs)])
    )


def _prefix(vocabulary: str) -> str:
    return _PREFIXES.get(vocabulary, vocabulary.replace(" ", "_"))
