"""From pairs of concepts to merged ones: the surest evidence first, and never against what is known.

A union that would put two concepts of one namespace together is refused: of two claims the surer one holds.
All that decides about a concept lies in its own connected component: evidence elsewhere changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nymlink.vocabulary.merge.evidence import Evidence
from nymlink.vocabulary.merge.identifiers import Key


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which concepts are one.

    Attributes:
        members: the rows of each merged concept, two or more.
        joins: the evidence that held, the surest first.
        refusals: the evidence that did not, with what is against it; first what clashed with surer evidence.
    """

    members: tuple[tuple[int, ...], ...]
    joins: tuple[Evidence, ...]
    refusals: tuple[Evidence, ...]


def cluster(
    evidence: Iterable[Evidence],
    *,
    keys: Mapping[int, Sequence[Key]],
    one_concept: Collection[frozenset[Key]] = (),
) -> Clusters:
    """Join concepts by evidence, in an order that depends on nothing but the evidence and the keys.

    Args:
        evidence: about pairs of rows, one a pair.
        keys: row → its key and alternate ones; rows of one namespace do not come together, nor does a row come to
            one that has another key of its namespace as an alternate.
        one_concept: pairs of keys of one namespace that may come together.
    """
    ordered = sorted(evidence, key=lambda found: _rank(found, keys))
    apart = [found.pair for found in ordered if found.denied]
    groups = _Groups(keys, frozenset(one_concept), apart)
    joins, clashes, weak = [], [], []
    for found in ordered:
        if not found.confidence:
            weak.append(found)
        elif clash := groups.join(*found.pair):
            clashes.append(replace(found, against=clash))
        else:
            joins.append(found)
    return Clusters(groups.members(), tuple(joins), (*clashes, *weak))


def _rank(found: Evidence, keys: Mapping[int, Sequence[Key]]) -> tuple[float, int, list[list[Key]]]:
    return -found.confidence, -len(found.kinds), sorted(sorted(keys[row]) for row in found.pair)


class _Groups:
    """Disjoint sets of rows."""

    def __init__(
        self,
        keys: Mapping[int, Sequence[Key]],
        one_concept: frozenset[frozenset[Key]],
        apart: Iterable[tuple[int, int]],
    ) -> None:
        self._keys_of = keys
        self._one_concept = one_concept
        self._parents: dict[int, int] = {}
        self._rows: dict[int, list[int]] = {}
        # Of each group: namespace → its rows' own keys, and those with the alternate ones.
        self._own: dict[int, dict[str, set[Key]]] = {}
        self._all: dict[int, dict[str, set[Key]]] = {}
        self._apart: dict[int, set[int]] = defaultdict(set)
        for one, other in apart:
            self._apart[one].add(other)
            self._apart[other].add(one)

    def join(self, one: int, other: int) -> str:
        """Join the groups of two rows; or say what is against it, and leave them as they are."""
        small, large = sorted((self._root(one), self._root(other)), key=lambda root: len(self._rows[root]))
        if small == large:
            return ""
        clash = self._clash(small, large)
        if not clash:
            self._parents[small] = large
            self._rows[large] += self._rows.pop(small)
            for known in (self._own, self._all):
                for namespace, keys in known.pop(small).items():
                    known[large][namespace] |= keys
        return clash

    def members(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two and more."""
        return tuple(sorted(tuple(sorted(rows)) for rows in self._rows.values() if len(rows) > 1))

    def _clash(self, small: int, large: int) -> str:
        for row in self._rows[small]:
            if not self._apart[row].isdisjoint(self._rows[large]):
                return "a mapping says that members are not the same"
        for namespace in sorted(self._all[small].keys() & self._all[large].keys()):
            pairs = self._unlike(small, large, namespace)
            if pairs:
                one, other = min(pairs)
                return f"would join two concepts of {namespace}: {one[1]} and {other[1]}"
        return ""

    def _unlike(self, small: int, large: int, namespace: str) -> list[list[Key]]:
        """Pairs of keys of two groups that are of one namespace and not of one concept."""
        ones, others = (self._own[group].get(namespace) or set() for group in (small, large))
        if not ones or not others:
            ones, others = self._all[small][namespace], self._all[large][namespace]
            if ones & others:
                return []
        pairs = (sorted((one, other)) for one in ones for other in others if one != other)
        return [pair for pair in pairs if frozenset(pair) not in self._one_concept]

    def _root(self, row: int) -> int:
        if row not in self._parents:
            self._parents[row] = row
            self._rows[row] = [row]
            keys = self._keys_of[row]
            self._own[row], self._all[row] = defaultdict(set), defaultdict(set)
            self._own[row][keys[0][0]].add(keys[0])
            for key in keys:
                self._all[row][key[0]].add(key)
        while self._parents[row] != row:
            self._parents[row] = row = self._parents[self._parents[row]]
        return row
