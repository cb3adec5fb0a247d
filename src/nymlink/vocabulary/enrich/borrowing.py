"""Choose the names that concepts of a vocabulary borrow from a metathesaurus."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Ints
from nymlink.vocabulary.enrich.mutual_names import CrossPair
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.vocabulary import Vocabulary

BORROWED: Final = ("preferred", "exact", "abbreviation", "tradename")
"""The kinds of names that are borrowed, the surest first; names of other kinds mean something related."""

# Titles that only code lists use: SNOMED's tags, "not otherwise specified" (but "neuronal NOS" is an enzyme), and
# OMIM's titles with a symbol.
_CODE_TITLE: Final = (
    r"(?i:\((disorder|disease|finding|morphologic abnormality)\)|\[ambiguous\]|^\[X\]|, NOS\b|\bunspecified\b)"
    r"|;\s*[A-Z][A-Z0-9]+$"
)


@dataclass(frozen=True, slots=True)
class Loan:
    """The N names that are borrowed, and the numbers of those that are not, by concept and normal form.

    Attributes:
        concepts: int64 (N): concept rows of the target.
        names: int64 (N): name rows of the metathesaurus.
        present: number of names that the concept has already.
        ambiguous: number of names that another concept of the target has, or would borrow too.
    """

    concepts: Ints
    names: Ints
    present: int
    ambiguous: int


def borrow(
    target: Vocabulary,
    meta: Vocabulary,
    equivalent: Collection[CrossPair],
    *,
    lenders: Collection[str],
    languages: Collection[str] | None,
) -> Loan:
    """Choose the names that concepts of the target borrow from their equivalents.

    Of names with the same normal form one is borrowed: that of the surest kind, then of the first source. Names of
    obsolete concepts do not make a name ambiguous. Titles of code lists ("Uveitis, NOS (disorder)") are not
    borrowed.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus that offers names.
        equivalent: pairs of equivalent concepts.
        lenders: sources of the metathesaurus whose names are borrowed, in order of precedence.
        languages: languages of the names; ``None``: all.
    """
    concepts, names = _offered(meta, equivalent, {"kind": BORROWED, "source": lenders, "lang": languages})
    live = ~target.columns.concepts["obsolete"].to_numpy()[target.columns.names["concept"].to_numpy()]
    held = target.columns.names.filter(pa.array(live))
    offered = meta.columns.names["text"].take(pa.array(names))
    texts = pa.chunked_array([*held["text"].chunks, *offered.chunks], pa.large_string())
    codes = normalise_all(texts).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    # One number for a normal form and a concept; names of the target come before offered ones.
    keys = codes * len(target) + np.concatenate([held["concept"].to_numpy(), concepts])
    distinct, first = np.unique(keys, return_index=True)
    forms = distinct // len(target)
    new, unique = first >= len(held), np.bincount(forms)[forms] == 1
    chosen = np.sort(first[new & unique]) - len(held)
    return Loan(
        concepts[chosen],
        names[chosen],
        present=len(np.intersect1d(keys[: len(held)], keys[len(held) :])),
        ambiguous=int(np.count_nonzero(new & ~unique)),
    )


def _offered(
    meta: Vocabulary, equivalent: Collection[CrossPair], wanted: dict[str, Collection[str] | None]
) -> tuple[Ints, Ints]:
    """List the names of equivalents that have the wanted labels, in the order of these labels.

    Returns:
        Concept rows of the target and name rows of the metathesaurus.
    """
    pairs = np.array(sorted(equivalent), np.int64).reshape(-1, 2)
    starts, ends = (meta.columns.name_offsets[pairs[:, 1] + end] for end in (0, 1))
    counts = ends - starts
    names = np.arange(counts.sum()) + np.repeat(ends - np.cumsum(counts), counts)
    concepts = np.repeat(pairs[:, 0], counts)
    table = meta.columns.names.take(pa.array(names))
    blank = pc.equal(pc.utf8_trim_whitespace(table["text"]), "")
    kept = ~pc.or_(blank, pc.match_substring_regex(table["text"], _CODE_TITLE)).to_numpy()
    ranks = []
    for field, labels in wanted.items():
        if labels is not None:
            rank = pc.index_in(table[field].cast(pa.string()), value_set=pa.array(list(labels), pa.string()))
            kept = kept & rank.is_valid().to_numpy()
            ranks.append(rank.fill_null(0).to_numpy())
    # The first field decides; the sort is stable.
    order = np.lexsort(ranks[::-1])
    order = order[kept[order]]
    return concepts[order], names[order]
