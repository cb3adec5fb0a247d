"""Find the groups of concepts that become one concept, and replace their ids.

nymlink applies the most reliable evidence first. If two pieces of evidence contradict each other, the more
reliable one therefore wins. Evidence is refused if it would join two concepts of one namespace (two MONDO ids). A
cluster depends only on evidence about concepts that are connected with it. Other evidence does not change it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.vocabulary.merge.evidence import Evidence
from nymlink.vocabulary.merge.identifiers import Key
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, SourceTables


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of concepts, and the evidence used and refused.

    Attributes:
        members: the rows of each merged concept, two or more.
        joins: the evidence used, the most reliable first.
        refusals: the refused evidence, with the reasons. Evidence that contradicts more reliable evidence comes
            first, then evidence that is too weak.
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
    """Join concepts by evidence. The order of joining depends only on the evidence and the keys.

    Args:
        evidence: the evidence about pairs of rows, one per pair.
        keys: row → its key, then its alternate keys. Two rows with different keys in one namespace are not joined.
            Alternate keys count for this, too.
        one_concept: pairs of keys that may be joined although they are in one namespace.
    """
    ordered = sorted(evidence, key=lambda item: _rank(item, keys))
    apart = [item.pair for item in ordered if item.denied]
    groups = _Groups(keys, frozenset(one_concept), apart)
    joins, clashes, weak = [], [], []
    for item in ordered:
        if not item.confidence:
            weak.append(item)
        elif clash := groups.join(*item.pair):
            clashes.append(replace(item, against=clash))
        else:
            joins.append(item)
    return Clusters(groups.members(), tuple(joins), (*clashes, *weak))


def _rank(evidence: Evidence, keys: Mapping[int, Sequence[Key]]) -> tuple[float, int, list[list[Key]]]:
    return -evidence.confidence, -len(evidence.kinds), sorted(sorted(keys[row]) for row in evidence.pair)


class _Groups:
    """Disjoint sets of rows (union-find). Two sets are joined only if no keys of theirs clash."""

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
        # For each group: namespace → keys of its rows, without and with alternate keys.
        self._own: dict[int, dict[str, set[Key]]] = {}
        self._all: dict[int, dict[str, set[Key]]] = {}
        self._apart: dict[int, set[int]] = defaultdict(set)
        for one, other in apart:
            self._apart[one].add(other)
            self._apart[other].add(one)

    def join(self, one: int, other: int) -> str:
        """Join the groups of two rows, or return the reason not to; empty if they are joined."""
        small, large = sorted((self._root(one), self._root(other)), key=lambda root: len(self._rows[root]))
        if small == large:
            return ""
        clash = self._clash(small, large)
        if not clash:
            self._parents[small] = large
            self._rows[large] += self._rows.pop(small)
            for keys_of_group in (self._own, self._all):
                for namespace, keys in keys_of_group.pop(small).items():
                    keys_of_group[large][namespace] |= keys
        return clash

    def members(self) -> tuple[tuple[int, ...], ...]:
        """Return the groups of two or more rows."""
        return tuple(sorted(tuple(sorted(rows)) for rows in self._rows.values() if len(rows) > 1))

    def _clash(self, small: int, large: int) -> str:
        for row in self._rows[small]:
            if not self._apart[row].isdisjoint(self._rows[large]):
                return "a mapping says that members are not the same"
        for namespace in sorted(self._all[small].keys() & self._all[large].keys()):
            pairs = self._distinct_keys(small, large, namespace)
            if pairs:
                one, other = min(pairs)
                return f"would join two concepts of {namespace}: {one[1]} and {other[1]}"
        return ""

    def _distinct_keys(self, small: int, large: int, namespace: str) -> list[list[Key]]:
        """Find pairs of keys of two groups in a namespace that belong to different concepts."""
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


def rewrite(
    parts: Sequence[SourceTables], merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]]
) -> list[SourceTables]:
    """Replace the ids of members by those of their merged concepts.

    The id of a member is kept as an xref, and as a redirect to the merged concept.

    Args:
        parts: the sources and their tables, in order of precedence.
        merged: id of a member → id of the merged concept, if they differ.
        xrefs: id of a concept → ids to add to its xrefs.
    """
    olds = pa.array(list(merged), pa.string())
    news = pa.array(list(merged.values()), pa.string())
    rewritten: list[SourceTables] = []
    for source, tables in parts:
        names = tables.names
        names = names.set_column(0, names.schema.field(0), _replace(names["concept_id"], olds, news))
        redirects = _redirects(tables.redirects, olds, news)
        if not rewritten:
            redirects = pa.concat_tables([redirects, pa.table([olds, news], schema=REDIRECT_SCHEMA)])
        concepts = _concepts(tables.concepts, merged, xrefs, olds)
        rewritten.append((source, replace(tables, concepts=concepts, names=names, redirects=redirects)))
    return rewritten


def _replace(column: pa.ChunkedArray, olds: pa.Array, news: pa.Array) -> pa.ChunkedArray:
    return pc.coalesce(news.take(pc.index_in(column, value_set=olds).combine_chunks()), column)


def _redirects(redirects: pa.Table, olds: pa.Array, news: pa.Array) -> pa.Table:
    redirects = redirects.set_column(1, REDIRECT_SCHEMA.field("new"), _replace(redirects["new"], olds, news))
    return redirects.filter(pc.not_equal(redirects["old"], redirects["new"]))


def _concepts(
    concepts: pa.Table, merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]], olds: pa.Array
) -> pa.Table:
    """Rewrite the concepts of a source. Only the rows that change become Python objects."""
    changing = pc.is_in(concepts["id"], value_set=pa.concat_arrays([olds, pa.array(list(xrefs), pa.string())]))
    changed = changing.to_numpy().copy()
    for field in ("xrefs", "parents", "replaced_by"):
        lists = concepts[field].combine_chunks()
        touched = pc.is_in(pc.list_flatten(lists), value_set=olds).to_numpy(zero_copy_only=False)
        changed[pc.list_parent_indices(lists).to_numpy()[touched]] = True
    rows = [_concept(row, merged, xrefs) for row in concepts.filter(pa.array(changed)).to_pylist()]
    both = pa.concat_tables([concepts, pa.Table.from_pylist(rows, schema=CONCEPT_SCHEMA)]).combine_chunks()
    order = np.arange(len(concepts))
    order[changed] = len(concepts) + np.arange(len(rows))
    return both.take(pa.array(order)).combine_chunks()


def _concept(row: dict[str, Any], merged: Mapping[str, str], xrefs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    old = row["id"]
    new = row["id"] = merged.get(old, old)
    for field in ("parents", "replaced_by"):
        row[field] = [above for above in dict.fromkeys(merged.get(id_, id_) for id_ in row[field]) if above != new]
    row["xrefs"] = [id_ for id_ in dict.fromkeys([old, *row["xrefs"], *xrefs.get(old, ())]) if id_ != new]
    return row
