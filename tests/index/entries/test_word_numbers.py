"""Words by number, against sets of strings."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import StoreError
from nymlink.core.store.manifest import seal
from nymlink.index.entries.words import LONGEST, WordNumbers
from nymlink.index.index import Index
from tests.index.small import vocabulary

TEXT = st.lists(st.text(st.sampled_from("abcdé2心-"), min_size=1, max_size=7), min_size=1, max_size=14).map(
    " ".join
)


def of(*texts: str) -> WordNumbers:
    return WordNumbers.of(pa.array(texts, pa.large_string()))


def words_of(numbers: WordNumbers, texts: list[str], *, rows: bool) -> list[list[tuple[int, int, int, float]]]:
    """(word, stem, mark, weight) of each word of texts, as entries by their rows or as other texts."""
    found = numbers.of_entries(np.arange(len(texts), dtype=np.int32)) if rows else numbers.of_texts(texts)
    columns = [values.tolist() for values in (found.words, found.stems, found.marks, found.weights)]
    lines = list(zip(*columns, strict=True))
    return [
        lines[start : start + count]
        for start, count in zip(found.starts.tolist(), found.counts.tolist(), strict=True)
    ]


@given(st.lists(TEXT, min_size=1, max_size=8))
def test_words_and_stems_are_equal_where_their_letters_are(texts: list[str]) -> None:
    numbers = of(*texts)
    assert len(numbers) == len(texts)
    lines = words_of(numbers, texts, rows=True)
    assert [len(line) for line in lines] == [min(len(text.split(" ")), LONGEST) for text in texts]
    named = [
        (word, line)
        for text, own in zip(texts, lines, strict=True)
        for word, line in zip(text.split(" "), own, strict=False)
    ]
    counts = Counter(word for text in texts for word in text.split(" "))
    for word, (number, stem, _, weight) in named:
        for other, (other_number, other_stem, _, _) in named:
            assert (number == other_number) == (word == other)
            assert (stem == other_stem) == (word[:5] == other[:5])
        assert weight == pytest.approx(math.log((len(texts) + 1) / min(counts[word], len(texts))), abs=1e-5)
    # A text that is an entry has the same words as the entry.
    assert words_of(numbers, texts, rows=False) == lines


@given(st.lists(TEXT, min_size=1, max_size=5), TEXT)
def test_words_that_no_entry_has_are_as_rare_as_can_be(texts: list[str], other: str) -> None:
    [line] = words_of(of(*texts), [other], rows=False)
    known = {word for text in texts for word in text.split(" ")}
    stems = {word[:5] for word in known}
    for word, (number, stem, _, weight) in zip(other.split(" "), line, strict=False):
        assert (number >= 0) == (word in known)
        assert (stem >= 0) == (word[:5] in stems)
        if word not in known:
            assert weight == pytest.approx(math.log(len(texts) + 1), abs=1e-5)


def test_numerals_and_letters_have_marks_however_they_are_written() -> None:
    [[one, two, three, four, five]] = words_of(of("x"), ["ii 2 b 3 word"], rows=False)
    assert one[2] == two[2] != 0
    assert len({two[2], three[2], four[2]}) == 3
    assert five[2] == 0
    # None is taken for having no mark.
    marks = [line[2] for line in words_of(of("x"), [" ".join(map(str, range(12)))], rows=False)[0]]
    assert len(set(marks)) == 12
    assert 0 not in marks


def test_without_entries_no_word_is_known() -> None:
    numbers = WordNumbers.none()
    assert len(numbers) == 0
    [line] = words_of(numbers, ["heart attack"], rows=False)
    assert [(number, stem, weight) for number, stem, _, weight in line] == [(-1, -1, 0)] * 2
    assert numbers.of_texts([]).words.shape == (0,)


def test_they_are_mapped_from_their_files(tmp_path: Path) -> None:
    texts = ["heart attack", "type 2 heart attack", "心筋 梗塞", "one " * 20 + "end"]
    numbers = of(*texts)
    numbers.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(WordNumbers.FILES)
    kept = WordNumbers.load(tmp_path)
    assert words_of(kept, texts, rows=True) == words_of(numbers, texts, rows=True)
    asked = ["hearts attack 2 now"]
    assert words_of(kept, asked, rows=False) == words_of(numbers, asked, rows=False)


DAMAGE = {
    "word_numbers.npy": np.array([0, 1, 99], np.int32),
    "word_offsets.npy": np.array([0, 3, 2], np.int64),
    "word_stem_of_word.npy": np.array([-1, 0], np.int32),
    "word_weights.npy": np.zeros(1, np.float32),
    "word_marks.npy": np.zeros(9, np.int32),
    "word_hashes.npy": np.zeros(0, np.uint64),
}


@pytest.mark.parametrize("file", sorted(DAMAGE))
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, file: str) -> None:
    of("heart attack", "attack").save(tmp_path)
    np.save(tmp_path / file, DAMAGE[file])
    with pytest.raises(ValueError, match="words"):
        WordNumbers.load(tmp_path)


def test_an_index_with_such_arrays_is_damaged(tmp_path: Path) -> None:
    Index.build(vocabulary({"X:1": ["heart attack"], "X:2": ["attack"]}), encoder=None).save(tmp_path / "index")
    Index.load(tmp_path / "index").verify()
    np.save(tmp_path / "index" / "word_numbers.npy", np.array([0, 1, 99], np.int32))
    with pytest.raises(StoreError, match=r"word_numbers\.npy"):
        Index.load(tmp_path / "index").verify()
    # A digest that was taken of what was damaged before tells nothing: what leads nowhere is refused all the same.
    seal(tmp_path / "index", json.loads((tmp_path / "index" / "manifest.json").read_text(encoding="utf-8")))
    with pytest.raises(StoreError, match="the index is damaged"):
        Index.load(tmp_path / "index").verify()
    (tmp_path / "index" / "word_marks.npy").unlink()
    with pytest.raises(StoreError, match=r"word_marks\.npy"):
        Index.load(tmp_path / "index").verify()
