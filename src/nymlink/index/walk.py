"""Find distinct concepts: collect the concepts of the entries that a search found, the best first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import HybridSearch, ScoredHits
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.languages import LanguageSearch
from nymlink.text.normalise import normalise
from nymlink.text.writing import ALIKE, compact, writing_likeness
from nymlink.vocabulary.vocabulary import Vocabulary

_BLOCK: Final = 1024
"""Number of queries searched at a time. It bounds the memory of their hits."""

_ENOUGH: Final = 10
"""Number of concepts that are enough for a ranker. A few more are not worth a second, deeper search."""

_SHALLOWEST: Final = 40
"""Smallest number of entries that are searched.

With a fixed minimum, the first concept and its confidence do not depend on the number of wanted concepts.

With so many names of MEDIC, one in a hundred mentions of NCBI disease and BC5CDR has too few concepts and is
searched again. With half as many names, it is one in thirty.
"""


@dataclass(frozen=True, slots=True)
class Matches:
    """The best concepts of Q queries, best first, each with the name that matched.

    Attributes:
        concepts: int32 (Q, k): concept rows of the vocabulary, distinct within a query.
            :data:`~nymlink.index.hits.NONE` fills the places after the last.
        names: int32 (Q, k): the name row that matched. If several names of the concept belong to the entry, it is
            the name of the most exact kind.
        scores: float32 (Q, k): total similarity; 1 is the best possible. Places without a concept have 0.
        parts: search → its unweighted scores: float32 (Q, k).
    """

    concepts: Rows
    names: Rows
    scores: Scores
    parts: Mapping[str, Scores]

    @classmethod
    def empty(cls, queries: int, k: int, parts: Iterable[str]) -> Matches:
        """Make the matches of queries that found nothing."""
        shape = (queries, k)
        return cls(
            concepts=np.full(shape, NONE, np.int32),
            names=np.full(shape, NONE, np.int32),
            scores=np.zeros(shape, np.float32),
            parts={name: np.zeros(shape, np.float32) for name in parts},
        )

    @classmethod
    def concatenated(cls, blocks: Sequence[Matches]) -> Matches:
        """Join the matches of blocks of queries. All blocks have the same k and the same searches."""
        return cls(
            concepts=np.concatenate([block.concepts for block in blocks]),
            names=np.concatenate([block.names for block in blocks]),
            scores=np.concatenate([block.scores for block in blocks]),
            parts={name: np.concatenate([block.parts[name] for block in blocks]) for name in blocks[0].parts},
        )

    def take(self, queries: npt.NDArray[np.int64]) -> Matches:
        """Copy the matches of the queries with these numbers. A number may be repeated."""
        return self._each(lambda values, _: values[queries])

    def cut(self, k: int) -> Matches:
        """Keep the first k concepts of each query."""
        return self._each(lambda values, _: values[:, :k])

    def reordered(self, order: npt.NDArray[np.int64]) -> Matches:
        """Put the concepts of each query into another order.

        Args:
            order: int64 (Q, k): for each new place, the former place of the concept.
        """
        queries = np.arange(len(order))[:, None]
        return self._each(lambda values, _: values[queries, order])

    def extended(self, deeper: Matches) -> Matches:
        """Append the concepts that only deeper matches of the same queries have. Their order is kept."""
        known = (deeper.concepts[:, :, None] == self.concepts[:, None, :]).any(axis=2)
        new = deeper._each(lambda values, empty: np.where(known, np.asarray(empty, values.dtype), values))
        joined = Matches(
            concepts=np.concatenate([self.concepts, new.concepts], axis=1),
            names=np.concatenate([self.names, new.names], axis=1),
            scores=np.concatenate([self.scores, new.scores], axis=1),
            parts={name: np.concatenate([own, new.parts[name]], axis=1) for name, own in self.parts.items()},
        )
        # Move empty places to the end.
        order = np.argsort(joined.concepts == NONE, axis=1, kind="stable")
        return joined.reordered(order).cut(deeper.concepts.shape[1])

    def _each(self, change: Callable[[npt.NDArray[Any], float], npt.NDArray[Any]]) -> Matches:
        """Change all arrays in the same way.

        The function is given an array, and the array's value for an empty place.
        """
        return Matches(
            concepts=change(self.concepts, NONE),
            names=change(self.names, NONE),
            scores=change(self.scores, 0),
            parts={name: change(scores, 0) for name, scores in self.parts.items()},
        )


def match(
    search: HybridSearch | LanguageSearch, entries: Entries, concept_of_name: Rows, queries: Sequence[str], k: int
) -> Matches:
    """Find the k best distinct concepts of each query.

    Concepts that share an entry are ordered by the kind of their name (see
    :data:`~nymlink.vocabulary.concepts.KINDS`), then as in the vocabulary. A query that is blank or similar to no
    name has no concepts.

    Args:
        search: the search that finds the entries.
        entries: E entries.
        concept_of_name: int32 (N): the concept row of each name row.
        queries: Q prepared texts.
        k: number of concepts, at least 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    blocks = [
        _match(search, entries, concept_of_name, queries[start : start + _BLOCK], k, depth=_depth(k), enough=k)
        for start in range(0, max(len(queries), 1), _BLOCK)
    ]
    return Matches.concatenated(blocks)


