"""Questions, their candidates with all names found for each, and the words that questions and names share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Bools, Ints
from nymlink.index.entries.words import NumberedWords
from nymlink.index.fusion import ScoredHits
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.vocabulary.concepts import KINDS


class Question(NamedTuple):
    """A question to an index: which concept does this text mean?

    Attributes:
        text: the prepared text for the search.
        surface: the mention as written; ``None`` if unknown.
        rewritten: whether the text is another form or paraphrase of the mention.
        guessed: whether misspelt words were corrected by a guess.
        acronym: whether the mention is an acronym in capitals that the text does not define.
        concept: row of the concept, if the mention is the id of a concept; otherwise ``None``.
    """

    text: str
    surface: str | None = None
    rewritten: bool = False
    guessed: bool = False
    acronym: bool = False
    concept: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConceptTable:
    """Properties of the C concepts and the N names of an index.

    Attributes:
        entry_of_name: int32 (N): the entry of each name; :data:`~nymlink.index.hits.NONE` for names that are not
            searched.
        kind_of_name: int64 (N): place of the name's kind among :data:`~nymlink.vocabulary.concepts.KINDS`, which
            start with the most reliable kind.
        preferred_entry: int32 (C): the entry of each concept's most reliable searched name.
        entry_counts: int64 (C): number of entries of each concept.
        references: int64 (C): number of each concept's ids in other vocabularies.
    """

    entry_of_name: Rows
    kind_of_name: Ints
    preferred_entry: Rows
    entry_counts: Ints
    references: Ints

    @classmethod
    def of(cls, index: Index) -> ConceptTable:
        """Collect the properties of the concepts of an index."""
        entries, owners, columns = index.entries, index.owners, index.vocabulary.columns
        entry_of_name = np.full(index.vocabulary.name_count, NONE, np.int32)
        entry_of_name[entries.names] = np.repeat(np.arange(len(entries), dtype=np.int32), np.diff(entries.offsets))
        kinds = columns.names["kind"].combine_chunks()
        ranks = np.array([KINDS.index(kind) for kind in kinds.dictionary.to_pylist()], np.int64)
        kind_of_name = ranks[kinds.indices.to_numpy()]
        searched = np.flatnonzero(entry_of_name != NONE)
        # Find the first name of each concept, ordered by kind, then as in the vocabulary.
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
"""Number of ranked candidates of a question (K)."""

_BLOCK: Final = 512
"""Number of questions whose candidates are described together. It bounds the memory of their names."""


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The candidates of Q questions, and the entries that led to them.

    Attributes:
        questions: the questions.
        matches: K candidates of each question, in the order of the index.
        hits: the entries that were found.
        query_of_hit: int64 (h), ascending: the question of each hit. The hits of a question are in order, the best
            first.
        entry_of_hit: int32 (h): the entry of each hit.
        candidate_of_pair: int64 (p), ascending: the candidate of each pair of a candidate and a hit. Candidates
            are numbered question · K + place.
        hit_of_pair: int64 (p): the hit of each pair, which is a name of the candidate. The hits of a candidate are
            in order, the best first.
    """

    questions: Sequence[Question]
    matches: Matches
    hits: ScoredHits
    query_of_hit: Ints
    entry_of_hit: Rows
    candidate_of_pair: Ints
    hit_of_pair: Ints

    @cached_property
    def valid(self) -> Bools:
        """Whether there is a candidate at each place: bool (Q, K)."""
        found: Bools = self.matches.concepts != NONE
        return found

    @cached_property
    def names_found(self) -> Ints:
        """Number of hits that are names of each candidate: int64 (Q · K)."""
        return np.bincount(self.candidate_of_pair, minlength=self.valid.size)

    @cached_property
    def first_pairs(self) -> Ints:
        """The first pair of each candidate: int64 (Q · K). Without a pair, that of the next candidate."""
        return np.cumsum(self.names_found) - self.names_found

    def of_hits(self, values: Scores) -> Scores:
        """Select, from values (Q, H), those of existing hits: float32 (h)."""
        rows = self.hits.hits.rows
        chosen: Scores = values[rows != NONE]
        return chosen


