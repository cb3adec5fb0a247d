"""Gold concepts, the ranks of right answers, and accuracies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Mention
from nymlink.index.hits import NONE
from nymlink.linking.pipeline import Found
from nymlink.rank.retrieval import Question
from nymlink.vocabulary.vocabulary import Vocabulary

Ranks = npt.NDArray[np.float64]


def as_array(ranks: Sequence[Rank]) -> Ranks:
    """Convert ranks, which count from 0, to float64 (n).

    The rank is infinite if the right answer was not found.
    """
    return np.array([np.inf if rank is None else rank for rank in ranks], np.float64)


def accuracy(ranks: Ranks, k: int) -> float:
    """Compute the share of ranks below k; NaN if there are no ranks."""
    return float(np.mean(ranks < k)) if len(ranks) else float("nan")


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """Compute the mean of 1 / (rank + 1); NaN if there are no ranks. An answer that was not found counts as 0."""
    return float(np.mean(1 / (ranks + 1))) if len(ranks) else float("nan")


class GoldResolver:
    """Finds the concept rows of gold ids.

    An id is first looked up as written; alternate and obsolete ids are followed. If it is unknown, it is looked up
    without its prefix (``OMIM:254200`` → ``254200``, as BioSyn does). If it is still unknown, it is looked up with
    each prefix of the vocabulary's ids, including alternate ids (``D009203`` or ``mesh:D009203`` →
    ``MESH:D009203``). The last result counts only if exactly one prefix knows the id.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, frozenset[int]] = {}

    def rows(self, concept_ids: Iterable[str]) -> frozenset[int]:
        """Return the rows of all concepts of these ids."""
        return frozenset().union(*(self._rows(concept_id) for concept_id in concept_ids))

    def knows(self, concept_ids: Iterable[str]) -> bool:
        """Whether each of these ids has a concept."""
        return all(map(self._rows, concept_ids))

    def require(self, corpus: Corpus, types: Collection[str] | None) -> None:
        """Check that a corpus has something to score.

        Raises:
            InputError: no mention (of these types, if given) has a gold id of the vocabulary.
        """
        if not any(
            self.rows(mention.concept_ids)
            for _, mention in corpus.mentions()
            if types is None or mention.type in types
        ):
            raise InputError("no mention has a gold id that the index has: nothing could be right")

    def _rows(self, concept_id: str) -> frozenset[int]:
        if concept_id not in self._known:
            self._known[concept_id] = self._look_up(concept_id)
        return self._known[concept_id]

    def _look_up(self, concept_id: str) -> frozenset[int]:
        as_written = self._resolve(concept_id)
        if as_written:
            return as_written
        prefix, colon, local = concept_id.partition(":")
        if colon:
            bare = self._resolve(local)
            if bare:
                return bare
        else:
            prefix, local = "", concept_id
        prefixes = [own for own in self._prefixes if not prefix or own.casefold() == prefix.casefold()]
        matches = [rows for rows in (self._resolve(f"{own}:{local}") for own in prefixes) if rows]
        return matches[0] if len(matches) == 1 else frozenset()

    def _resolve(self, concept_id: str) -> frozenset[int]:
        rows = (self._vocabulary.row(now) for now in self._vocabulary.resolve(concept_id))
        return frozenset(row for row in rows if row is not None)

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        columns = self._vocabulary.columns
        ids = pa.concat_arrays([*columns.concepts["id"].chunks, *columns.redirects["old"].chunks])
        prefixes = pc.unique(pc.extract_regex(ids, r"^(?P<prefix>[^:]+):").field("prefix"))
        return tuple(sorted(prefix for prefix in prefixes.to_pylist() if prefix))


DEPTH: Final = 64
"""Number of names, and number of concepts, that are retrieved for each query."""

