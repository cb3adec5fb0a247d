"""Columns of a vocabulary: checked, sorted and keyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.text.normalise import normalise
from nymlink.text.writing import normalise_signs
from nymlink.vocabulary.concepts import KINDS
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, Tables

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
        names: :data:`NAMES`, N rows, grouped by concept row, preferred names first.
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
        """Check all offsets and row numbers: damaged data must not lead to wrong concepts.

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
            # The lengths are equal: no row is missing if none comes twice.
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
    """Raise ValueError for a null in a required column, its lists or its dictionary."""
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


# ASCII punctuation, and ASCII white space of Python.
_SEPARATORS: Final = r"[[:punct:]\s\x0b\x1c-\x1f]+"
_SIGNS: Final = r"[+−′’]|-[)\]}]|-$|^-|[0-9]- |(\b|[0-9])\p{L}?'"
"""Matches every text with signs, and some others; a fast filter before :func:`normalise_signs`."""

_BATCH: Final = 1 << 20


def normalise_all(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Apply :func:`~nymlink.text.normalise.normalise` to each text: large_string (N) → large_string (N)."""
    batches = [_normalise(texts.slice(start, _BATCH)) for start in range(0, len(texts), _BATCH)]
    return pa.chunked_array(batches, pa.large_string())


def normalise_all_with_signs(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Normalise texts like :func:`normalise_all`, but keep signs as words: large_string (N) → large_string (N).

    "(+)-carvone" and "(-)-carvone" stay different: see :func:`~nymlink.text.writing.normalise_signs`.
    """
    keys = normalise_all(texts).combine_chunks()
    signed = pc.match_substring_regex(texts, _SIGNS).combine_chunks()
    others = [normalise_signs(text).casefold() for text in texts.filter(signed).to_pylist()]
    return pa.chunked_array([pc.replace_with_mask(keys, signed, pa.array(others, pa.large_string()))])


def _normalise(texts: pa.ChunkedArray) -> pa.LargeStringArray:
    texts = texts.combine_chunks()
    keys = pc.ascii_trim(pc.replace_substring_regex(pc.ascii_lower(texts), _SEPARATORS, " "), " ")
    # Punctuation alone becomes empty here: normalise() keeps it.
    others = pc.invert(pc.and_(pc.string_is_ascii(texts), pc.not_equal(keys, "")))
    normal = pa.array(map(normalise, texts.filter(others).to_pylist()), pa.large_string())
    return pc.replace_with_mask(keys, others, normal)


_LISTS = ("semantic_types", "xrefs", "parents", "replaced_by")


def assemble(parts: Sequence[tuple[str, Tables]], *, repeats: bool = False) -> Columns:
    """Join sources into one vocabulary.

    Concepts with the same id become one, with the first definition, the first obsolete mark, and the joined lists
    and names without repeats.

    Args:
        parts: (source name, its tables), in order of precedence.
        repeats: whether to keep a repeated name of a concept once per source.

    Raises:
        InputError: there are more language codes than the format can store.
        ValueError: the concept of a name is in no source.
    """
    concepts = _merge_repeated(_concatenate(parts, "concepts").cast(CONCEPTS).combine_chunks())
    names = _names(parts, concepts, repeats=repeats)
    redirects = pa.concat_tables([tables.redirects for _, tables in parts])
    redirects = redirects.group_by(["old", "new"]).aggregate([])
    redirects = redirects.sort_by([("old", "ascending"), ("new", "ascending")])
    rows = names["concept"].to_numpy()
    return Columns(
        concepts=concepts,
        names=names,
        redirects=redirects.cast(REDIRECTS).combine_chunks(),
        name_offsets=np.searchsorted(rows, np.arange(len(concepts) + 1)).astype(np.int64),
        concepts_by_id=pc.sort_indices(concepts["id"]).to_numpy().astype(np.int32),
        names_by_key=_order_by_key(names["text"]),
    )


def disassemble(columns: Columns, sources: Iterable[str]) -> list[tuple[str, Tables]]:
    """Split a vocabulary into its sources and their tables, in order of precedence; undo :func:`assemble`."""
    names = columns.names.append_column("concept_id", columns.concepts["id"].take(columns.names["concept"]))
    parts: list[tuple[str, Tables]] = []
    for source in dict.fromkeys(sources):
        concepts = columns.concepts.filter(pc.equal(columns.concepts["source"].cast(pa.string()), source))
        own = names.filter(pc.equal(names["source"].cast(pa.string()), source))
        tables = Tables(
            concepts=concepts.select(CONCEPT_SCHEMA.names).cast(CONCEPT_SCHEMA),
            names=own.select(NAME_SCHEMA.names).cast(NAME_SCHEMA),
            redirects=REDIRECT_SCHEMA.empty_table() if parts else columns.redirects,
        )
        parts.append((source, tables))
    return parts


def _concatenate(parts: Sequence[tuple[str, Tables]], attribute: str) -> pa.Table:
    labelled = []
    for source, tables in parts:
        table = getattr(tables, attribute)
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int16)), pa.array([source]))
        labelled.append(table.append_column(pa.field("source", column.type, nullable=False), column))
    return pa.concat_tables(labelled).unify_dictionaries()


