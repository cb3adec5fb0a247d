"""Read CONCEPT_RELATIONSHIP: parents, replacements, and the standard concepts that others map to."""

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
    """Relations among the concepts of an export.

    Args:
        folder: folder of the export.
        ids: concept ids of OMOP.
        curies: the same ids as CURIEs.
        problems: receives broken rows.
    """

    def __init__(self, folder: Path, ids: pa.Array, curies: pa.Array, problems: Problems) -> None:
        self._count = len(ids)
        self._curies = curies
        pairs: dict[bool, list[tuple[Array, Array]]] = {True: [], False: []}
        for block in read_table(folder, "CONCEPT_RELATIONSHIP", _RELATIONSHIP, (), problems):
            valid = map_distinct(code_column(block, "invalid_reason"), lambda flag: flag not in INVALID, bool)
            names = code_column(block, "relationship_id")
            first = pc.index_in(block["concept_id_1"], ids).fill_null(_NOTHING).to_numpy()
            second = pc.index_in(block["concept_id_2"], ids).fill_null(_NOTHING).to_numpy()
            valid &= (first != _NOTHING) & (second != _NOTHING) & (first != second)
            for is_parent in (True, False):
                selected = (
                    map_distinct(names, _PARENT.__eq__ if is_parent else _REPLACED.__contains__, bool) & valid
                )
                pairs[is_parent].append((first[selected], second[selected]))
        self._parents, self._mapped = _joined(pairs[True]), _joined(pairs[False])

    def parents(self) -> pa.ListArray:
        """List the parents of each concept."""
        return self._lists(*self._parents)

    def replacements(self, obsolete: Array) -> pa.ListArray:
        """List the replacements of each obsolete concept; empty lists for live ones."""
        sources, targets = self._mapped
        return self._lists(sources[obsolete[sources]], targets[obsolete[sources]])

    def xrefs(self, table: pa.Table, obsolete: Array) -> pa.ListArray:
        """List the code of each concept in its vocabulary, then the standard concepts that a live one maps to."""
        sources, targets = self._mapped
        live = ~obsolete[sources]
        prefixes = map_distinct(code_column(table, "vocabulary_id"), lambda name: _prefix(name) + ":", object)
        codes = pc.fill_null(table["concept_code"], "")
        given = pc.not_equal(codes, "").to_numpy()
        codes = pc.binary_join_element_wise(pa.array(prefixes, TEXT), codes, "").filter(pa.array(given))
        values = pa.concat_arrays([codes.combine_chunks(), self._curies.take(pa.array(targets[live]))])
        owners = np.concatenate([np.flatnonzero(given), sources[live]])
        order = np.argsort(owners, kind="stable")
        return group_lists(owners[order], values.take(pa.array(order)), self._count)

    def _lists(self, owners: Array, values: Array) -> pa.ListArray:
        return group_lists(owners, self._curies.take(pa.array(values)), self._count)


def _joined(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    none = np.array([], np.int64)
    return distinct_pairs(
        np.concatenate([none, *(first for first, _ in pairs)]),
        np.concatenate([none, *(second for _, second in pairs)]),
    )


def _prefix(vocabulary: str) -> str:
    return _PREFIXES.get(vocabulary, vocabulary.replace(" ", "_"))
