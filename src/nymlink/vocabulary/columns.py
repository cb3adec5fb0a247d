"""The columns of a vocabulary, as stored on disk and used by every look-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA

_LABEL: Final = pa.dictionary(pa.int16(), pa.string())

CONCEPTS: Final = CONCEPT_SCHEMA.append(pa.field("source", _LABEL, nullable=False))
NAMES: Final = pa.schema(
    [
        pa.field("concept", pa.int32(), nullable=False),
        # Large strings: the names of a UMLS-sized vocabulary do not fit 32-bit offsets.
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("lang", _LABEL, nullable=False),
        pa.field("kind", _LABEL, nullable=False),
        pa.field("source", _LABEL, nullable=False),
    ]
)
REDIRECTS: Final = REDIRECT_SCHEMA


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a vocabulary with ``C`` concepts and ``N`` names, each a single Arrow chunk.

    Attributes:
        concepts: :data:`CONCEPTS`, C rows, ids unique.
        names: :data:`NAMES`, N rows, the names of one concept together, preferred names first;
            ``concept`` is a row of ``concepts``.
        redirects: :data:`REDIRECTS`, sorted by ``old``.
        name_offsets: int64 (C + 1): the names of concept row i are rows ``name_offsets[i]:name_offsets[i + 1]``.
        concepts_by_id: int32 (C): concept rows in order of id.
        names_by_key: int32 (N): name rows in order of normalised text, then row.
    """

    concepts: pa.Table
    names: pa.Table
    redirects: pa.Table
    name_offsets: npt.NDArray[np.int64]
    concepts_by_id: npt.NDArray[np.int32]
    names_by_key: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        """Check all offsets and row numbers, so that damaged data never lead to wrong concepts or out of bounds.

        Raises:
            ValueError: the columns do not fit each other, or their schemas.
        """
        for table, schema in ((self.concepts, CONCEPTS), (self.names, NAMES), (self.redirects, REDIRECTS)):
            if not table.schema.equals(schema):
                raise ValueError(f"table has schema\n{table.schema}\ninstead of\n{schema}")
            _require_values(table)
        concepts, names = self.concepts.num_rows, self.names.num_rows
        for array, dtype, length in (
            (self.name_offsets, np.int64, concepts + 1),
            (self.concepts_by_id, np.int32, concepts),
            (self.names_by_key, np.int32, names),
        ):
            if array.dtype != dtype or array.shape != (length,):
                raise ValueError("the look-up arrays do not fit the tables")
        if self.name_offsets[0] != 0 or self.name_offsets[-1] != names:
            raise ValueError("the names of the last concept do not end with the last name")
        if np.any(self.name_offsets[1:] < self.name_offsets[:-1]):
            raise ValueError("the names of the concepts do not follow one another")
        for rows, count in ((self.concepts_by_id, concepts), (self.names_by_key, names)):
            _require_rows(rows, count)
            # As many rows as there are: none is missing where none comes twice.
            seen = np.zeros(count, np.bool_)
            seen[rows] = True
            if not seen.all():
                raise ValueError("the look-up arrays do not have every row once")
        for chunk in self.names["concept"].chunks:
            _require_rows(chunk.to_numpy(), concepts)
        for chunk in self.names["kind"].chunks:
            if unknown := set(chunk.dictionary.to_pylist()) - set(KINDS):
                raise ValueError(f"unknown kinds of names: {', '.join(sorted(map(str, unknown)))}")


def _require_values(table: pa.Table) -> None:
    """Check that there are no nulls in required columns, their lists and their dictionaries.

    Raises:
        ValueError: there are.
    """
    for field in table.schema:
        if field.nullable:
            continue
        column = table[field.name]
        if pa.types.is_list(field.type):
            inner = sum(chunk.flatten().null_count for chunk in column.chunks)
        elif pa.types.is_dictionary(field.type):
            inner = sum(chunk.dictionary.null_count for chunk in column.chunks)
        else:
            inner = 0
        if column.null_count or inner:
            raise ValueError(f"column {field.name!r} has missing values")


def _require_rows(rows: npt.NDArray[np.int32], count: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < count:
        raise ValueError("the look-up arrays refer to rows that do not exist")