def match_with_hits(
    search: HybridSearch | LanguageSearch,
    entries: Entries,
    concept_of_name: Rows,
    queries: Sequence[str],
    k: int,
    *,
    without: Sequence[Collection[int]] = (),
) -> tuple[Matches, ScoredHits]:
    """Find the k best distinct concepts of each query, and the entries that the first search found.

    If these entries have fewer than k concepts, a deeper search follows only if they have fewer than
    :data:`_ENOUGH`.

    Args:
        search: the search that finds the entries.
        entries: E entries.
        concept_of_name: int32 (N): the concept row of each name row.
        queries: Q prepared texts, a few hundred at most.
        k: number of concepts, at least 1.
        without: for each query, rows of entries to skip; empty to skip nothing.
    """
    hits = search.search(queries, min(_depth(k), len(entries) + 1))
    matches = _match(
        search,
        entries,
        concept_of_name,
        queries,
        k,
        depth=_depth(k),
        enough=min(k, _ENOUGH),
        hits=hits,
        without=without,
    )
    return matches, hits.without(without) if len(without) else hits


def _depth(k: int) -> int:
    """Compute the number of entries to search for k concepts."""
    return max(3 * k + 5, _SHALLOWEST)


def _match(
    search: HybridSearch | LanguageSearch,
    entries: Entries,
    concept_of_name: Rows,
    queries: Sequence[str],
    k: int,
    *,
    depth: int,
    enough: int,
    hits: ScoredHits | None = None,
    without: Sequence[Collection[int]] = (),
) -> Matches:
    """Collect the concepts of the first ``depth`` entries, or of the given hits.

    Queries with fewer than ``enough`` concepts are searched again, four times as deep.
    """
    if hits is None:
        # Search for at most one more than all entries. If the last row is NONE, all entries were found.
        hits = search.search(queries, min(depth, len(entries) + 1))
    has_more = hits.hits.rows[:, -1] != NONE
    if len(without):
        hits = hits.without(without)
    matches = _walk(hits, entries, concept_of_name, k)
    short = ((matches.concepts[:, enough - 1] == NONE) & has_more).nonzero()[0].tolist()
    if short:
        deeper = _match(
            search,
            entries,
            concept_of_name,
            [queries[place] for place in short],
            k,
            depth=4 * depth,
            enough=enough,
            without=[without[place] for place in short] if len(without) else (),
        )
        matches.concepts[short], matches.names[short] = deeper.concepts, deeper.names
        matches.scores[short] = deeper.scores
        for name, scores in matches.parts.items():
            scores[short] = deeper.parts[name]
    return matches


def _walk(scored: ScoredHits, entries: Entries, concept_of_name: Rows, k: int) -> Matches:
    """Collect the first k distinct concepts of each query, in the order of the query's hits."""
    queries, places = np.nonzero(scored.hits.rows != NONE)
    rows = scored.hits.rows[queries, places]
    # Make one line for each name of each hit, in the order of the hits.
    counts = entries.offsets[rows + 1] - entries.offsets[rows]
    line = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
    names = entries.names[entries.offsets[rows][line] + within]
    concepts = concept_of_name[names]
    # Combine query and concept to one number, and find the first line of each number.
    _, first = np.unique(queries[line] * (np.int64(concepts.max(initial=0)) + 1) + concepts, return_index=True)
    first.sort()
    query = queries[line[first]]
    rank = _rank_in_group(query)
    first, query, rank = first[rank < k], query[rank < k], rank[rank < k]
    shape = (len(scored.hits.rows), k)
    at = (query, rank)
    hit = (query, places[line[first]])
    return Matches(
        concepts=_fill(shape, at, concepts[first], np.int32(NONE)),
        names=_fill(shape, at, names[first], np.int32(NONE)),
        scores=_fill(shape, at, scored.hits.scores[hit], np.float32(0)),
        parts={name: _fill(shape, at, scores[hit], np.float32(0)) for name, scores in scored.parts.items()},
    )


