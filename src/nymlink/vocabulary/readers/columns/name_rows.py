"""Turn rows of names into tables column by column: for sources of millions of rows with a name each."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, Tables

ROWS: Final = pa.schema(
    [(column, pa.string()) for column in ("concept_id", "name", "lang", "kind", "semantic_type", "xrefs")]
)
# White space, as Python knows it, other than single blanks between words.
_TO_FOLD: Final = r"^ | $|  |[^ \PZ]|[\x09-\x0d\x1c-\x1f\x{85}]"


def tables_from_rows(rows: pa.Table, languages: LanguageFilter) -> Tables:
    """Build the tables that :class:`~nymlink.vocabulary.tables.TableBuilder` would, called once for each row.

    Args:
        rows: :data:`ROWS`, one name a row; ids and names not blank, languages and kinds valid. ``semantic_type``
            is one string, ``xrefs`` are joined by ``|``; both may be empty.
        languages: languages of which names are kept.
    """
    rows = rows.combine_chunks()
    ids = rows["concept_id"].combine_chunks().dictionary_encode()
    concepts = len(ids.dictionary)
    empty = pa.ListArray.from_arrays(pa.array(np.zeros(concepts + 1, np.int32)), pa.array([], pa.string()))
    return Tables(
        concepts=pa.table(
            {
                "id": ids.dictionary,
                "definition": pa.nulls(concepts, pa.string()),
                "semantic_types": _lists(ids.indices, rows["semantic_type"], concepts),
                "xrefs": _split_lists(ids.indices, rows["xrefs"], concepts),
                "parents": empty,
                "obsolete": pa.repeat(False, concepts),
                "replaced_by": empty,
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(rows, languages),
        redirects=REDIRECT_SCHEMA.empty_table(),
    )


def name_table(rows: pa.Table, languages: LanguageFilter) -> pa.Table:
    """Deduplicate names (``concept_id name lang kind`` of :data:`ROWS`), each with its surest kind."""
    wanted = [lang for lang in pc.unique(rows["lang"]).to_pylist() if languages.wants(lang)]
    rows = rows.filter(pc.is_in(rows["lang"], pa.array(wanted, pa.string())))
    ranks = pc.index_in(rows["kind"], pa.array(KINDS))
    table = pa.table(
        {
            "concept_id": rows["concept_id"],
            "text": _folded(rows["name"]),
            "lang": rows["lang"],
            "rank": ranks,
            "row": np.arange(len(rows)),
        }
    )
    names = table.group_by(["concept_id", "text", "lang"]).aggregate([("rank", "min"), ("row", "min")])
    names = names.sort_by("row_min")
    kinds = pa.array(KINDS).take(names["rank_min"].combine_chunks())
    return names.append_column("kind", kinds).select(NAME_SCHEMA.names).cast(NAME_SCHEMA)


def _folded(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    odd = pc.match_substring_regex(texts, _TO_FOLD)
    if not pc.any(odd).as_py():
        return texts
    folded = [" ".join(text.split()) for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts.combine_chunks(), odd.combine_chunks(), pa.array(folded, pa.string()))


def _split_lists(codes: pa.Array, joined: pa.ChunkedArray, count: int) -> pa.ListArray:
    given = pc.not_equal(joined, "")
    parts = pc.split_pattern(joined.filter(given).combine_chunks(), "|")
    owners = codes.filter(given.combine_chunks()).take(pc.list_parent_indices(parts))
    return _lists(owners, pc.list_flatten(parts), count)


def _lists(codes: pa.Array, values: pa.Array | pa.ChunkedArray, count: int) -> pa.ListArray:
    """List the distinct non-blank values of each code, 0 to ``count - 1``, in their order."""
    pairs = pa.table({"code": codes, "value": pc.utf8_trim_whitespace(values), "row": np.arange(len(codes))})
    pairs = pairs.filter(pc.not_equal(pairs["value"], ""))
    pairs = pairs.group_by(["code", "value"]).aggregate([("row", "min")])
    pairs = pairs.sort_by([("code", "ascending"), ("row_min", "ascending")])
    lengths = np.bincount(pairs["code"].to_numpy(), minlength=count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pairs["value"].combine_chunks())
