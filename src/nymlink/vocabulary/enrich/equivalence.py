"""Find the equivalent concepts of a vocabulary and a metathesaurus: by id, by cross-reference, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from nymlink.vocabulary.enrich.by_name import match_by_name
from nymlink.vocabulary.enrich.concept_ids import ConceptIds
from nymlink.vocabulary.enrich.mutual_names import CrossPair, mutually_named
from nymlink.vocabulary.merge.evidence import GENES
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Equivalences:
    """Pairs of equivalent concepts, each under its surest evidence.

    Attributes:
        by_id: pairs with an id in common; alternate and old ids count.
        by_xref_and_name: pairs with an xref, in which each concept has the other's preferred name.
        by_xref: pairs with an xref.
        by_name: pairs with a name in common; ``None`` where names alone do not count.
        refused: number of pairs with an xref that are in none of the first three sets, without pairs of a gene and
            something else.
    """

    by_id: frozenset[CrossPair]
    by_xref_and_name: frozenset[CrossPair]
    by_xref: frozenset[CrossPair]
    by_name: frozenset[CrossPair] | None
    refused: int

    @property
    def pairs(self) -> frozenset[CrossPair]:
        """All pairs of equivalent concepts."""
        return self.by_id | self.by_xref_and_name | self.by_xref | (self.by_name or frozenset())

    def concepts(self) -> dict[str, int]:
        """Count the concepts of the target that have an equivalent, by their surest evidence."""
        evidence = {
            "by id": self.by_id,
            "by xref and name": self.by_xref_and_name,
            "by xref": self.by_xref,
            "by name": self.by_name,
        }
        counts, counted = {}, set[int]()
        for label, pairs in evidence.items():
            if pairs is None:
                continue
            rows = {row for row, _ in pairs} - counted
            counts[label] = len(rows)
            counted |= rows
        return counts


def find_equivalences(target: Vocabulary, meta: Vocabulary, *, by_name: bool = False) -> Equivalences:
    """Find the equivalent concepts of the target and the metathesaurus; obsolete concepts are ignored.

    An xref, in either direction, counts only if it is one-to-one: its concept of the metathesaurus has no other
    equivalent in the target, and its concept of the target has no other in that namespace, counting surer evidence
    and other xrefs. (MONDO often refers to one MeSH heading from several diseases.) It does not count if another
    concept of the target has the preferred name of the would-be equivalent, nor between a gene and something else,
    as names and ids of genes are also used for the diseases they cause. The same rules apply to names.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus.
        by_name: whether concepts with a name in common are equivalent, unless surer evidence contradicts; see
            :func:`~nymlink.vocabulary.enrich.by_name.match_by_name`.
    """
    target_ids, meta_ids = ConceptIds(target), ConceptIds(meta)
    by_id = {(row, meta_ids.rows[key]) for key, row in target_ids.rows.items() if key in meta_ids.rows}
    xrefs = {(target_ids.rows[key], row) for row, key in meta_ids.references() if key in target_ids.rows}
    xrefs |= {(row, meta_ids.rows[key]) for row, key in target_ids.references() if key in meta_ids.rows}
    xrefs = {pair for pair in xrefs - by_id if _same_gene_status(target_ids, meta_ids, pair)}
    by_both = _one_to_one(mutually_named(target, meta, xrefs), by_id, meta_ids.namespaces)
    by_xref = _one_to_one(xrefs - by_both, by_id | by_both, meta_ids.namespaces)
    by_xref = {pair for pair in by_xref if not _has_rival(target, meta, pair)}
    refused = len(xrefs) - len(by_both) - len(by_xref)
    surer = by_id | by_both | by_xref
    named = _match_names(target, meta, target_ids, meta_ids, surer) if by_name else None
    return Equivalences(frozenset(by_id), frozenset(by_both), frozenset(by_xref), named, refused)


def _match_names(
    target: Vocabulary,
    meta: Vocabulary,
    target_ids: ConceptIds,
    meta_ids: ConceptIds,
    surer: Collection[CrossPair],
) -> frozenset[CrossPair]:
    """Find the pairs with a name in common that surer evidence does not contradict."""
    matched: set[CrossPair] = set()
    for pairs in match_by_name(target, meta, lambda pair: _same_gene_status(target_ids, meta_ids, pair)):
        known = {*surer, *matched}
        unique = _one_to_one(pairs - known, known, meta_ids.namespaces)
        matched |= {pair for pair in unique if not _has_rival(target, meta, pair)}
    return frozenset(matched)


def _same_gene_status(target_ids: ConceptIds, meta_ids: ConceptIds, pair: CrossPair) -> bool:
    """Whether both are genes, or neither is."""
    return GENES.isdisjoint(target_ids.namespaces(pair[0])) == GENES.isdisjoint(meta_ids.namespaces(pair[1]))


def _one_to_one(
    pairs: Collection[CrossPair], surer: Collection[CrossPair], namespaces: Callable[[int], Iterable[str]]
) -> set[CrossPair]:
    """Select the pairs whose concepts are in no other pair (of the same namespace), nor in a surer one."""
    counts = Counter(meta_row for _, meta_row in {*pairs, *surer})
    unique = {(row, meta_row) for row, meta_row in pairs if counts[meta_row] == 1}
    # A concept of the metathesaurus in several pairs is in none of them, and does not count against others.
    by_namespace = Counter((row, name) for row, meta_row in {*unique, *surer} for name in namespaces(meta_row))
    return {
        (row, meta_row)
        for row, meta_row in unique
        if all(by_namespace[row, name] == 1 for name in namespaces(meta_row))
    }


def _has_rival(target: Vocabulary, meta: Vocabulary, pair: CrossPair) -> bool:
    """Whether a live concept of the target other than that of the pair has a preferred name of its partner."""
    row, meta_row = pair
    for name in meta.names(meta.concept_id(meta_row), kinds=("preferred",)):
        owners = {match.concept_id for match in target.find(name.text)}
        if target.concept_id(row) not in owners and any(not target[owner].obsolete for owner in owners):
            return True
    return False