Rank = int | None
"""Rank of the right answer, from 0; ``None`` if it is not among the first :data:`DEPTH`."""


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A mention with gold ids, and its queries.

    Attributes:
        document_id: its document.
        mention: the mention, with its gold ids.
        prepared: its prepared forms, several for a composite mention. They do not depend on the index.
        questions: the query of each prepared form. Queries depend on the index.
        first: place of the candidate that the document puts first to settle a tie; ``None`` if no tie was settled.
    """

    document_id: str
    mention: Mention
    prepared: tuple[str, ...]
    questions: tuple[Question, ...]
    first: int | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The searched text of each prepared form."""
        return tuple(question.text for question in self.questions)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ranks of the right answer to a query. A composite mention has the worst rank of its parts.

    Attributes:
        query: the query.
        gold: the rows of its gold concepts in the vocabulary.
        name_rank: rank among names. A name is right if one of its concepts is gold (lenient, as in Sung et al.
            2020 and in SapBERT).
        strict_rank: rank among names. A name is right if all of its concepts are gold. The parts of a composite
            mention must mean different gold concepts.
        concept_rank: rank among distinct concepts, as a user sees them.
        predicted: the rows (concept, name) of the first candidate of each part; ``None`` for a part without
            candidates.
    """

    query: GoldQuery
    gold: frozenset[int]
    name_rank: Rank
    strict_rank: Rank
    concept_rank: Rank
    predicted: tuple[tuple[int, int] | None, ...]


def outcomes(
    found: Found, queries: Sequence[GoldQuery], resolver: GoldResolver, *, as_published: bool = False
) -> list[Outcome]:
    """Find the ranks of the gold concepts of queries.

    Args:
        found: the candidates of all mentions of the documents, :data:`DEPTH` for each.
        queries: the queries.
        resolver: finds the concepts of gold ids.
        as_published: count each order of the words of a name as a separate name.
    """
    index = found.index
    texts = list(dict.fromkeys(part for query in queries for part in query.parts))
    place = {text: number for number, text in enumerate(texts)}
    entries = index.search.search(texts, DEPTH).hits.rows
    owners = index.vocabulary.columns.names["concept"].to_numpy()
    places = np.ones(len(index.entries), np.int64)
    if as_published:
        places += np.bincount(index.entries.reordered.rows, minlength=len(places))

    @cache  # Many queries find the same entry, so its sets are made only once.
    def names_of(entry: int) -> list[frozenset[int]]:
        """Return the concepts of an entry as often as the entry counts in the ranking of names."""
        return [index.entries.concepts(entry, owners)] * int(places[entry])

    def outcome(query: GoldQuery) -> Outcome:
        gold = resolver.rows(query.mention.concept_ids)
        by_name = [
            [concepts for row in rows if row != NONE for concepts in names_of(row)][:DEPTH]
            for rows in (entries[place[part]].tolist() for part in query.parts)
        ]
        by_concept = [found.concepts(one, query.first) for one in query.questions]
        return Outcome(
            query=query,
            gold=gold,
            name_rank=worst_rank([first_rank(bool(concepts & gold) for concepts in part) for part in by_name]),
            strict_rank=_strict(by_name, [resolver.rows([gold_id]) for gold_id in query.mention.concept_ids]),
            concept_rank=worst_rank([first_rank(concept in gold for concept in part) for part in by_concept]),
            predicted=tuple(found.first(one, query.first) for one in query.questions),
        )

    return [outcome(query) for query in queries]


def first_rank(hits: Iterable[bool]) -> Rank:
    """Return the rank of the first hit; ``None`` if there is none."""
    return next((rank for rank, hit in enumerate(hits) if hit), None)


def worst_rank(ranks: Sequence[Rank]) -> Rank:
    """Return the largest rank of the parts; ``None`` if a part is not found."""
    return None if None in ranks else max(rank for rank in ranks if rank is not None)


def _strict(parts: Sequence[Sequence[frozenset[int]]], golds: Sequence[frozenset[int]]) -> Rank:
    """Return the strict rank: the smallest rank up to which each part can have a different gold concept.

    If there is one part, or if there are not as many parts as gold ids, each part may have any gold concept.
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
    """Whether each row can have one of its wanted columns, and no two rows the same one.

    Kuhn 1955, augmenting paths.
    """
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