def retrieve(
    index: Index, questions: Sequence[Question], *, without: Sequence[Collection[int]] = ()
) -> Iterator[Retrieved]:
    """Find the candidates of questions, block by block.

    Args:
        index: the index to search.
        questions: Q questions.
        without: for each question, rows of entries to skip, as if the vocabulary did not have these names; empty
            to skip nothing.
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
    # Make one line for each name of each hit, then one pair for each candidate and hit.
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
    """Find the candidate of each key, and whether the question has this candidate.

    A key is question · step + concept.
    """
    own = (np.arange(len(concepts))[:, None] * step + np.where(concepts == NONE, step - 1, concepts)).ravel()
    order = np.argsort(own, kind="stable")
    places = np.minimum(np.searchsorted(own[order], keys), max(len(own) - 1, 0))
    return order[places], own[order][places] == keys


_EQUAL, _SAME_STEM, _SAME_MARK = np.uint8(1), np.uint8(2), np.uint8(4)
"""Bits of what two words have in common: all letters, the first letters, the value of a numeral."""

_ANY_LIKENESS: Final = _EQUAL | _SAME_STEM
_LIKENESS: Final = np.array([0, 1, 0.8, 1], np.float32)
"""Similarity of two words by the first two bits."""

_LEAST: Final = np.float32(1e-6)
"""Smallest divisor of a share, so that nothing is divided by 0."""


OVERLAP: Final = (
    "covered",
    "covering",
    "agreement",
    "missing",
    "extra",
    "rarest_missing",
    "rarest_extra",
    "numerals_missing",
    "numerals_extra",
    "same_end",
    "same_start",
)
"""The columns of :func:`word_overlap`."""


def word_overlap(questions: NumberedWords, names: NumberedWords, question_of_name: Ints) -> Scores:
    """Compare the words of each name with those of its question.

    The weight of a word is its rarity among the names of the index. A word counts as present in the other text to
    the degree of its similarity to the most similar word there.

    Args:
        questions: words of Q questions.
        names: words of N names of the index.
        question_of_name: int64 (N): the question of each name.

    Returns:
        float32 (N, :data:`OVERLAP`): ``covered``, the share of the question's weight that the name has;
        ``covering``, the share of the name's weight that the question has; ``agreement``, the harmonic mean of
        both; ``missing`` and ``extra``, the number of words only in the question and only in the name;
        ``rarest_missing`` and ``rarest_extra``, the largest weight of such words; ``numerals_missing`` and
        ``numerals_extra``, the number of numerals and single letters only in the question and only in the name;
        ``same_end`` and ``same_start``, the similarity of the last and of the first words.
    """
    found = np.empty((len(question_of_name), len(OVERLAP)), np.float32)
    counts = questions.counts[question_of_name]
    # Questions with as many words are compared together. So no sum depends on the other questions.
    for count in np.unique(counts).tolist():
        own = np.flatnonzero(counts == count)
        of_names = names if len(own) == len(counts) else names.take(own)
        words = questions.starts[question_of_name[own]] + np.arange(count)[:, None]
        for place, column in enumerate(_overlap(questions, words, of_names)):
            found[own, place] = column
    return found


def _overlap(questions: NumberedWords, places: Ints, names: NumberedWords) -> Iterator[npt.NDArray[Any]]:
    """Compute the columns of :func:`word_overlap`.

    Args:
        questions: words of questions.
        places: int64 (W, N): the places of the words of the question of each name.
        names: words of N names.
    """
    asked_words, asked_stems, asked_marks = (questions[kind][places] for kind in range(3))
    weights = questions.weights[places]
    name_of_word = np.repeat(np.arange(len(names.counts)), names.counts)
    # (W, n): compare each word of the names with all words of its question.
    words, stems, marks = (
        own == asked.take(name_of_word, axis=1)
        for own, asked in zip(names[:3], (asked_words, asked_stems, asked_marks), strict=True)
    )
    marks &= names.marks > 0
    alike = words * _EQUAL | stems * _SAME_STEM | marks * _SAME_MARK
    in_question = np.bitwise_or.reduce(alike, axis=0)
    in_name = np.bitwise_or.reduceat(alike, names.starts, axis=1)
    covering_words, covered_words = _LIKENESS[in_question & _ANY_LIKENESS], _LIKENESS[in_name & _ANY_LIKENESS]
    covered = _sums(covered_words * weights) / np.maximum(_sums(weights), _LEAST)
    weight = np.add.reduceat(names.weights, names.starts)
    covering = np.add.reduceat(covering_words * names.weights, names.starts) / np.maximum(weight, _LEAST)
    missing, extra = covered_words == 0, covering_words == 0
    yield covered
    yield covering
    yield 2 * covered * covering / np.maximum(covered + covering, _LEAST)
    yield missing.sum(axis=0)
    yield np.add.reduceat(extra.view(np.uint8), names.starts)
    yield np.where(missing, weights, 0).max(axis=0)
    yield np.maximum.reduceat(np.where(extra, names.weights, 0), names.starts)
    yield ((asked_marks > 0) & (in_name < _SAME_MARK)).sum(axis=0)
    yield np.add.reduceat(((names.marks > 0) & (in_question < _SAME_MARK)).view(np.uint8), names.starts)
    for own, place in ((names.starts + names.counts - 1, -1), (names.starts, 0)):
        equal = names.words[own] == asked_words[place]
        same_stem = names.stems[own] == asked_stems[place]
        yield _LIKENESS[equal * _EQUAL | same_stem * _SAME_STEM]


def _sums(values: Scores) -> Scores:
    """Add up the W values of each of N names, given as (W, N)."""
    sums: Scores = np.ascontiguousarray(values.T).sum(axis=1)
    return sums