def _rank_in_group(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count 0, 1, 2 … within each run of equal values of an ascending array."""
    starts = np.searchsorted(groups, groups, side="left")
    ranks: npt.NDArray[np.int64] = np.arange(len(groups)) - starts
    return ranks


def _fill(
    shape: tuple[int, int],
    at: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    values: npt.NDArray[Any],
    empty: Any,
) -> npt.NDArray[Any]:
    filled = np.full(shape, empty)
    filled[at] = values
    return filled


_CAPITALS: Final = 0.8
"""Names at least this similar differ only in capitals.

They all count as equally similar, because capitals are often arbitrary.
"""

_LESS: Final = 0.99
"""Factor that lowers the score of an equal name with other capitals or signs, if another name is written exactly
like the mention. It is just enough to avoid a tie.
"""


class EqualName(NamedTuple):
    """A name that equals a query.

    Attributes:
        concept: row of the concept.
        name: row of the name.
        alike: whether the name is written like the mention.
    """

    concept: int
    name: int
    alike: bool


def order_equal_names(
    matches: Matches, place: int, vocabulary: Vocabulary, entries: Entries, query: str, surface: str | None
) -> None:
    """Order the concepts that have the query as a name, in place. Names written most like the mention come first.

    Each concept is shown with its name that is closest to the mention. If the mention as written equals no name,
    all concepts that have a name with its compact form are added. For example, "IL1RA" may mean "IL-1RA" or
    "IL1-RA".

    Args:
        matches: the matches of all queries.
        place: place of this query among all queries.
        vocabulary: the vocabulary of the concepts.
        entries: the entries of the index.
        query: the prepared text.
        surface: the mention as written; ``None`` if unknown. Without it, the concepts found stay in order.
    """
    equal = equal_names(vocabulary, entries, query, surface)
    concepts = matches.concepts[place]
    if len(equal) < 2 or concepts[0] not in {each.concept for each in equal}:
        return
    first = {each.concept: each for each in reversed(equal)}
    ordered = list(dict.fromkeys(each.concept for each in equal))
    if surface is None:
        found = [concept for concept in concepts.tolist() if concept in first]
        ordered = [*found, *(concept for concept in ordered if concept not in found)]
    ordered = ordered[: len(concepts)]
    rest = np.flatnonzero(~np.isin(concepts, list(first)))[: len(concepts) - len(ordered)]
    count = len(ordered)
    # All equal names get the scores of the first.
    for values in (matches.scores[place], *(scores[place] for scores in matches.parts.values())):
        _replace(values, np.full(count, values[0]), values[rest], empty=0)
    names = matches.names[place]
    _replace(names, [first[concept].name for concept in ordered], names[rest], empty=NONE)
    _replace(concepts, ordered, concepts[rest], empty=NONE)
    if surface is not None and first[ordered[0]].alike:
        next_score = matches.scores[place, count] if count < len(concepts) else 0
        for rank, concept in enumerate(ordered):
            if not first[concept].alike:
                matches.scores[place, rank] = max(matches.scores[place, rank] * _LESS, next_score)


def _replace(values: npt.NDArray[Any], first: npt.ArrayLike, rest: npt.NDArray[Any], *, empty: int) -> None:
    """Replace values, in place, by ``first`` and then ``rest``. The remaining places get the empty value."""
    new = np.concatenate([first, rest])
    values[: len(new)], values[len(new) :] = new, empty


def equal_names(vocabulary: Vocabulary, entries: Entries, query: str, surface: str | None) -> list[EqualName]:
    """Find the names that equal a query.

    Names written most like the mention come first, then the most reliable.
    """
    row = entries.find(query)
    if row is None:
        return []
    wanted = query
    rows: tuple[int, ...] = (row,)
    if surface is not None:
        wanted = normalise(surface)
        if wanted != query and compact(wanted) == compact(query):
            rows = entries.compact.find(query)
    names = [name for each in rows for name in entries.names_of(each).tolist()]
    keyed = []
    for place, name in enumerate(names):
        text = vocabulary.name(name).text
        likeness = 1.0 if surface is None else writing_likeness(surface, text)
        level = _level(likeness)
        # An entry also has names with its words in another order. These come last.
        keyed.append(((normalise(text) not in (query, wanted), -level, place), name, likeness > ALIKE))
    owners = vocabulary.columns.names["concept"]
    return [EqualName(owners[name].as_py(), name, alike) for _, name, alike in sorted(keyed)]


def _level(likeness: float) -> float:
    return likeness if likeness > ALIKE or likeness < _CAPITALS else _CAPITALS


def likeliest_name(vocabulary: Vocabulary, names: Sequence[int], query: str, surface: str | None) -> int:
    """Find the first of :func:`equal_names` of a query that is the normalised mention.

    Args:
        vocabulary: the vocabulary of the names.
        names: rows of the names of the entry that equals the query, at least one.
        query: the prepared text.
        surface: the mention as written, with the query as its normal form; ``None`` if unknown.
    """
    # Names with their words in another order come last, so their writing matters only if there are no others.
    same = [name for name in names if normalise(vocabulary.name(name).text) == query] or names
    if surface is None or len(same) == 1:
        return same[0]
    return max(same, key=lambda name: _level(writing_likeness(surface, vocabulary.name(name).text)))
