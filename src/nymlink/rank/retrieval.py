"""Find the candidates of questions, with all names by which each was found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Ints
from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.fusion.hybrid import ScoredHits
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.rank.question import Question

CANDIDATES: Final = 20
"""Candidates (K) of a question that are ranked."""

_BLOCK: Final = 512
"""Questions whose candidates are described together: bounds the memory of their names."""


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """The candidates of Q questions, and the entries by which they were found.

    Attributes:
        questions: the questions.
        matches: their K candidates, in the order of the index.
        hits: the entries that were found.
        query_of_hit: int64 (h): the question of each hit, ascending; those of one question best first.
        entry_of_hit: int32 (h): its entry.
        candidate_of_pair: int64 (p), ascending: a candidate, as question × K + place.
        hit_of_pair: int64 (p): a hit that is a name of it; those of one candidate best first.
    """

    questions: Sequence[Question]
    matches: Matches
    hits: ScoredHits
    query_of_hit: Ints
    entry_of_hit: Rows
    candidate_of_pair: Ints
    hit_of_pair: Ints

    @property
    def valid(self) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Whether there is a candidate at each place: bool (Q, K)."""
        found: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = self.matches.concepts != NONE
        return found

    def of_hits(self, values: Scores) -> Scores:
        """Select values (Q, H) of the hits that there are: float32 (h)."""
        rows = self.hits.hits.rows
        chosen: Scores = values[rows != NONE]
        return chosen


def retrieve(
    index: Index, questions: Sequence[Question], *, without: Sequence[Collection[int]] = ()
) -> Iterator[Retrieved]:
    """Find the candidates of questions, block by block.

    Args:
        index: to search.
        questions: Q questions.
        without: for each question, rows of entries that are taken for absent, as if the vocabulary lacked these
            names; empty for none.
    """
    for start in range(0, len(questions), _BLOCK):
        block = questions[start : start + _BLOCK]
        yield _retrieve(index, block, without[start : start + _BLOCK])


def _retrieve(index: Index, questions: Sequence[Question], without: Sequence[Collection[int]]) -> Retrieved:
    matches, hits = index.match_with_hits(
        [question.text for question in questions],
        CANDIDATES,
        surfaces=[question.surface for question in questions],
        without=without,
    )
    rows, entries = hits.hits.rows, index.entries
    query_of_hit, places = np.nonzero(rows != NONE)
    entry_of_hit = rows[query_of_hit, places]
    # One line for every name of every hit, then one for every candidate and hit.
    counts = entries.offsets[entry_of_hit + 1] - entries.offsets[entry_of_hit]
    hit_of_line = np.repeat(np.arange(len(entry_of_hit)), counts)
    within = np.arange(len(hit_of_line)) - np.repeat(np.cumsum(counts) - counts, counts)
    names = entries.names[entries.offsets[entry_of_hit][hit_of_line] + within]
    keys = query_of_hit[hit_of_line] * (len(index.vocabulary) + 1) + index.owners[names]
    candidate_of_line, known = _find_candidates(matches.concepts, keys, len(index.vocabulary) + 1)
    pairs = np.unique(candidate_of_line[known] * (len(entry_of_hit) + 1) + hit_of_line[known])
    candidate_of_pair, hit_of_pair = np.divmod(pairs, len(entry_of_hit) + 1)
    return Retrieved(questions, matches, hits, query_of_hit, entry_of_hit, candidate_of_pair, hit_of_pair)


def _find_candidates(
    concepts: Rows, keys: Ints, step: int
) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Find the candidate of each key (question × step + concept), and whether the question has it."""
    own = (np.arange(len(concepts))[:, None] * step + np.where(concepts == NONE, step - 1, concepts)).ravel()
    order = np.argsort(own, kind="stable")
    places = np.minimum(np.searchsorted(own[order], keys), max(len(own) - 1, 0))
    return order[places], own[order][places] == keys
