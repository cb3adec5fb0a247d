"""Collect and weigh evidence that concepts of several sources are the same.

Evidence comes from claims, which are mappings, xrefs and equal ids, and from names that two concepts have in
common.

``docs/howto/merging.md`` explains how the confidences were estimated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.terminal import track
from nymlink.vocabulary.mappings import Mapping, MappingSet
from nymlink.vocabulary.merge.identifiers import Key, LiveConcepts, canonical
from nymlink.vocabulary.name_matching import exact_names, is_specific, loose_form, sorted_words
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""Two concept rows, ordered by their keys."""

SHARED: Final = ("UMLS", "MESH")
"""Namespaces in which a shared xref counts as evidence. A shared ICD code does not."""


class EquivalenceClaims:
    """Claims of xrefs and mappings about the identity of concepts.

    An unreliable exact mapping (:attr:`Mapping.is_reliable`) counts as an xref.

    Attributes:
        exact: pair → confidence of its best exact mapping. Two concepts that have an exact mapping to the same
            unknown id are a pair, too, if each is the only concept of its namespace with such a mapping.
        against: pair → the relation that a mapping states instead of equality ("not skos:exactMatch").
        xrefs: row → referenced rows of other namespaces.
        shared: id in :data:`SHARED` → referring rows.
        unknown: row → unknown ids with an exact mapping to it.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: LiveConcepts, mapping_sets: Sequence[MappingSet]) -> None:
        self._concepts = concepts
        self.exact: dict[Pair, float] = {}
        self.against: dict[Pair, str] = {}
        self.xrefs: dict[int, set[int]] = defaultdict(set)
        self.shared: dict[Key, set[int]] = defaultdict(set)
        self.unknown: dict[int, dict[str, None]] = defaultdict(dict)
        self._hubs: dict[Key, dict[int, float]] = defaultdict(dict)
        xrefs = vocabulary.columns.concepts["xrefs"].to_pylist()
        for row in concepts.live:
            for xref in xrefs[row]:
                self._add_xref(row, canonical(xref, concepts.sources[row]))
        for mapping_set in mapping_sets:
            for mapping in mapping_set.mappings:
                self._add_mapping(mapping)
        self._equate_at_hubs()
        self._counts = self._count_xrefs()

    def rows(self) -> set[int]:
        """Return all rows that occur in claims."""
        pairs = [*self._concepts.same, *self.exact, *self.against]
        return {
            *(row for pair in pairs for row in pair),
            *(row for one, others in self.xrefs.items() for row in (one, *others)),
            *(row for rows in self.shared.values() for row in rows),
        }

    def within_one_namespace(self) -> set[frozenset[Key]]:
        """Return the pairs of keys of one namespace with an exact mapping."""
        keys = self._concepts.keys
        return {frozenset((keys[one], keys[other])) for one, other in self.exact if keys[one][0] == keys[other][0]}

    def is_one_to_one(self, one: int, other: int) -> bool:
        """Whether an xref from ``one`` to ``other`` is the only one between their namespaces at both ends.

        Both are counted: the xrefs from ``one`` to that namespace, and the xrefs to ``other`` from the namespace
        of ``one``.
        """
        outgoing, incoming = self._counts
        keys = self._concepts.keys
        return outgoing[one, keys[other][0]] == 1 and incoming[other, keys[one][0]] == 1

    def shared_ids(self) -> Iterator[tuple[Key, list[int], frozenset[int]]]:
        """Yield each id in :data:`SHARED`, the rows that refer to it, and the one-to-one rows among them.

        A row is one-to-one if it is the only row of its namespace that refers to the id, and if it refers to no
        other id of the same kind.
        """
        id_counts = Counter((row, namespace) for (namespace, _), rows in self.shared.items() for row in rows)
        for key, rows in self.shared.items():
            unique = _unique_in_namespace(rows, self._concepts)
            yield key, sorted(rows), frozenset(row for row in unique if id_counts[row, key[0]] == 1)

    def pair(self, one: int, other: int) -> Pair:
        """Order the rows of a pair by their keys, so that the order of the inputs does not matter."""
        keys = self._concepts.keys
        return (one, other) if keys[one] <= keys[other] else (other, one)

    def _add_xref(self, row: int, key: Key) -> None:
        target = self._concepts.row(key)
        own = self._concepts.keys[row]
        if target is not None:
            key = self._concepts.keys[target]
            if key[0] != own[0]:
                self.xrefs[row].add(target)
        if key[0] in SHARED and key[0] != own[0]:
            self.shared[key].add(row)

    def _add_mapping(self, mapping: Mapping) -> None:
        keys = self._concepts.key(mapping.subject_id), self._concepts.key(mapping.object_id)
        one, other = map(self._concepts.row, keys)
        denied = mapping.is_exact if mapping.negated else mapping.is_inexact
        if denied and one is not None and other is not None and one != other:
            self.against[self.pair(one, other)] = ("not " if mapping.negated else "") + mapping.predicate_id
        elif mapping.negated:
            return
        elif mapping.is_xref or (mapping.is_exact and not mapping.is_reliable):
            if one is not None:
                self._add_xref(one, keys[1])
        elif mapping.is_exact:
            self._equate(one, other, mapping, keys)

    def _equate(self, one: int | None, other: int | None, mapping: Mapping, keys: tuple[Key, Key]) -> None:
        confidence = 1.0 if mapping.confidence is None else mapping.confidence
        if one is not None and other is not None:
            if one != other:
                pair = self.pair(one, other)
                self.exact[pair] = max(confidence, self.exact.get(pair, 0))
            return
        row, key = (other, keys[0]) if one is None else (one, keys[1])
        if row is None or not self._concepts.is_unknown(key):
            return
        self.unknown[row][mapping.subject_id if one is None else mapping.object_id] = None
        self._hubs[key][row] = max(confidence, self._hubs[key].get(row, 0))
        self._add_xref(row, key)

    def _equate_at_hubs(self) -> None:
        """Equate concepts mapped to the same unknown id."""
        for rows in self._hubs.values():
            unique = sorted(_unique_in_namespace(rows, self._concepts))
            for place, one in enumerate(unique):
                for other in unique[place + 1 :]:
                    self.exact.setdefault(self.pair(one, other), min(rows[one], rows[other]))

    def _count_xrefs(self) -> tuple[Counter[tuple[int, str]], Counter[tuple[int, str]]]:
        """Count the xrefs from each row to a namespace, and to each row from a namespace."""
        keys = self._concepts.keys
        xrefs = [(row, other) for row, others in self.xrefs.items() for other in others]
        return Counter((row, keys[other][0]) for row, other in xrefs), Counter(
            (other, keys[row][0]) for row, other in xrefs
        )


def _unique_in_namespace(rows: Iterable[int], concepts: LiveConcepts) -> list[int]:
    """Select the rows that are alone in their namespace."""
    by_namespace: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_namespace[concepts.keys[row][0]].append(row)
    return [members[0] for members in by_namespace.values() if len(members) == 1]


class Agreement(StrEnum):
    """Agreement of the names of two concepts.

    ``PREFERRED``: the preferred names are equal, except for word order, plurals, accents, and stop words.
    ``NAME``: the preferred name of one concept is an exact synonym of the other, in any word order.
    ``NONE``: the names do not agree.
    ``RIVAL``: a third concept, in the namespace of one of the two, has the preferred name of the other. Synonyms
    do not count then.
    """

    PREFERRED = "preferred names equal"
    NAME = "preferred name is a synonym"
    NONE = "no name in common"
    RIVAL = "preferred name is that of another concept"


class ConceptNames:
    """Comparable forms of the preferred and exact names of concepts.

    Args:
        vocabulary: the unmerged vocabulary.
        concepts: its concepts.
        compared: rows to compare.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: LiveConcepts, compared: Collection[int]) -> None:
        self._keys = concepts.keys
        names = exact_names(vocabulary.columns.names)
        # The first name is the preferred one, if any.
        named, first = np.unique(names["concept"].to_numpy(), return_index=True)
        self._preferred: dict[int, str] = dict(
            zip(named.tolist(), sorted_words(names["text"].take(first)), strict=True)
        )
        self._loose = {row: loose_form(name) for row, name in self._preferred.items()}
        self._rows_by_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in concepts.live:
            if row in self._loose:
                self._rows_by_name[self._keys[row][0], self._loose[row]].append(row)
        wanted = np.zeros(len(concepts.ids), bool)
        wanted[np.fromiter(compared, np.int64)] = True
        names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
        self._exact: dict[int, set[str]] = defaultdict(set)
        for row, name in zip(names["concept"].to_pylist(), sorted_words(names["text"]), strict=True):
            self._exact[row].add(name)

    def same_preferred(self, rows: list[int]) -> list[list[int]]:
        """Group rows with equal preferred names; leave out single rows."""
        groups: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            if row in self._loose:
                groups[self._loose[row]].append(row)
        return [group for group in groups.values() if len(group) > 1]

    def agreement(self, one: int, other: int) -> Agreement:
        """Compare the names of two concepts."""
        if one not in self._preferred or other not in self._preferred:
            return Agreement.NONE
        names = self._preferred[one], self._preferred[other]
        if names[0] == names[1]:
            return Agreement.PREFERRED
        if self._has_rival(one, other) or self._has_rival(other, one):
            return Agreement.RIVAL
        if self._loose[one] == self._loose[other]:
            return Agreement.PREFERRED
        synonyms = self._exact.get(one, ()), self._exact.get(other, ())
        if any(is_specific(name) and name in others for name, others in zip(names, synonyms[::-1], strict=True)):
            return Agreement.NAME
        return Agreement.NONE

    def _has_rival(self, one: int, other: int) -> bool:
        """Whether a third concept in the namespace of ``one`` has the preferred name of ``other``."""
        rows = self._rows_by_name.get((self._keys[one][0], self._loose[other]), [])
        return any(row not in (one, other) for row in rows)


