"""The outcome of each gold mention: the rank of the right answer, in three readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from nymlink.corpus.model import Mention
from nymlink.evaluation.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.rank.question import Question
from nymlink.rank.ranker import Ranking

DEPTH: Final = 64
"""The number of names, and of concepts, retrieved for each query."""

Rank = int | None
"""0 for the best; ``None`` when the right answer is not among the first :data:`DEPTH`."""


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A gold mention, prepared.

    Attributes:
        document_id: its document.
        mention: the mention, with its gold ids.
        prepared: its prepared forms, several for a composite; they do not depend on the index.
        questions: the query of each prepared form, which depends on the index.
    """

    document_id: str
    mention: Mention
    prepared: tuple[str, ...]
    questions: tuple[Question, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """What is searched for each prepared form."""
        return tuple(question.text for question in self.questions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ranks of the right answer to a query; a composite has the worst rank of its parts.

    Attributes:
        query: the query.
        gold: the rows of its gold concepts in the vocabulary.
        name_rank: counting names, a name being right when one of its concepts is gold (lenient: the reading of
            Sung et al. 2020 and of SapBERT).
        strict_rank: counting names, a name being right when all of its concepts are gold; the parts of a
            composite must mean different gold concepts.
        concept_rank: counting distinct concepts, as a user sees them.
        predicted: the rows (concept, name) of the first candidate of each part, or ``None``.
    """

    query: GoldQuery
    gold: frozenset[int]
    name_rank: Rank
    strict_rank: Rank
    concept_rank: Rank
    predicted: tuple[tuple[int, int] | None, ...]


def outcomes(
    index: Index, queries: Sequence[GoldQuery], resolver: GoldResolver, *, as_published: bool = False
) -> list[Outcome]:
    """Search all queries and find the ranks of their gold concepts.

    Args:
        index: the index to search.
        queries: the queries.
        resolver: finds the concepts of gold ids.
        as_published: count each order of the words of a name as a name of its own.
    """
    texts = list(dict.fromkeys(part for query in queries for part in query.parts))
    place = {text: number for number, text in enumerate(texts)}
    entries = index.search.search(texts, DEPTH).hits.rows
    asked = {
        one: number
        for number, one in enumerate(dict.fromkeys(one for query in queries for one in query.questions))
    }
    # What was published has no ranker.
    ranking = Ranking(index.with_ranker(None) if as_published else index)
    matches = ranking.match(list(asked), DEPTH).matches
    owners = index.vocabulary.columns.names["concept"].to_numpy()
    places = np.ones(len(index.entries), np.int64)
    if as_published:
        places += np.bincount(index.entries.reordered.rows, minlength=len(places))

    @cache  # Many queries find the same entry: its sets are made once.
    def names_of(entry: int) -> list[frozenset[int]]:
        """Return the concepts of an entry, once for each place that it takes in the ranking."""
        return [index.entries.concepts(entry, owners)] * int(places[entry])

    def outcome(query: GoldQuery) -> Outcome:
        gold = resolver.rows(query.mention.concept_ids)
        by_name = [
            [concepts for row in rows if row != NONE for concepts in names_of(row)][:DEPTH]
            for rows in (entries[place[part]].tolist() for part in query.parts)
        ]
        by_concept = [matches.concepts[asked[one]].tolist() for one in query.questions]
        firsts = [
            (int(matches.concepts[asked[one], 0]), int(matches.names[asked[one], 0])) for one in query.questions
        ]
        return Outcome(
            query=query,
            gold=gold,
            name_rank=worst_rank([first_rank(bool(concepts & gold) for concepts in part) for part in by_name]),
            strict_rank=_strict(by_name, [resolver.rows([gold_id]) for gold_id in query.mention.concept_ids]),
            concept_rank=worst_rank([first_rank(concept in gold for concept in part) for part in by_concept]),
            predicted=tuple(None if concept == NONE else (concept, name) for concept, name in firsts),
        )

    return [outcome(query) for query in queries]


def first_rank(hits: Iterable[bool]) -> Rank:
    """Return the rank of the first hit; ``None`` where there is none."""
    return next((rank for rank, hit in enumerate(hits) if hit), None)


def worst_rank(ranks: Sequence[Rank]) -> Rank:
    """Return the largest rank of the parts; ``None`` where a part is not found."""
    return None if None in ranks else max(rank for rank in ranks if rank is not None)


def _strict(parts: Sequence[Sequence[frozenset[int]]], golds: Sequence[frozenset[int]]) -> Rank:
    """Return the strict rank: the least rank within which each part can have a gold concept of its own.

    A single part, or parts that are not as many as the gold concepts, may take any of them.
    """
    if len(parts) == 1 or len(parts) != len(golds):
        gold = frozenset().union(*golds)
        return worst_rank([first_rank(bool(ids) and ids <= gold for ids in part) for part in parts])
    ranks = [[first_rank(bool(ids) and ids <= gold for ids in part) for gold in golds] for part in parts]
    for limit in sorted({rank for row in ranks for rank in row if rank is not None}):
        if _all_can_have_one([[rank is not None and rank <= limit for rank in row] for row in ranks]):
            return limit
    return None


def _all_can_have_one(wanted: Sequence[Sequence[bool]]) -> bool:
    """Whether each row can have a column of its own among those that it wants (Kuhn 1955, augmenting paths)."""
    owners: dict[int, int] = {}

    def find(row: int, tried: set[int]) -> bool:
        for column, wants in enumerate(wanted[row]):
            if wants and column not in tried:
                tried.add(column)
                if column not in owners or find(owners[column], tried):
                    owners[column] = row
                    return True
        return False

    return all(find(row, set()) for row in range(len(wanted)))
