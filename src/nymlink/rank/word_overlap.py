"""Compare the words of questions and names, many pairs at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nymlink.core.store.arrays import Ints
from nymlink.index.entries.word_numbers import LONGEST, NumberedWords
from nymlink.index.fusion.hits import Scores

_ALIKE = 0.8
"""Likeness of two words with the same first letters; that of equal words is 1."""


def word_overlap(questions: NumberedWords, names: NumberedWords, question_of_name: Ints) -> Mapping[str, Scores]:
    """Compare the words of each name with those of its question.

    Words weigh as much as they are rare among the names of the index. A word is as much in the other text as the
    word there that is most like it.

    Args:
        questions: words of Q questions.
        names: words of N names.
        question_of_name: int64 (N): the question that each is compared with.

    Returns:
        float32 (N) each: ``covered`` and ``covering``, the shares of the weight of the question and of the name
        that the other has; ``agreement``, their harmonic mean; ``missing`` and ``extra``, how many words of the
        question the name lacks and how many it has more; ``rarest_missing`` and ``rarest_extra``, the largest
        weight of these; ``numerals_missing`` and ``numerals_extra``, how many numerals and single letters are
        among them; ``same_end`` and ``same_start``, the likeness of the last and of the first words.
    """
    asked = questions.take(question_of_name)
    words = asked.words[:, :, None] == names.words[:, None, :]
    stems = (asked.stems[:, :, None] == names.stems[:, None, :]) & (asked.stems[:, :, None] >= 0)
    likeness = np.where(
        words & (asked.words[:, :, None] >= 0), np.float32(1), np.where(stems, np.float32(_ALIKE), 0)
    )
    in_name, in_question = likeness.max(axis=2), likeness.max(axis=1)
    covered = _share(in_name, asked.weights)
    covering = _share(in_question, names.weights)
    missing = (in_name == 0) & (np.arange(LONGEST) < asked.counts[:, None])
    extra = (in_question == 0) & (np.arange(LONGEST) < names.counts[:, None])
    marks = (asked.marks[:, :, None] == names.marks[:, None, :]) & (asked.marks[:, :, None] > 0)
    pair = np.arange(len(question_of_name))
    last = (pair, np.maximum(asked.counts - 1, 0), np.maximum(names.counts - 1, 0))
    found = {
        "covered": covered,
        "covering": covering,
        "agreement": 2 * covered * covering / np.maximum(covered + covering, 1e-6),
        "missing": missing.sum(axis=1),
        "extra": extra.sum(axis=1),
        "rarest_missing": np.where(missing, asked.weights, 0).max(axis=1),
        "rarest_extra": np.where(extra, names.weights, 0).max(axis=1),
        "numerals_missing": ((asked.marks > 0) & ~marks.any(axis=2)).sum(axis=1),
        "numerals_extra": ((names.marks > 0) & ~marks.any(axis=1)).sum(axis=1),
        "same_end": likeness[last],
        "same_start": likeness[:, 0, 0],
    }
    return {name: values.astype(np.float32) for name, values in found.items()}


def _share(likeness: Scores, weights: Scores) -> Scores:
    shares: Scores = (likeness * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), np.float32(1e-6))
    return shares
