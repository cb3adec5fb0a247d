"""Which concepts of a metathesaurus are equal to which of a vocabulary: by id, or by who refers to whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.enrich.known import Known
from nymlink.vocabulary.keys import normalise_all
from nymlink.vocabulary.merge.evidence import GENES
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""A row of the target, and one of the metathesaurus."""


@dataclass(frozen=True, slots=True)
class Equals:
    """What is equal to what, by the surest evidence there is.

    Attributes:
        by_id: pairs with an id in common, alternate and old ones among them.
        by_name: pairs of which one refers to the other and each has the other's preferred name.
        by_xref: pairs of which one refers to the other.
        refused: how many pairs of which one refers to the other are not among these.
    """

    by_id: frozenset[Pair]
    by_name: frozenset[Pair]
    by_xref: frozenset[Pair]
    refused: int

    def concepts(self) -> dict[str, int]:
        """How many concepts of the target have an equal, by the surest evidence for one."""
        counts, known = {}, set[int]()
        for how, pairs in (("by id", self.by_id), ("by xref and name", self.by_name), ("by xref", self.by_xref)):
            rows = {one for one, _ in pairs} - known
            counts[how] = len(rows)
            known |= rows
        return counts


def find_equals(target: Vocabulary, meta: Vocabulary) -> Equals:
    """Find what the metathesaurus holds equal to the concepts of the target; obsolete concepts take no part.

    An xref, in either direction, holds when it is one-to-one: when its concept of the metathesaurus has no other
    equal in the target, and its concept of the target no other in that namespace. Equals that are surer count, and
    so do further xrefs as sure as it: MONDO often refers to one MeSH heading from several diseases. It does not
    hold where a further concept of the target has the preferred name of what is to be its equal, nor between genes
    and what is none, since names and ids of genes are used for what they cause.
    """
    ours, theirs = Known(target), Known(meta)
    by_id = {(row, theirs.rows[key]) for key, row in ours.rows.items() if key in theirs.rows}
    referring = {(ours.rows[key], row) for row, key in theirs.references() if key in ours.rows}
    referring |= {(row, theirs.rows[key]) for row, key in ours.references() if key in theirs.rows}
    referring = {
        (one, other)
        for one, other in referring - by_id
        if GENES.isdisjoint(ours.namespaces(one)) == GENES.isdisjoint(theirs.namespaces(other))
    }
    named = _called_alike(target, meta, referring)
    by_name = _one_to_one(named, by_id, theirs.namespaces)
    by_xref = _one_to_one(referring - by_name, by_id | by_name, theirs.namespaces)
    by_xref = {pair for pair in by_xref if not _has_rival(target, meta, pair)}
    refused = len(referring) - len(by_name) - len(by_xref)
    return Equals(frozenset(by_id), frozenset(by_name), frozenset(by_xref), refused)


def _one_to_one(
    pairs: Collection[Pair], surer: Collection[Pair], namespaces: Callable[[int], Iterable[str]]
) -> set[Pair]:
    """The pairs whose concepts stand in no other one, nor in a surer one."""
    equals = Counter(other for _, other in {*pairs, *surer})
    alone = {(one, other) for one, other in pairs if equals[other] == 1}
    # What refers to several concepts is equal to none of them, and in nobody's way.
    taken = Counter((one, namespace) for one, other in {*alone, *surer} for namespace in namespaces(other))
    return {(one, other) for one, other in alone if all(taken[one, name] == 1 for name in namespaces(other))}


def _called_alike(target: Vocabulary, meta: Vocabulary, pairs: Collection[Pair]) -> set[Pair]:
    """The pairs of which each has the other's preferred name, in whatever order of words."""
    ours = _Called(target, {one for one, _ in pairs})
    theirs = _Called(meta, {other for _, other in pairs})
    return {
        (one, other)
        for one, other in pairs
        if ours.preferred[one] & theirs.names[other] and theirs.preferred[other] & ours.names[one]
    }


def _has_rival(target: Vocabulary, meta: Vocabulary, pair: Pair) -> bool:
    """Whether another live concept of the target, and not the one of the pair, is called as its equal is."""
    one, other = pair
    for name in meta.names(meta.concept_id(other), kinds=("preferred",)):
        owners = {found.concept_id for found in target.find(name.text)}
        if target.concept_id(one) not in owners and any(not target[owner].obsolete for owner in owners):
            return True
    return False


class _Called:
    """What some concepts are called: their preferred names, and all that mean just the same, words in order."""

    def __init__(self, vocabulary: Vocabulary, rows: Collection[int]) -> None:
        wanted = np.zeros(len(vocabulary), bool)
        wanted[np.fromiter(rows, np.int64, len(rows))] = True
        names = vocabulary.columns.names
        exact = pc.is_in(names["kind"].cast(pa.string()), pa.array(["preferred", "exact"]))
        names = names.filter(pc.and_(exact, pa.array(wanted[names["concept"].to_numpy()])))
        self.preferred: dict[int, set[str]] = defaultdict(set)
        self.names: dict[int, set[str]] = defaultdict(set)
        keys = normalise_all(names["text"])
        for row, kind, key in zip(
            *(column.to_pylist() for column in (names["concept"], names["kind"], keys)), strict=True
        ):
            name = " ".join(sorted(key.split()))
            self.names[row].add(name)
            if kind == "preferred":
                self.preferred[row].add(name)
