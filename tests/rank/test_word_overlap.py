"""Words of questions and names compared as arrays, against loops over strings."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.words import LONGEST, WordNumbers
from nymlink.rank.retrieval import OVERLAP, word_overlap
from nymlink.text.numerals import numerals

WORDS = ("anaemia", "anaemic", "anaem", "type", "typed", "2", "ii", "b", "beta", "cancer", "cancers", "of", "x")
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
QUESTION = st.lists(st.sampled_from([*WORDS, "unknown", "3", "anaemias", ""]), min_size=1, max_size=14).map(
    " ".join
)


def mark(word: str) -> str | None:
    return min(numerals(word), default=None)


def likeness(word: str, other: str) -> float:
    return 1.0 if word == other else 0.8 if word[:5] == other[:5] else 0.0


def naive(question: str, name: str, names: list[str]) -> dict[str, float]:
    """The same, word by word."""
    counts = Counter(word for other in names for word in other.split(" "))

    def weight(word: str) -> float:
        return math.log((len(names) + 1) / min(max(counts[word], 1), len(names)))

    asked, own = question.split(" ")[:LONGEST], name.split(" ")[:LONGEST]
    # A stem that no name has is like none: nor is the one of an unknown word like itself.
    in_name = [max(likeness(word, other) for other in own) for word in asked]
    in_question = [max(likeness(other, word) for word in asked) for other in own]
    missing = [word for word, alike in zip(asked, in_name, strict=True) if not alike]
    extra = [word for word, alike in zip(own, in_question, strict=True) if not alike]
    covered = sum(weight(w) * a for w, a in zip(asked, in_name, strict=True)) / sum(map(weight, asked))
    covering = sum(weight(w) * a for w, a in zip(own, in_question, strict=True)) / sum(map(weight, own))
    asked_marks, own_marks = [mark(word) for word in asked], [mark(word) for word in own]
    return {
        "covered": covered,
        "covering": covering,
        "agreement": 2 * covered * covering / (covered + covering) if covered + covering else 0,
        "missing": len(missing),
        "extra": len(extra),
        "rarest_missing": max(map(weight, missing), default=0),
        "rarest_extra": max(map(weight, extra), default=0),
        "numerals_missing": sum(one is not None and one not in own_marks for one in asked_marks),
        "numerals_extra": sum(one is not None and one not in asked_marks for one in own_marks),
        "same_end": likeness(asked[-1], own[-1]),
        "same_start": likeness(asked[0], own[0]),
    }


def overlap(names: list[str], pairs: list[tuple[str, int]]) -> dict[str, np.ndarray]:
    """Compare questions with names, by their places."""
    numbers = WordNumbers.of(pa.array(names, pa.large_string()))
    questions = list(dict.fromkeys(question for question, _ in pairs))
    places = np.array([questions.index(question) for question, _ in pairs], np.int64)
    rows = np.array([row for _, row in pairs], np.int32)
    found = word_overlap(numbers.of_texts(questions), numbers.of_entries(rows), places)
    return dict(zip(OVERLAP, found.T, strict=True))


@given(names=st.lists(NAME, min_size=1, max_size=6), questions=st.lists(QUESTION, min_size=1, max_size=4))
def test_is_what_loops_over_words_find(names: list[str], questions: list[str]) -> None:
    pairs = [(question, row) for question in questions for row in range(len(names))]
    found = overlap(names, pairs)
    for at, (question, row) in enumerate(pairs):
        expected = naive(question, names[row], names)
        assert {name: float(values[at]) for name, values in found.items()} == pytest.approx(expected, abs=1e-4)


def test_forms_of_a_word_count_for_less_than_the_word() -> None:
    found = overlap(["severe anaemia", "type 2"], [("anaemic", 0), ("anaemia", 0), ("type ii", 1), ("type 3", 1)])
    assert found["covered"].tolist()[:2] == pytest.approx([0.8, 1])
    assert found["same_end"].tolist() == pytest.approx([0.8, 1, 0, 0])
    assert found["extra"].tolist() == [1, 1, 1, 1]
    # A Roman numeral is the Arabic one.
    assert found["numerals_missing"].tolist() == [0, 0, 0, 1]
    assert found["numerals_extra"].tolist() == [0, 0, 0, 1]


def test_no_pairs() -> None:
    assert {len(values) for values in overlap(["one name"], []).values()} == {0}


@given(names=st.lists(NAME, min_size=1, max_size=6), questions=st.lists(QUESTION, min_size=1, max_size=4))
def test_other_questions_change_no_bit(names: list[str], questions: list[str]) -> None:
    pairs = [(question, row) for question in questions for row in range(len(names))]
    found = overlap(names, pairs)
    for at, pair in enumerate(pairs):
        alone = overlap(names, [pair])
        assert [values[at].tobytes() for values in found.values()] == [own[0].tobytes() for own in alone.values()]
