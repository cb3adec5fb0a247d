"""Compare the words of questions and names, many pairs at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, Ints
from nymlink.index.entries.word_numbers import NumberedWords
from nymlink.index.hits import Rows, Scores

_ALIKE: Final = 0.8
"""Likeness of two words with the same first letters; that of equal words is 1."""

_NONE: Final = -2
"""Number at the place of no word."""

_LEAST: Final = np.float32(1e-6)
"""Keeps a share from being divided by nothing."""


def word_overlap(questions: NumberedWords, names: NumberedWords, question_of_name: Ints) -> Mapping[str, Scores]:
    """Compare the words of each name with those of its question.

    Words weigh as much as they are rare among the names of the index. A word is as much in the other text as the
    word there that is most like it.

    Args:
        questions: words of Q questions.
        names: words of N names of the index, which has all of them.
        question_of_name: int64 (N): the question that each is compared with.

    Returns:
        float32 (N) each: ``covered`` and ``covering``, the shares of the weight of the question and of the name
        that the other has; ``agreement``, their harmonic mean; ``missing`` and ``extra``, how many words of the
        question the name lacks and how many it has more; ``rarest_missing`` and ``rarest_extra``, the largest
        weight of these; ``numerals_missing`` and ``numerals_extra``, how many numerals and single letters are
        among them; ``same_end`` and ``same_start``, the likeness of the last and of the first words.
    """
    width = int(questions.counts.max(initial=1))
    asked = _Padded.of(questions, width).take(question_of_name)
    name_of_word = np.repeat(np.arange(len(names.counts)), names.counts)
    # (n, W): each word of the names beside all words of its question.
    equal = names.words[:, None] == asked.words[name_of_word]
    alike = equal | (names.stems[:, None] == asked.stems[name_of_word])
    marked = (names.marks[:, None] == asked.marks[name_of_word]) & (names.marks[:, None] > 0)
    in_question = _likeness(equal.any(axis=1), alike.any(axis=1))
    in_name = _likeness(_any_word(equal, names), _any_word(alike, names))
    mark_in_name = _any_word(marked, names)
    covered = (in_name * asked.weights).sum(axis=1) / np.maximum(asked.weights.sum(axis=1), _LEAST)
    weight = np.add.reduceat(names.weights, names.starts)
    covering = np.add.reduceat(in_question * names.weights, names.starts) / np.maximum(weight, _LEAST)
    missing, extra = (in_name == 0) & asked.present, in_question == 0
    pair = np.arange(len(question_of_name))
    last = names.starts + names.counts - 1
    last_asked = (pair, asked.counts - 1)
    found = {
        "covered": covered,
        "covering": covering,
        "agreement": 2 * covered * covering / np.maximum(covered + covering, _LEAST),
        "missing": missing.sum(axis=1),
        "extra": np.add.reduceat(extra, names.starts, dtype=np.int64),
        "rarest_missing": np.where(missing, asked.weights, 0).max(axis=1),
        "rarest_extra": np.maximum.reduceat(np.where(extra, names.weights, 0), names.starts),
        "numerals_missing": ((asked.marks > 0) & ~mark_in_name).sum(axis=1),
        "numerals_extra": np.add.reduceat((names.marks > 0) & ~marked.any(axis=1), names.starts, dtype=np.int64),
        "same_end": _likeness(
            names.words[last] == asked.words[last_asked], names.stems[last] == asked.stems[last_asked]
        ),
        "same_start": _likeness(
            names.words[names.starts] == asked.words[:, 0], names.stems[names.starts] == asked.stems[:, 0]
        ),
    }
    return {name: values.astype(np.float32) for name, values in found.items()}


class _Padded(NamedTuple):
    """The words of texts side by side, W places each; at an empty one no number is that of a word.

    Attributes:
        words, stems, marks, weights: (N, W), as of :class:`~nymlink.index.entries.word_numbers.NumberedWords`.
        present: bool (N, W): whether there is a word.
        counts: int64 (N).
    """

    words: Rows
    stems: Rows
    marks: Rows
    weights: Scores
    present: Bools
    counts: Ints

    @classmethod
    def of(cls, numbered: NumberedWords, width: int) -> _Padded:
        present = np.arange(width) < numbered.counts[:, None]

        def spread(values: npt.NDArray[Any], empty: float) -> npt.NDArray[Any]:
            padded = np.full(present.shape, empty, values.dtype)
            padded[present] = values
            return padded

        return cls(
            # Unknown words of names and questions are not equal: names have none.
            spread(numbered.words, _NONE),
            spread(numbered.stems, _NONE),
            spread(numbered.marks, 0),
            spread(numbered.weights, 0),
            present,
            numbered.counts,
        )

    def take(self, places: Ints) -> _Padded:
        return _Padded(
            self.words[places],
            self.stems[places],
            self.marks[places],
            self.weights[places],
            self.present[places],
            self.counts[places],
        )


def _any_word(of_words: Bools, names: NumberedWords) -> Bools:
    """Tell whether any word of each name is so: bool (N, W) from bool (n, W)."""
    found: Bools = np.logical_or.reduceat(of_words, names.starts, axis=0)
    return found


def _likeness(equal: Bools, alike: Bools) -> Scores:
    likeness: Scores = np.where(equal, np.float32(1), np.where(alike, np.float32(_ALIKE), np.float32(0)))
    return likeness
