"""Rewrite the tables of sources with the ids of merged concepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, SourceTables


def rewrite(
    parts: Sequence[SourceTables], merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]]
) -> list[SourceTables]:
    """Replace the ids of members by those of their merged concepts.

    The id of a member is kept as an xref, and as a redirect to the merged concept.

    Args:
        parts: the sources and their tables, in order of precedence.
        merged: id of a member → id of the merged concept, where they differ.
        xrefs: id of a concept → ids to add to its xrefs.
    """
    olds = pa.array(list(merged), pa.string())
    news = pa.array(list(merged.values()), pa.string())
    rewritten: list[SourceTables] = []
    for source, tables in parts:
        names = tables.names
        names = names.set_column(0, names.schema.field(0), _replace(names["concept_id"], olds, news))
        redirects = _redirects(tables.redirects, olds, news)
        if not rewritten:
            redirects = pa.concat_tables([redirects, pa.table([olds, news], schema=REDIRECT_SCHEMA)])
        concepts = _concepts(tables.concepts, merged, xrefs, olds)
        rewritten.append((source, replace(tables, concepts=concepts, names=names, redirects=redirects)))
    return rewritten


def _replace(column: pa.ChunkedArray, olds: pa.Array, news: pa.Array) -> pa.ChunkedArray:
    return pc.coalesce(news.take(pc.index_in(column, value_set=olds).combine_chunks()), column)


def _redirects(redirects: pa.Table, olds: pa.Array, news: pa.Array) -> pa.Table:
    redirects = redirects.set_column(1, REDIRECT_SCHEMA.field("new"), _replace(redirects["new"], olds, news))
    return redirects.filter(pc.not_equal(redirects["old"], redirects["new"]))


def _concepts(
    concepts: pa.Table, merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]], olds: pa.Array
) -> pa.Table:
    """Rewrite the concepts of a source. Only the rows that change become Python objects."""
    changing = pc.is_in(concepts["id"], value_set=pa.concat_arrays([olds, pa.array(list(xrefs), pa.string())]))
    changed = changing.to_numpy().copy()
    for field in ("xrefs", "parents", "replaced_by"):
        lists = concepts[field].combine_chunks()
        touched = pc.is_in(pc.list_flatten(lists), value_set=olds).to_numpy(zero_copy_only=False)
        changed[pc.list_parent_indices(lists).to_numpy()[touched]] = True
    rows = [_concept(row, merged, xrefs) for row in concepts.filter(pa.array(changed)).to_pylist()]
    both = pa.concat_tables([concepts, pa.Table.from_pylist(rows, schema=CONCEPT_SCHEMA)]).combine_chunks()
    order = np.arange(len(concepts))
    order[changed] = len(concepts) + np.arange(len(rows))
    return both.take(pa.array(order)).combine_chunks()


def _concept(row: dict[str, Any], merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    old = row["id"]
    new = row["id"] = merged.get(old, old)
    for field in ("parents", "replaced_by"):
        row[field] = [above for above in dict.fromkeys(merged.get(id_, id_) for id_ in row[field]) if above != new]
    row["xrefs"] = [id_ for id_ in dict.fromkeys([old, *row["xrefs"], *xrefs.get(old, ())]) if id_ != new]
    return row
