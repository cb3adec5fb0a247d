"""Normal forms by the million are those of one text."""

from __future__ import annotations

import string

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise
from nymlink.vocabulary.columns import normalise_all

ASCII = "".join(map(chr, range(128)))
TEXTS = st.lists(st.text(st.sampled_from(ASCII)) | st.text("aB -\t\x0b\x1f") | st.text(), max_size=8)


def check(chunks: list[list[str]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.large_string()) for chunk in chunks], pa.large_string())
    found = normalise_all(column)
    assert found.type == pa.large_string()
    assert found.to_pylist() == [normalise(text) for chunk in chunks for text in chunk]


@given(st.lists(TEXTS, max_size=3))
@example([])
@example([[], ["+++", "", " ", "a\0b", "\x1ca\x1f"], []])
def test_all_are_as_one_by_one(chunks: list[list[str]]) -> None:
    check(chunks)


def test_every_ascii_character_is_treated_the_same() -> None:
    check([[f"A{char}b" for char in ASCII], [f"{char}A {char} " for char in ASCII], [*string.punctuation]])


def test_a_slice_of_a_column_is_only_that() -> None:
    column = pa.chunked_array([pa.array(["A", "b-c", "é É"], pa.large_string())]).slice(1)
    assert normalise_all(column).to_pylist() == ["b c", "é é"]


def test_long_names_are_whole() -> None:
    check([["X-" * 5000, "é" * 10_000]])
