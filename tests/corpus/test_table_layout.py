"""What a table of text is read as, and what of that is guessed."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

from nymlink.corpus import read_corpus
from nymlink.tables.layout import TableLayout, table_layout

ROWS = "name;start;end\nnaïve, old;0;3\n"


def write(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("encoding", "named", "guess"),
    [
        ("utf-8", "UTF-8", None),
        ("utf-8-sig", "UTF-8", None),
        ("utf-16", "UTF-16", None),
        ("utf-16-le", "UTF-16", "without a byte order mark"),
        ("utf-16-be", "UTF-16", "without a byte order mark"),
        ("cp1252", "Windows-1252", "not UTF-8"),
    ],
)
def test_the_encoding_is_told_and_read(tmp_path: Path, encoding: str, named: str, guess: str | None) -> None:
    path = write(tmp_path / "terms.txt", ROWS, encoding)
    layout = table_layout(path)
    assert (layout.encoding, layout.delimiter, layout.columns) == (named, ";", ("name", "start", "end"))
    assert [guess in each for each in layout.guesses if guess] == ([] if guess is None else [True])
    [document] = read_corpus(path).documents
    assert document.mentions[0].text == "naïve, old"


def test_the_delimiter_is_told_by_what_stands_outside_quotes(tmp_path: Path) -> None:
    path = write(tmp_path / "terms.csv.gz", "")
    path.write_bytes(gzip.compress(b'"name, full, old";code\n"a, b";X:1\n'))
    layout = table_layout(path)
    assert (layout.delimiter, layout.columns) == (";", ("name, full, old", "code"))
    assert ["separated by semicolons, not by commas" in guess for guess in layout.guesses] == [True]
    assert layout.to_dict()["encoding"] == "UTF-8"


def test_nothing_is_guessed_of_a_plain_table(tmp_path: Path) -> None:
    path = write(tmp_path / "terms.tsv", "mention\tid\na\tb\n")
    with warnings.catch_warnings(action="error"):
        assert table_layout(path) == TableLayout("UTF-8", "\t", ("mention", "id"))


def test_a_single_column_has_no_delimiter_to_guess(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text('mention\n"fever, high"\n', encoding="utf-8")
    assert table_layout(path).guesses == ()
