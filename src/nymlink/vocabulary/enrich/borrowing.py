"""Which names pass from a metathesaurus to the concepts of a vocabulary, and which do not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Ints
from nymlink.vocabulary.enrich.sharing import Pair
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.vocabulary import Vocabulary

BORROWED: Final = ("preferred", "exact", "abbreviation", "tradename")
"""The kinds of names that mean what the concept means, the surest first; others mean something near it."""

# What code lists write and nobody else: SNOMED's tags, "not otherwise specified" ("neuronal NOS" is an enzyme),
# OMIM's titles with their symbol.
_CODED: Final = (
    r"(?i:\((disorder|disease|finding|morphologic abnormality)\)|\[ambiguous\]|^\[X\]|, NOS\b|\bunspecified\b)"
    r"|;\s*[A-Z][A-Z0-9]+$"
)


@dataclass(frozen=True, slots=True)
class Loan:
    """The names that pass, N rows, and how many do not: each counted once a concept and normal form.

    Attributes:
        concepts: concept rows of the target: int64 (N).
        names: name rows of the metathesaurus: int64 (N).
        there: names that the concept has already.
        ambiguous: names that another concept of the target has, or would borrow as well.
    """

    concepts: Ints
    names: Ints
    there: int
    ambiguous: int


def borrow(
    target: Vocabulary,
    meta: Vocabulary,
    equals: Collection[Pair],
    *,
    lenders: Collection[str],
    languages: Collection[str] | None,
) -> Loan:
    """Choose the names that concepts of the target borrow from their equals.

    Names that are equal in their normal form are one name: of several, the surest kind is borrowed, then that of
    the first source. Names of obsolete concepts are in nobody's way. Titles of code lists ("Uveitis, NOS
    (disorder)") are not borrowed.

    Args:
        target: the vocabulary that is to have more names.
        meta: the vocabulary that has them.
        equals: which of their concepts are equal.
        lenders: sources of the metathesaurus whose names are borrowed, in order of precedence.
        languages: names in these languages only; ``None``: in all.
    """
    concepts, names = _offered(meta, equals, {"kind": BORROWED, "source": lenders, "lang": languages})
    live = ~target.columns.concepts["obsolete"].to_numpy()[target.columns.names["concept"].to_numpy()]
    held = target.columns.names.filter(pa.array(live))
    offered = meta.columns.names["text"].take(pa.array(names))
    texts = pa.chunked_array([*held["text"].chunks, *offered.chunks], pa.large_string())
    codes = normalise_all(texts).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    # A claim is a normal form and a concept in one number. What is held comes before what is offered.
    claims = codes * len(target) + np.concatenate([held["concept"].to_numpy(), concepts])
    distinct, first = np.unique(claims, return_index=True)
    forms = distinct // len(target)
    new, alone = first >= len(held), np.bincount(forms)[forms] == 1
    chosen = np.sort(first[new & alone]) - len(held)
    return Loan(
        concepts[chosen],
        names[chosen],
        there=len(np.intersect1d(claims[: len(held)], claims[len(held) :])),
        ambiguous=int(np.count_nonzero(new & ~alone)),
    )


def _offered(
    meta: Vocabulary, equals: Collection[Pair], wanted: dict[str, Collection[str] | None]
) -> tuple[Ints, Ints]:
    """What equals are called: concept rows of the target and name rows, in the order of the labels wanted."""
    pairs = np.array(sorted(equals), np.int64).reshape(-1, 2)
    starts, ends = (meta.columns.name_offsets[pairs[:, 1] + end] for end in (0, 1))
    counts = ends - starts
    names = np.arange(counts.sum()) + np.repeat(ends - np.cumsum(counts), counts)
    concepts = np.repeat(pairs[:, 0], counts)
    table = meta.columns.names.take(pa.array(names))
    blank = pc.equal(pc.utf8_trim_whitespace(table["text"]), "")
    kept = ~pc.or_(blank, pc.match_substring_regex(table["text"], _CODED)).to_numpy()
    places = []
    for field, labels in wanted.items():
        if labels is not None:
            found = pc.index_in(table[field].cast(pa.string()), value_set=pa.array(list(labels), pa.string()))
            kept = kept & found.is_valid().to_numpy()
            places.append(found.fill_null(0).to_numpy())
    # The first field decides; where all are equal, names stay in their order.
    order = np.lexsort(places[::-1])
    order = order[kept[order]]
    return concepts[order], names[order]
