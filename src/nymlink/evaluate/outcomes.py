"""What became of each gold mention: at which rank the right answer stood, in each of three readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from nymlink.corpus.model import Mention
from nymlink.evaluate.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index

DEPTH: Final = 64
"""How many names and how many concepts are looked at for each query."""

Rank = int | None
"""0 for the best; ``None`` when the right answer is not among the first :data:`DEPTH`."""


@dataclass(frozen=True, slots=True)
class Query:
    """A gold mention, prepared.

    Attributes:
        document_id: its document.
        mention: the mention, with its gold ids.
        prepared: its prepared forms, more than one for a composite: whatever the index, the same.
        parts: what the index is asked for each of them.
    """

    document_id: str
    mention: Mention
    prepared: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one query. A composite is right only where each of its parts is: its rank is their worst.

    Attributes:
        query: the query.
        gold: rows of the gold concepts that the vocabulary holds.
        name_rank: counting names, a name being right when one of its concepts is gold (lenient: the reading of
            Sung et al. 2020 and of SapBERT).
        strict_rank: counting names, a name being right when all of its concepts are gold; the parts of a
            composite must mean different gold concepts.
        concept_rank: counting distinct concepts, as a user sees them.
        predicted: for each part the rows (concept, name) of its first candidate, or ``None``.
    """

    query: Query
    gold: frozenset[int]
    name_rank: Rank
    strict_rank: Rank
    concept_rank: Rank
    predicted: tuple[tuple[int, int] | None, ...]


def outcomes(
    index: Index, queries: Sequence[Query], resolver: GoldResolver, *, as_published: bool = False
) -> list[Outcome]:
    """Search all queries and find the ranks of their gold concepts.

    Args:
        index: what is searched.
        queries: for what.
        resolver: from ids to concepts.
        as_published: whether each order of the words of a name takes a place of its own.
    """
    texts = list(dict.fromkeys(part for query in queries for part in query.parts))
    place = {text: number for number, text in enumerate(texts)}
    entries = index.search.search(texts, DEPTH).hits.rows
    matches = index.match(texts, DEPTH)
    owners = index.vocabulary.columns.names["concept"].to_numpy()
    places = np.ones(len(index.entries), np.int64)
    if as_published:
        places += np.bincount(index.entries.other_rows, minlength=len(places))

    @cache  # An entry is found by many queries: each has its sets once, not once a query.
    def names_of(entry: int) -> list[frozenset[int]]:
        """For each place that an entry takes the concepts that it names."""
        return [index.entries.concepts(entry, owners)] * int(places[entry])

    def outcome(query: Query) -> Outcome:
        gold = resolver.rows(query.mention.concept_ids)
        by_name = [
            [concepts for row in rows if row != NONE for concepts in names_of(row)][:DEPTH]
            for rows in (entries[place[part]].tolist() for part in query.parts)
        ]
        by_concept = [matches.concepts[place[part]].tolist() for part in query.parts]
        firsts = [
            (int(matches.concepts[place[part], 0]), int(matches.names[place[part], 0])) for part in query.parts
        ]
        return Outcome(
            query=query,
            gold=gold,
            name_rank=worst_rank([first_rank(bool(found & gold) for found in part) for part in by_name]),
            strict_rank=_strict(by_name, [resolver.rows([gold_id]) for gold_id in query.mention.concept_ids]),
            concept_rank=worst_rank([first_rank(concept in gold for concept in part) for part in by_concept]),
            predicted=tuple(None if concept == NONE else (concept, name) for concept, name in firsts),
        )

    return [outcome(query) for query in queries]


def first_rank(hits: Iterable[bool]) -> Rank:
    """The rank of the first that is right; ``None`` where none is."""
    return next((rank for rank, hit in enumerate(hits) if hit), None)


def worst_rank(ranks: Sequence[Rank]) -> Rank:
    """The rank of the part that is found last; ``None`` where one is not found."""
    return None if None in ranks else max(rank for rank in ranks if rank is not None)


def _strict(parts: Sequence[Sequence[frozenset[int]]], golds: Sequence[frozenset[int]]) -> Rank:
    """The best of all ways to give each part a gold concept of its own; any one concept serves a single part."""
    if len(parts) == 1 or len(parts) != len(golds):
        gold = frozenset().union(*golds)
        return worst_rank([first_rank(bool(found) and found <= gold for found in part) for part in parts])
    ranks = [[first_rank(bool(found) and found <= gold for found in part) for gold in golds] for part in parts]
    for limit in sorted({rank for row in ranks for rank in row if rank is not None}):
        within = csr_matrix([[rank is not None and rank <= limit for rank in row] for row in ranks])
        if (maximum_bipartite_matching(within, perm_type="column") >= 0).all():
            return limit
    return None
