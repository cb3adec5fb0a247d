"""What a ranker is asked, what it knows of concepts, and the candidates of questions.

Candidates come with all names by which they were found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Ints
from nymlink.index.fusion import ScoredHits
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.vocabulary.model import KINDS


@dataclass(frozen=True, slots=True)
class Question:
    """A query for a name.

    Attributes:
        text: the prepared text that is searched for.
        surface: the mention as it was written; ``None`` where that is not known.
        rewritten: whether the text is another form or paraphrase of the mention.
        guessed: whether misspelt words of it were guessed.
        acronym: whether the mention is in capitals that no definition wrote out.
    """

    text: str
    surface: str | None = None
    rewritten: bool = False
    guessed: bool = False
    acronym: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ConceptTable:
    """Names and references of the C concepts and N names of an index.

    Attributes:
        entry_of_name: int32 (N): the entry of each name; :data:`~nymlink.index.hits.NONE` where it is not
            searched.
        kind_of_name: int64 (N): place of its kind among :data:`~nymlink.vocabulary.model.KINDS`, the surest first.
        preferred_entry: int32 (C): the entry of the surest name of each concept that is searched.
        entry_counts: int64 (C): how many entries are names of it.
        references: int64 (C): how many identifiers elsewhere it refers to.
    """

    entry_of_name: Rows
    kind_of_name: Ints
    preferred_entry: Rows
    entry_counts: Ints
    references: Ints

    @classmethod
    def of(cls, index: Index) -> ConceptTable:
        """Collect what is known of the concepts of an index."""
        entries, owners, columns = index.entries, index.owners, index.vocabulary.columns
        entry_of_name = np.full(index.vocabulary.name_count, NONE, np.int32)
        entry_of_name[entries.names] = np.repeat(np.arange(len(entries), dtype=np.int32), np.diff(entries.offsets))
        kinds = columns.names["kind"].combine_chunks()
        ranks = np.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], np.int64)
        kind_of_name = ranks[kinds.indices.to_numpy()]
        searched = np.flatnonzero(entry_of_name != NONE)
        # The first of each concept by kind, then as in the vocabulary.
        surest = searched[np.lexsort((searched, kind_of_name[searched], owners[searched]))]
        concepts, first = np.unique(owners[surest], return_index=True)
        preferred_entry = np.full(len(index.vocabulary), NONE, np.int32)
        preferred_entry[concepts] = entry_of_name[surest[first]]
        named = np.unique(owners[searched].astype(np.int64) * len(entries) + entry_of_name[searched])
        return cls(
            entry_of_name=entry_of_name,
            kind_of_name=kind_of_name,
            preferred_entry=preferred_entry,
            entry_counts=np.bincount(named // max(len(entries), 1), minlength=len(index.vocabulary)),
            references=_lengths(columns.concepts["xrefs"]),
        )


def _lengths(lists: pa.ChunkedArray) -> Ints:
    lengths: Ints = pc.list_value_length(lists).to_numpy().astype(np.int64)
    return lengths


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
