"""Who refers to whom: all that the inputs state about concepts being the same, names apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from nymlink.vocabulary.mappings import Mapping, MappingSet
from nymlink.vocabulary.merge.concepts import Concepts
from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.vocabulary import Vocabulary

Pair = tuple[int, int]
"""Two rows, that of the smaller key first."""

SHARED: Final = ("UMLS", "MESH")
"""Namespaces of ids that two concepts share to good purpose; a shared ICD code says little."""


class Links:
    """What vocabularies and mappings say.

    An exact mapping that is not sure (:attr:`Mapping.is_sure`) says no more than an xref does.

    Attributes:
        exact: pair → confidence of the best mapping that both are the same. Also pairs that are both mapped to the
            same id which is no concept here, if no other concept of their namespaces is.
        against: pair → what a mapping says they are instead.
        xrefs: row → rows of other namespaces that it refers to.
        shared: id in one of :data:`SHARED` → rows that refer to it.
        unknown: row → ids it is mapped to exactly that are no concepts here.
    """

    def __init__(self, vocabulary: Vocabulary, concepts: Concepts, mapping_sets: Sequence[MappingSet]) -> None:
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
                self._refer(row, canonical(xref, concepts.sources[row]))
        for mapping_set in mapping_sets:
            for mapping in mapping_set.mappings:
                self._heed(mapping)
        self._meet_at_hubs()
        self._counts = self._count()

    def rows(self) -> set[int]:
        """All rows that any link holds to another."""
        pairs = [*self._concepts.same, *self.exact, *self.against]
        return {
            *(row for pair in pairs for row in pair),
            *(row for one, others in self.xrefs.items() for row in (one, *others)),
            *(row for rows in self.shared.values() for row in rows),
        }

    def within_one_namespace(self) -> set[frozenset[Key]]:
        """Pairs of keys of one namespace that a mapping says are the same."""
        keys = self._concepts.keys
        return {frozenset((keys[one], keys[other])) for one, other in self.exact if keys[one][0] == keys[other][0]}

    def is_one_to_one(self, one: int, other: int) -> bool:
        """Whether an xref is the only one of its concept into that namespace, and the only one from its own."""
        forth, back = self._counts
        names = self._concepts.keys
        return forth[one, names[other][0]] == 1 and back[other, names[one][0]] == 1

    def shared_ids(self) -> Iterator[tuple[Key, list[int], frozenset[int]]]:
        """Yield ids in :data:`SHARED`, the rows that refer to each, and those of them that are one-to-one.

        One-to-one: no other concept of the row's namespace refers to the id, and the row to no other such id.
        """
        ids_of = Counter((row, namespace) for (namespace, _), rows in self.shared.items() for row in rows)
        for key, rows in self.shared.items():
            alone = _alone(rows, self._concepts)
            yield key, sorted(rows), frozenset(row for row in alone if ids_of[row, key[0]] == 1)

    def pair(self, one: int, other: int) -> Pair:
        """A pair in the order of its keys, so that nothing depends on the order of inputs."""
        keys = self._concepts.keys
        return (one, other) if keys[one] <= keys[other] else (other, one)

    def _refer(self, row: int, key: Key) -> None:
        found = self._concepts.row(key)
        own = self._concepts.keys[row]
        if found is not None:
            key = self._concepts.keys[found]
            if key[0] != own[0]:
                self.xrefs[row].add(found)
        if key[0] in SHARED and key[0] != own[0]:
            self.shared[key].add(row)

    def _heed(self, mapping: Mapping) -> None:
        keys = self._concepts.key(mapping.subject_id), self._concepts.key(mapping.object_id)
        one, other = map(self._concepts.row, keys)
        denied = mapping.is_exact if mapping.negated else mapping.is_inexact
        if denied and one is not None and other is not None and one != other:
            self.against[self.pair(one, other)] = ("not " if mapping.negated else "") + mapping.predicate_id
        elif mapping.negated:
            return
        elif mapping.is_xref or (mapping.is_exact and not mapping.is_sure):
            if one is not None:
                self._refer(one, keys[1])
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
        self._refer(row, key)

    def _meet_at_hubs(self) -> None:
        for rows in self._hubs.values():
            alone = sorted(_alone(rows, self._concepts))
            for place, one in enumerate(alone):
                for other in alone[place + 1 :]:
                    self.exact.setdefault(self.pair(one, other), min(rows[one], rows[other]))

    def _count(self) -> tuple[Counter[tuple[int, str]], Counter[tuple[int, str]]]:
        """How many xrefs go from each row into a namespace, and how many come to it out of one."""
        keys = self._concepts.keys
        xrefs = [(row, other) for row, others in self.xrefs.items() for other in others]
        return Counter((row, keys[other][0]) for row, other in xrefs), Counter(
            (other, keys[row][0]) for row, other in xrefs
        )


def _alone(rows: Iterable[int], concepts: Concepts) -> list[int]:
    """The rows that are the only one of their namespace."""
    by_namespace: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_namespace[concepts.keys[row][0]].append(row)
    return [found[0] for found in by_namespace.values() if len(found) == 1]
