"""Which concepts of a metathesaurus are equal to which of a vocabulary: by id, by who refers to whom, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from nymlink.vocabulary.enrich.by_name import called_alike
from nymlink.vocabulary.enrich.known import Known
from nymlink.vocabulary.enrich.sharing import Pair, sharing_names
from nymlink.vocabulary.merge.evidence import GENES
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Equals:
    """What is equal to what, by the surest evidence there is.

    Attributes:
        by_id: pairs with an id in common, alternate and old ones among them.
        by_xref_and_name: pairs of which one refers to the other and each has the other's preferred name.
        by_xref: pairs of which one refers to the other.
        by_name: pairs that are called the same; ``None`` where names alone are not to say so.
        refused: how many pairs of which one refers to the other are not among those before ``by_name``, those of a
            gene and what is none aside.
    """

    by_id: frozenset[Pair]
    by_xref_and_name: frozenset[Pair]
    by_xref: frozenset[Pair]
    by_name: frozenset[Pair] | None
    refused: int

    @property
    def pairs(self) -> frozenset[Pair]:
        """All that are equal."""
        return self.by_id | self.by_xref_and_name | self.by_xref | (self.by_name or frozenset())

    def concepts(self) -> dict[str, int]:
        """How many concepts of the target have an equal, by the surest evidence for one."""
        evidence = {
            "by id": self.by_id,
            "by xref and name": self.by_xref_and_name,
            "by xref": self.by_xref,
            "by name": self.by_name,
        }
        counts, known = {}, set[int]()
        for how, pairs in evidence.items():
            if pairs is None:
                continue
            rows = {one for one, _ in pairs} - known
            counts[how] = len(rows)
            known |= rows
        return counts


def find_equals(target: Vocabulary, meta: Vocabulary, *, by_name: bool = False) -> Equals:
    """Find what the metathesaurus holds equal to the concepts of the target; obsolete concepts take no part.

    An xref, in either direction, holds when it is one-to-one: when its concept of the metathesaurus has no other
    equal in the target, and its concept of the target no other in that namespace. Equals that are surer count, and
    so do further xrefs as sure as it: MONDO often refers to one MeSH heading from several diseases. It does not
    hold where a further concept of the target has the preferred name of what is to be its equal, nor between genes
    and what is none, since names and ids of genes are used for what they cause. The same goes for names.

    Args:
        target: the vocabulary that is to have more names.
        meta: the metathesaurus.
        by_name: whether concepts that are called the same are equal, if nothing surer speaks against it; see
            :func:`~nymlink.vocabulary.enrich.by_name.called_alike`.
    """
    ours, theirs = Known(target), Known(meta)
    by_id = {(row, theirs.rows[key]) for key, row in ours.rows.items() if key in theirs.rows}
    referring = {(ours.rows[key], row) for row, key in theirs.references() if key in ours.rows}
    referring |= {(row, theirs.rows[key]) for row, key in ours.references() if key in theirs.rows}
    referring = {pair for pair in referring - by_id if _of_one_sort(ours, theirs, pair)}
    surer = _one_to_one(sharing_names(target, meta, referring), by_id, theirs.namespaces)
    by_xref = _one_to_one(referring - surer, by_id | surer, theirs.namespaces)
    by_xref = {pair for pair in by_xref if not _has_rival(target, meta, pair)}
    refused = len(referring) - len(surer) - len(by_xref)
    known = by_id | surer | by_xref
    named = _named(target, meta, ours, theirs, known) if by_name else None
    return Equals(frozenset(by_id), frozenset(surer), frozenset(by_xref), named, refused)


def _named(
    target: Vocabulary, meta: Vocabulary, ours: Known, theirs: Known, known: Collection[Pair]
) -> frozenset[Pair]:
    """The pairs that are called the same, of which nothing surer says otherwise."""
    found: set[Pair] = set()
    for pairs in called_alike(target, meta, lambda pair: _of_one_sort(ours, theirs, pair)):
        surer = {*known, *found}
        alone = _one_to_one(pairs - surer, surer, theirs.namespaces)
        found |= {pair for pair in alone if not _has_rival(target, meta, pair)}
    return frozenset(found)


def _of_one_sort(ours: Known, theirs: Known, pair: Pair) -> bool:
    """Whether both are genes, or neither is."""
    return GENES.isdisjoint(ours.namespaces(pair[0])) == GENES.isdisjoint(theirs.namespaces(pair[1]))


def _one_to_one(
    pairs: Collection[Pair], surer: Collection[Pair], namespaces: Callable[[int], Iterable[str]]
) -> set[Pair]:
    """The pairs whose concepts stand in no other one, nor in a surer one."""
    equals = Counter(other for _, other in {*pairs, *surer})
    alone = {(one, other) for one, other in pairs if equals[other] == 1}
    # What refers to several concepts is equal to none of them, and in nobody's way.
    taken = Counter((one, namespace) for one, other in {*alone, *surer} for namespace in namespaces(other))
    return {(one, other) for one, other in alone if all(taken[one, name] == 1 for name in namespaces(other))}


def _has_rival(target: Vocabulary, meta: Vocabulary, pair: Pair) -> bool:
    """Whether another live concept of the target, and not the one of the pair, is called as its equal is."""
    one, other = pair
    for name in meta.names(meta.concept_id(other), kinds=("preferred",)):
        owners = {found.concept_id for found in target.find(name.text)}
        if target.concept_id(one) not in owners and any(not target[owner].obsolete for owner in owners):
            return True
    return False