def _merge_repeated(concepts: pa.Table) -> pa.Table:
    """Merge concepts with the same id into one row; only these rows become Python objects."""
    codes = concepts["id"].combine_chunks().dictionary_encode().indices.to_numpy()
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    if len(first) == len(concepts):
        return concepts
    merged: dict[str, dict[str, Any]] = {}
    for row in concepts.filter(pa.array(counts[codes] > 1)).to_pylist():
        first_row = merged.setdefault(row["id"], row)
        if first_row is row:
            continue
        first_row["definition"] = first_row["definition"] or row["definition"]
        for field in _LISTS:
            first_row[field] = list(dict.fromkeys([*first_row[field], *row[field]]))
    merged_rows = pa.Table.from_pylist(list(merged.values()), schema=CONCEPTS)
    both = pa.concat_tables([concepts.take(first), merged_rows]).unify_dictionaries().combine_chunks()
    # Codes, ``first`` and ``merged_rows`` are all in order of first occurrence.
    order = np.arange(len(first))
    order[counts > 1] = len(first) + np.arange(len(merged_rows))
    return both.take(order).combine_chunks()


def _names(parts: Sequence[tuple[str, Tables]], concepts: pa.Table, *, repeats: bool) -> pa.Table:
    names = _concatenate(parts, "names")
    owners = pc.index_in(names["concept_id"], value_set=concepts["id"].combine_chunks())
    if owners.null_count:
        orphan = names["concept_id"].filter(pc.is_null(owners))[0].as_py()
        raise ValueError(f"a name belongs to the concept {orphan!r}, which is in no source")
    rows = owners.to_numpy()
    # Preferred English names first, then other preferred names, then the rest in the order of the source.
    preferred = pc.equal(names["kind"], "preferred").to_numpy()
    english = pc.or_(pc.equal(names["lang"], "en"), pc.starts_with(names["lang"], "en-")).to_numpy()
    rank = rows.astype(np.int64) * 3 + np.where(preferred, np.where(english, 0, 1), 2)
    order = np.argsort(rank, kind="stable")
    table = pa.table(
        {
            "concept": pa.array(rows[order], pa.int32()),
            "text": names["text"].cast(pa.large_string()).take(order),
            "lang": _languages(names["lang"]).take(order),
            "kind": _labels(names["kind"]).take(order),
            "source": names["source"].take(order),
        }
    )
    if len(parts) > 1 or repeats:
        table = _drop_repeats(table, ("concept", "text", "lang", *(["source"] if repeats else [])))
    return table.cast(NAMES).combine_chunks()


def _labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.dictionary_encode().unify_dictionaries().cast(_LABEL)


def _languages(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return _labels(column)
    except pa.ArrowInvalid as error:
        count = pc.count_distinct(column).as_py()
        message = f"{count:,} languages in the column lang: it probably holds ids, not language codes"
        raise InputError(message) from error


def _drop_repeats(names: pa.Table, by: Sequence[str]) -> pa.Table:
    """Keep one of the names equal in columns ``by``: at the first place, with the most reliable kind."""
    kinds = names["kind"].combine_chunks()
    rank_of_kind = pa.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], pa.int8())
    table = pa.table(
        {
            "concept": names["concept"],
            "text": names["text"],
            "lang": names["lang"].cast(pa.string()),
            "source": names["source"].cast(pa.string()),
            "rank": rank_of_kind.take(kinds.indices),
            "row": np.arange(len(names)),
        }
    )
    kept = table.group_by(list(by)).aggregate([("row", "min"), ("rank", "min")])
    kept = kept.take(pc.sort_indices(kept["row_min"]))
    best_kinds = pa.chunked_array([pa.array(KINDS).take(kept["rank_min"].combine_chunks())])
    place = names.schema.get_field_index("kind")
    return names.take(kept["row_min"]).set_column(place, "kind", _labels(best_kinds))


def _order_by_key(texts: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    # Arrow sorts a single array stably: equal keys stay in row order.
    order = pc.sort_indices(normalise_all(texts).combine_chunks())
    rows: npt.NDArray[np.int32] = order.to_numpy().astype(np.int32)
    return rows
