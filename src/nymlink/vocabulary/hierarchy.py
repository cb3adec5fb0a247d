"""Find concepts by the relations between them: descendants, near concepts, replaced ones, those with an xref."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection
from math import inf
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Array, Bools
from nymlink.vocabulary.columns import Columns
from nymlink.vocabulary.vocabulary import Vocabulary


def descendants(vocabulary: Vocabulary, roots: Collection[str]) -> Bools:
    """Find concepts and all their descendants. Cycles among parents do no harm.

    Args:
        vocabulary: a vocabulary of C concepts.
        roots: ids of concepts, or of parents that are not themselves concepts of the vocabulary.

    Returns:
        bool (C): whether a concept is one of the roots or a descendant of one.

    Raises:
        UnknownNameError: an id is neither a concept nor a parent.
    """
    concepts = vocabulary.columns.concepts
    children, parents = flatten_lists(concepts["parents"])
    ids, (parent_numbers,) = _number_ids(concepts["id"].combine_chunks(), parents)
    # Arrow cannot encode a lone surrogate (from a broken argument); no id contains one.
    requested = pa.array([root.encode(errors="replace") for root in roots], pa.binary()).cast(pa.string())
    starts = pc.index_in(requested, value_set=ids)
    for root, start in zip(roots, starts.to_pylist(), strict=True):
        if start is None:
            vocabulary.names(root)  # raises an error that also gives the current id of an old one
    return _reachable(starts.to_numpy(), parent_numbers, children, count=len(ids))[: len(vocabulary)]


def steps_between(vocabulary: Vocabulary, concept: int, others: Collection[int], *, most: int) -> float:
    """Count the steps from a concept to the nearest of others: up to a common ancestor, then down.

    A parent and a child are one step away, a sibling two.

    Args:
        vocabulary: the vocabulary.
        concept: row of the concept.
        others: rows of the others.
        most: largest number of steps.

    Returns:
        The number of steps; infinity if all others are farther away.
    """

    def steps_up(row: int) -> dict[str, int]:
        concept_id = vocabulary.concept_id(row)
        return {concept_id: 0, **vocabulary.ancestors(concept_id, most=most)}

    above = steps_up(concept)
    steps = [
        up + above[ancestor] for other in others for ancestor, up in steps_up(other).items() if ancestor in above
    ]
    return min((each for each in steps if each <= most), default=inf)


def find_superseded(columns: Columns, concepts: Bools) -> tuple[Bools, Bools]:
    """Find the obsolete concepts and alternate ids that lead, in one or several steps, to the given concepts.

    Args:
        columns: a vocabulary of C concepts and R redirects.
        concepts: bool (C): the concepts.

    Returns:
        bool (C): whether a concept is obsolete and leads to one of them; bool (R): whether a redirect does.
    """
    obsolete = columns.concepts["obsolete"].to_numpy()
    rows = np.flatnonzero(obsolete)
    owners, replacements = flatten_lists(columns.concepts["replaced_by"].take(pa.array(rows)))
    old, new = (columns.redirects[end].combine_chunks() for end in ("old", "new"))
    ids, (olds, news, replacing) = _number_ids(columns.concepts["id"].combine_chunks(), old, new, replacements)
    tails, heads = np.concatenate([news, replacing]), np.concatenate([olds, rows[owners]])
    reached = _reachable(np.flatnonzero(concepts), tails, heads, count=len(ids))
    return obsolete & reached[: len(concepts)], reached[news]


def flatten_lists(column: pa.ChunkedArray) -> tuple[Array, pa.Array]:
    """Flatten a column of lists.

    Returns:
        The row of each element, and the elements.
    """
    lists = column.combine_chunks()
    return pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)


def _number_ids(concepts: pa.Array, *others: pa.Array) -> tuple[pa.Array, list[Array]]:
    """Number all ids. Concepts come first, in the order of their rows.

    Returns:
        The ids in the order of their numbers, and the numbers of each of the ``others``.
    """
    encoded = pa.concat_arrays([concepts, *others]).dictionary_encode()
    lengths = [len(concepts), *map(len, others)]
    return encoded.dictionary, np.split(encoded.indices.to_numpy(), np.cumsum(lengths)[:-1])[1:]


def _reachable(starts: Array, tails: Array, heads: Array, *, count: int) -> Bools:
    """Find the nodes among 0 … count − 1 reachable from the starts along edges tail → head, with the starts."""
    order = np.argsort(tails, kind="stable")
    heads = heads[order]
    # The edges of node i are those from first[i] to first[i + 1].
    first = np.searchsorted(tails[order], np.arange(count + 1))
    reached = np.zeros(count, bool)
    frontier = np.unique(starts)
    while len(frontier):
        reached[frontier] = True
        lengths = first[frontier + 1] - first[frontier]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        next_nodes = np.unique(heads[np.repeat(first[frontier], lengths) + within])
        frontier = next_nodes[~reached[next_nodes]]
    return reached


class InvertedLists:
    """Index of the concepts of a vocabulary by the values in one of their lists. Obsolete concepts are left out.

    Args:
        vocabulary: the vocabulary.
        field: which list. With ``"parents"``, the index finds the children of a concept.
        key: maps values to keys that are compared; ``None`` compares the values themselves.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        field: Literal["parents", "xrefs"],
        *,
        key: Callable[[str], str] | None = None,
    ) -> None:
        concepts = vocabulary.columns.concepts
        owners, values = flatten_lists(concepts[field])
        live = ~concepts["obsolete"].to_numpy()[owners]
        encoded = values.filter(pa.array(live)).dictionary_encode()
        labels, codes = encoded.dictionary, encoded.indices.to_numpy()
        if key is not None:
            keyed = pa.array(map(key, labels.to_pylist()), pa.string()).dictionary_encode()
            labels, codes = keyed.dictionary, keyed.indices.to_numpy()[codes]
        order = pc.sort_indices(labels)
        rank = np.empty(len(labels), np.int64)
        rank[order.to_numpy()] = np.arange(len(labels))
        by_value = np.argsort(rank[codes], kind="stable")
        self._key = key
        self._values = labels.take(order)
        self._owners = owners[live][by_value]
        self._ends = np.searchsorted(rank[codes][by_value], np.arange(len(labels) + 1))

    def owners(self, value: str) -> list[int]:
        """Find the rows of the concepts that have a value, ascending."""
        wanted = value if self._key is None else self._key(value)
        place = bisect_left(range(len(self._values)), wanted, key=self._value)
        if place == len(self._values) or self._value(place) != wanted:
            return []
        owners: list[int] = np.unique(self._owners[self._ends[place] : self._ends[place + 1]]).tolist()
        return owners

    def _value(self, place: int) -> str:
        return str(self._values[place].as_py())
