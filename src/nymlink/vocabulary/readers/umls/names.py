"""Turn atoms into names and cross-references: preferred names, no repetitions, ordered.

Works on stretches of whole concepts, about a million names each, to limit the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Array, Ints
from nymlink.vocabulary.concepts import KINDS
from nymlink.vocabulary.readers.column_files import distinct_pairs, group_lists
from nymlink.vocabulary.readers.umls.atoms import Atoms
from nymlink.vocabulary.tables import NAME_SCHEMA

_BATCH: Final = 1 << 20
_INHERITED_RANK: Final = 8
_CURIE: Final = r"^[A-Za-z][A-Za-z0-9_.]*:\S"


@dataclass(frozen=True, slots=True)
class InheritedNames:
    """Inherited names: each concept of ``heir`` gets the names of ``origin``, with ``kind`` (place in KINDS)."""

    heir: Ints
    origin: Ints
    kind: Ints


@dataclass(frozen=True, slots=True)
class _Rows:
    """Names in the order of their concepts: ``source`` is the row of the text."""

    concept: Array
    lang: Array
    kind: Array
    rank: Array
    source: Array

    def take(self, rows: Array) -> _Rows:
        return _Rows(self.concept[rows], self.lang[rows], self.kind[rows], self.rank[rows], self.source[rows])


def names(atoms: Atoms, inherited: InheritedNames) -> pa.Table:
    """Build the names of all concepts, in the columns of :data:`~nymlink.vocabulary.tables.NAME_SCHEMA`.

    Concepts keep their order. Within a concept the English preferred name comes first, then the preferred names of
    other languages, then the rest as in the file. A name that occurs twice in one language is kept once, at its
    first place, with its most reliable kind. In each language the name of the smallest rank is preferred, of
    several the first; an inherited name is never preferred.
    """
    rows = _with_inherited(_ordered(atoms), inherited, len(atoms.ids))
    english = np.array([lang == "en" for lang in atoms.languages])
    tables = [_stretch(atoms, rows, slice(start, stop), english) for start, stop in _stretches(rows.concept)]
    return pa.concat_tables(tables)


def xrefs(atoms: Atoms) -> pa.ChunkedArray:
    """List the distinct CURIEs of each concept, in the order of the file."""
    order = _order(atoms.xref_concept)
    concept, prefix = atoms.xref_concept[order], atoms.xref_prefix[order]
    own = len(atoms.prefixes)
    prefixes = pa.array([*(f"{name}:" for name in atoms.prefixes), ""])
    chunks, concepts_done = [], 0
    for start, stop in _stretches(concept):
        code = atoms.xref_code.take(pa.array(order[start:stop])).dictionary_encode()
        index = code.indices.to_numpy()
        # Some sources (HPO, GO, HGNC) have CURIEs as codes.
        is_curie = pc.match_substring_regex(code.dictionary, _CURIE).to_numpy(zero_copy_only=False)[index]
        prefix_row = np.where(is_curie, own, prefix[start:stop]).astype(np.int64)
        last = int(concept[stop - 1]) + 1
        owner, value = distinct_pairs(
            concept[start:stop] - concepts_done, prefix_row * len(code.dictionary) + index
        )
        prefix_row, index = np.divmod(value, len(code.dictionary))
        text = pc.binary_join_element_wise(
            prefixes.take(pa.array(prefix_row)), code.dictionary.take(pa.array(index)).cast(pa.string()), ""
        )
        chunks.append(group_lists(owner, text, last - concepts_done))
        concepts_done = last
    chunks.append(group_lists(np.array([], np.int64), pa.array([], pa.string()), len(atoms.ids) - concepts_done))
    return pa.chunked_array(chunks, pa.list_(pa.string()))


def _order(concept: Array) -> Array:
    if np.all(concept[:-1] <= concept[1:]):
        return np.arange(len(concept), dtype=np.int32)
    return np.argsort(concept, kind="stable")


def _ordered(atoms: Atoms) -> _Rows:
    source = np.arange(len(atoms.concept), dtype=np.int32)
    rows = _Rows(atoms.concept, atoms.lang, atoms.kind, atoms.rank, source)
    return rows.take(_order(atoms.concept))


def _with_inherited(rows: _Rows, inherited: InheritedNames, concepts: int) -> _Rows:
    if not len(inherited.heir):
        return rows
    starts = np.searchsorted(rows.concept, np.arange(concepts + 1))
    count = np.diff(starts)[inherited.origin]
    # Rows of the first origin, then of the second, and so on; each run counts up from the start of its origin.
    ends = np.cumsum(count)
    copied = np.arange(ends[-1]) + np.repeat(starts[inherited.origin] - (ends - count), count)
    concept = np.concatenate([rows.concept, np.repeat(inherited.heir, count).astype(rows.concept.dtype)])
    kind = np.concatenate([rows.kind, np.repeat(inherited.kind, count).astype(rows.kind.dtype)])
    rank = np.concatenate([rows.rank, np.full(len(copied), _INHERITED_RANK, rows.rank.dtype)])
    lang = np.concatenate([rows.lang, rows.lang[copied]])
    source = np.concatenate([rows.source, rows.source[copied]])
    return _Rows(concept, lang, kind, rank, source).take(_order(concept))


def _stretches(concept: Array) -> Iterator[tuple[int, int]]:
    """Cut rows, ordered by concept, into stretches of whole concepts: (first row, row after the last) of each."""
    start = 0
    while start < len(concept):
        stop = start + _BATCH
        if stop < len(concept):
            stop = int(np.searchsorted(concept, concept[stop - 1], side="right"))
        stop = min(stop, len(concept))
        yield start, stop
        start = stop


def _stretch(atoms: Atoms, rows: _Rows, where: slice, english: Array) -> pa.Table:
    concept, lang, rank = rows.concept[where], rows.lang[where], rows.rank[where]
    kind = rows.kind[where].copy()
    text = atoms.text.take(pa.array(rows.source[where]))
    encoded = text.dictionary_encode()
    group = (concept - concept[0]).astype(np.int64) * len(english) + lang

    row = np.arange(len(concept))
    by_rank = np.argsort((group * (_INHERITED_RANK + 1) + rank) * len(row) + row)
    best = by_rank[_firsts(group[by_rank])]
    kind[best[rank[best] < _INHERITED_RANK]] = KINDS.index("preferred")

    same = group * len(encoded.dictionary) + encoded.indices.to_numpy()
    by_text = np.argsort(same, kind="stable")
    firsts = np.flatnonzero(_firsts(same[by_text]))
    kept = by_text[firsts]
    kind = np.minimum.reduceat(kind[by_text], firsts)

    preferred = kind == KINDS.index("preferred")
    place = np.where(preferred, np.where(english[lang[kept]], 0, 1), 2)
    order = np.argsort((concept[kept].astype(np.int64) * 3 + place) * len(row) + kept)
    kept, kind = kept[order], kind[order]
    return pa.table(
        {
            "concept_id": atoms.ids.take(pa.array(concept[kept])),
            "text": text.take(pa.array(kept)).cast(pa.string()),
            "lang": pa.array(atoms.languages).take(pa.array(lang[kept])),
            "kind": pa.array(KINDS).take(pa.array(kind)),
        },
        schema=NAME_SCHEMA,
    )


def _firsts(values: Array) -> Array:
    """Whether each value differs from the one before it."""
    first = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return first
