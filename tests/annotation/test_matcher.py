"""The dictionary matcher finds names whatever the order and the forms of their words."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.annotation.name_table import Level, NameTable
from tests.annotation.toy import MATCHER, NAMES, found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two seizures were seen.", [("seizures", "P:5")]),  # plural
        ("tumours of the colon", [("tumours of the colon", "P:14")]),  # British
        ("a colon tumor", [("colon tumor", "P:14")]),  # order, without preposition
        ("renal cysts, kidney cyst", [("renal cysts", "P:16"), ("kidney cyst", "P:16")]),
        ("pre-auricular pits", [("pre-auricular pits", "P:15")]),  # hyphen
        ("anomalies of the kidneys", [("anomalies of the kidneys", "P:1")]),
        ("ocular and ear malformations", [("ear malformations", "P:2")]),  # what stands for a word
        ("aortic calcifications", [("aortic calcifications", "P:23")]),  # derived
        ("hypoplasia of the left radius", [("hypoplasia of the left radius", "P:6")]),  # a qualifier between
        ("brachydactyly type A-1", [("brachydactyly type A-1", "P:19")]),
        ("dominantly inherited", [("dominantly inherited", "P:9")]),  # without words that add nothing
        ("a disease of childhood", [("childhood", "P:17")]),
        ("arachnodactyly", [("arachnodactyly", "P:20")]),  # no adverb, though it ends like one
        ("Crise", []),  # a name of another language
        ("severe pain", []),  # a qualifier names no finding
        ("The seizure-free child", [("seizure", "P:5")]),
        ("seizurelike", []),  # no hits inside words
        ("the cyst. Kidney function", []),  # not over the end of a sentence
        ("cyst which the kidney", []),  # not over a clause
        ("hypoplasia of the cerebellar vermis", []),  # an adjective belongs to the word behind it
        ("", []),
    ],
)
def test_names_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short and broad thumbs", [("short and broad thumbs", "P:3"), ("broad thumbs", "P:4")]),
        (
            "breast and ovarian cancer",
            [("breast and ovarian cancer", "P:22"), ("ovarian cancer", "P:21")],
        ),
        ("ear, or renal anomalies", [("ear, or renal anomalies", "P:2"), ("renal anomalies", "P:1")]),
        ("aplasia or hypoplasia of the radius", [("hypoplasia of the radius", "P:6")]),
        (
            "a cleft lip and palate",
            [("cleft lip", "P:11"), ("cleft lip and palate", "P:12"), ("cleft lip and palate", "P:13")],
        ),
        ("short stature and broad thumbs", [("broad thumbs", "P:4")]),  # "short" has its own noun
        ("seizures and broad thumbs", [("seizures", "P:5"), ("broad thumbs", "P:4")]),
    ],
)
def test_words_of_coordinations_are_shared(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_abbreviations_are_written_in_capitals() -> None:
    assert found("They all had ALL.") == [("ALL", "P:8")]
    assert found("All of them") == []


def test_definitions_of_a_document_are_carried_through() -> None:
    text = "Renal cysts (RC) are common. RC and RCs are benign, rc is not."
    assert found(text) == [("Renal cysts", "P:16"), ("RC", "P:16"), ("RC", "P:16"), ("RCs", "P:16")]


def test_what_a_document_defines_is_no_abbreviation_of_the_vocabulary() -> None:
    assert found("The anterior lateral ligament (ALL) was torn; ALL heals.") == []


def test_a_name_goes_on_behind_the_bracket_of_a_definition() -> None:
    assert found("acute lymphoblastic (AL) leukemia") == [("acute lymphoblastic (AL) leukemia", "P:8")]


def test_the_most_words_are_chosen_and_overlaps_are_kept_if_asked_for() -> None:
    text = "epileptic seizures"
    assert found(text) == [("epileptic seizures", "P:5")]
    assert found(text, overlaps=True) == [("epileptic seizures", "P:5"), ("seizures", "P:5")]


def test_less_sure_names_are_found_if_asked_for() -> None:
    assert found("severe pain", min_confidence=0.05) == [("severe", "P:10")]
    assert found("a disease of childhood", min_confidence=0.5) == []


def test_names_are_found_in_any_order_of_their_words() -> None:
    for words in permutations(("acute", "lymphoblastic", "leukemia")):
        assert found(f"An {' '.join(words)}.") == [(" ".join(words), "P:8")]


@given(
    st.text(max_size=60),
    st.sampled_from(sorted(name for names in NAMES.values() for name in names)),
    st.text(max_size=60),
)
def test_offsets_are_those_of_any_text(before: str, name: str, after: str) -> None:
    text = f"{before} {name} {after}"
    for hit in MATCHER.find(text, min_confidence=0.0, overlaps=True):
        assert 0 <= hit.start < hit.end <= len(text)
        assert text[hit.start : hit.end].strip() == text[hit.start : hit.end]
    spans = sorted((hit.start, hit.end) for hit in MATCHER.find(text))
    assert spans == [(hit.start, hit.end) for hit in MATCHER.find(text)]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.sampled_from(Level), st.integers(0, 99)), max_size=40))
def test_the_table_finds_what_a_dictionary_does(entries: list[tuple[int, Level, int]]) -> None:
    digests, levels, rows = zip(*entries, strict=True) if entries else ((), (), ())
    table = NameTable.of(np.array(digests, np.uint64), np.array(levels, np.uint8), np.array(rows, np.int32))
    for digest in {0, 1, 2**64 - 1, *(digest for digest, _, _ in entries)}:
        expected = [(level, row) for other, level, row in entries if other == digest]
        assert sorted(table.find(digest)) == sorted(expected)
        assert bool(table.passes(digest)) or not expected
