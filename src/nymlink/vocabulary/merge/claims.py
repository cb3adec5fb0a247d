"""The claims of mappings and xrefs that concepts are the same, or are not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from nymlink.vocabulary.mappings import Mapping, MappingSet
from nymlink.vocabulary.merge.concepts import LiveConcepts
from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""Two concept rows, that of the smaller key first."""

SHARED: Final = ("UMLS", "MESH")
"""Namespaces whose ids are evidence if two concepts share them as xrefs; a shared ICD code is not."""


class EquivalenceClaims:
    """The claims of vocabularies (xrefs) and mappings about the identity of concepts.

    An exact mapping that is not reliable (:attr:`Mapping.is_reliable`) counts as an xref.

    Attributes:
        exact: pair → confidence of the best mapping that both are the same. Two concepts mapped to the same id,
            which is no concept of the inputs, are also such a pair, if no other concept of their namespaces is.
        against: pair → the different relation that a mapping states.
        xrefs: row → rows of other namespaces to which it refers.
        shared: id in one of :data:`SHARED` → rows that refer to it.
        unknown: row → ids to which it is mapped exactly that are no concepts of the inputs.
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
        """Return all rows about which there is a claim."""
        pairs = [*self._concepts.same, *self.exact, *self.against]
        return {
            *(row for pair in pairs for row in pair),
            *(row for one, others in self.xrefs.items() for row in (one, *others)),
            *(row for rows in self.shared.values() for row in rows),
        }

    def within_one_namespace(self) -> set[frozenset[Key]]:
        """Return the pairs of keys of one namespace that a mapping states to be the same."""
        keys = self._concepts.keys
        return {frozenset((keys[one], keys[other])) for one, other in self.exact if keys[one][0] == keys[other][0]}

    def is_one_to_one(self, one: int, other: int) -> bool:
        """Whether an xref is the only one between its two concepts and each other's namespaces."""
        outgoing, incoming = self._counts
        keys = self._concepts.keys
        return outgoing[one, keys[other][0]] == 1 and incoming[other, keys[one][0]] == 1

    def shared_ids(self) -> Iterator[tuple[Key, list[int], frozenset[int]]]:
        """Yield ids in :data:`SHARED`, the rows that refer to each, and those of them that are one-to-one.

        One-to-one: no other concept of the row's namespace refers to the id, and the row refers to no other such
        id.
        """
        id_counts = Counter((row, namespace) for (namespace, _), rows in self.shared.items() for row in rows)
        for key, rows in self.shared.items():
            unique = _unique_in_namespace(rows, self._concepts)
            yield key, sorted(rows), frozenset(row for row in unique if id_counts[row, key[0]] == 1)

    def pair(self, one: int, other: int) -> Pair:
        """Order a pair by its keys, so that nothing depends on the order of inputs."""
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
        """Equate the concepts that are mapped to the same unknown id."""
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
    """Select the rows that are the only ones of their namespaces."""
    by_namespace: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_namespace[concepts.keys[row][0]].append(row)
    return [members[0] for members in by_namespace.values() if len(members) == 1]
