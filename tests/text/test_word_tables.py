"""Word lists as tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import nymlink
from nymlink.text.normalise import normalise
from nymlink.text.word_tables import read_kinds, read_rows, split_cell

AS_WRITTEN = ("no_answers.tsv", "beside.tsv", "drugs.tsv")
"""Tables that mentions are compared with as they are written, signs included."""

_SOURCE = Path(nymlink.__file__).parent
TABLES = sorted(
    path
    for path in (*(_SOURCE / "text").rglob("*.tsv"), _SOURCE / "linking" / "data" / "no_answers.tsv")
    if path.parent.name != "clinical"
)


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text('words\twhy\na | b c\tsays "so"\n', encoding="utf-8")
    assert read_rows(path) == [{"words": "a | b c", "why": 'says "so"'}]
    assert split_cell("a | b c") == ("a", "b c")


def test_rows_of_a_kind_are_read_together(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("kind\twords\twhy\nx\ta | b\t1\ny\tc\t2\nx\td\t3\n", encoding="utf-8")
    assert read_kinds(path) == {"x": (("a", "b"), ("d",)), "y": (("c",),)}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_every_row_says_why(path: Path) -> None:
    rows = read_rows(path)
    assert rows
    assert all(row["why"].strip() and None not in row for row in rows)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_words_are_in_normal_form(path: Path) -> None:
    if path.name in AS_WRITTEN:
        return
    for row in read_rows(path):
        words = [
            word for column in row.keys() & {"word", "words", "wrong", "right"} for word in split_cell(row[column])
        ]
        assert words == [normalise(word) for word in words]