SAME_ID: Final = "same id"
EXACT: Final = "exact match"
MUTUAL: Final = "mutual xrefs"
ONE_SIDED: Final = "one-sided xref"
SHARED_NAMES: Final = {"UMLS": "shared UMLS CUI", "MESH": "shared MeSH id"}

# (kind, one-to-one, agreement of names) → confidence, about the share of correct pairs. Combinations that are not
# listed join nothing. A curated mapping without a common name ranks above agreement by synonym.
_CONFIDENCE: Final = {
    **{(SAME_ID, True, agreement): 1.0 for agreement in Agreement},
    (EXACT, True, Agreement.PREFERRED): 0.995,
    (EXACT, True, Agreement.NAME): 0.98,
    (EXACT, True, Agreement.NONE): 0.975,
    (MUTUAL, True, Agreement.PREFERRED): 0.995,
    (MUTUAL, True, Agreement.NAME): 0.99,
    (MUTUAL, True, Agreement.NONE): 0.95,
    (MUTUAL, False, Agreement.PREFERRED): 0.99,
    (ONE_SIDED, True, Agreement.PREFERRED): 0.99,
    (ONE_SIDED, True, Agreement.NAME): 0.97,
    (ONE_SIDED, False, Agreement.PREFERRED): 0.98,
    (SHARED_NAMES["UMLS"], True, Agreement.PREFERRED): 0.99,
    (SHARED_NAMES["UMLS"], True, Agreement.NAME): 0.97,
    (SHARED_NAMES["UMLS"], False, Agreement.PREFERRED): 0.98,
    (SHARED_NAMES["MESH"], True, Agreement.PREFERRED): 0.98,
    (SHARED_NAMES["MESH"], False, Agreement.PREFERRED): 0.98,
}
# Genes and their products share names and ids: only a mapping joins a gene with something else.
GENES: Final = frozenset({"HGNC", "NCBIGENE", "ENSEMBL"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about a pair of concepts.

    Attributes:
        pair: their rows in the unmerged vocabulary.
        kinds: kinds of claims, most reliable first; ``(of several)`` marks a claim that is not one-to-one.
        names: agreement of their names.
        confidence: confidence that both are the same; 0 if they are not joined.
        against: reason for a confidence of 0.
        denied: whether a mapping denies that both are the same.
    """

    pair: Pair
    kinds: tuple[str, ...]
    names: Agreement
    confidence: float
    against: str = ""
    denied: bool = False


def claimed_pairs(
    concepts: LiveConcepts, claims: EquivalenceClaims, names: ConceptNames
) -> dict[Pair, dict[str, bool]]:
    """Collect the pairs in claims: pair → kind of claim → whether it is one-to-one."""
    pairs: dict[Pair, dict[str, bool]] = {}

    def add(one: int, other: int, kind: str, one_to_one: bool) -> None:
        kinds = pairs.setdefault(claims.pair(one, other), {})
        kinds[kind] = kinds.get(kind, False) or one_to_one

    for one, other in claims.against:
        pairs[one, other] = {}
    for one, other in concepts.same:
        add(one, other, SAME_ID, True)
    for one, other in claims.exact:
        add(one, other, EXACT, True)
    for one, others in claims.xrefs.items():
        for other in others:
            if one in claims.xrefs.get(other, ()):
                both = claims.is_one_to_one(one, other) and claims.is_one_to_one(other, one)
                add(one, other, MUTUAL, both)
            else:
                add(one, other, ONE_SIDED, claims.is_one_to_one(one, other))
    for (namespace, _), rows, unique in claims.shared_ids():
        for group in ([row for row in rows if row in unique], *names.same_preferred(rows)):
            for place, one in enumerate(group):
                for other in group[place + 1 :]:
                    if concepts.keys[one][0] != concepts.keys[other][0]:
                        add(one, other, SHARED_NAMES[namespace], one in unique and other in unique)
    return pairs


def weigh(
    concepts: LiveConcepts, claims: EquivalenceClaims, names: ConceptNames, *, progress: bool = False
) -> Iterator[Evidence]:
    """Weigh the evidence for each pair of concepts that claims say are equal.

    ``names`` has the names of all these concepts; ``progress`` shows progress if standard error is a terminal.
    """
    for pair, kinds in track(claimed_pairs(concepts, claims, names).items(), "comparing concepts", shown=progress):
        agreement = names.agreement(*pair)
        confidences = {
            kind: _CONFIDENCE.get((kind, one_to_one, agreement), 0.0) for kind, one_to_one in kinds.items()
        }
        if EXACT in confidences:
            confidences[EXACT] *= claims.exact[pair]
        elif _mixes_genes(concepts, pair) and not {SAME_ID, MUTUAL} & set(kinds):
            confidences = dict.fromkeys(kinds, 0.0)
        surest_first = sorted(confidences, key=lambda kind: (-confidences[kind], kind))
        denial = claims.against.get(pair)
        against = ""
        if denial is not None:
            against = f"a mapping says {denial}"
        elif not any(confidences.values()):
            against = _reason_against(concepts, pair, kinds, agreement)
        yield Evidence(
            pair=pair,
            kinds=tuple(kind if kinds[kind] else f"{kind} (of several)" for kind in surest_first),
            names=agreement,
            confidence=0.0 if against else confidences[surest_first[0]],
            against=against,
            denied=denial is not None,
        )


def _reason_against(concepts: LiveConcepts, pair: Pair, kinds: dict[str, bool], agreement: Agreement) -> str:
    if _mixes_genes(concepts, pair):
        return "a gene and something else"
    return str(agreement) if any(kinds.values()) else f"one of several, {agreement}"


def _mixes_genes(concepts: LiveConcepts, pair: Pair) -> bool:
    one, other = (concepts.keys[row][0] in GENES for row in pair)
    return one != other
