"""Files of pairs: what is written is read back, and what is broken is told by its line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError, OutputError
from nymlink.core.problems import Problems
from nymlink.pairs import pair_files
from nymlink.pairs.pair_files import read_pairs, write_lines, write_pairs
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.train.small import Pair, crowd, spelt, vocabulary

FILES = ("pairs.parquet", "pairs.txt", "pairs.txt.gz")


def read(path: Path, problems: Problems | None = None) -> list[Pair]:
    return [tuple(row.values()) for batch in read_pairs(path, problems=problems) for row in batch.to_pylist()]


@pytest.fixture
def small() -> Vocabulary:
    return vocabulary(*crowd("A:1", 12), *crowd("A:2", 3), ("A:2", "Ärzte  心", "de", "exact"))


@pytest.mark.parametrize("name", FILES)
def test_pairs_are_read_back_in_the_order_of_the_first_epoch(small: Vocabulary, tmp_path: Path, name: str) -> None:
    pairs = Pairs.of(small)
    assert write_pairs(pairs, tmp_path / name) == 0
    assert read(tmp_path / name) == spelt(pairs)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", FILES)
def test_files_are_written_stretch_by_stretch(
    small: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pairs = Pairs.of(small)
    write_pairs(pairs, tmp_path / "whole")
    monkeypatch.setattr(pair_files, "_BATCH", 10)
    write_pairs(pairs, tmp_path / name)
    assert read(tmp_path / name) == read(tmp_path / "whole")


def test_the_same_settings_give_the_same_bytes(small: Vocabulary, tmp_path: Path) -> None:
    for name in ("one.parquet", "other.parquet"):
        write_pairs(Pairs.of(small, seed=4), tmp_path / name)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()


def test_parquet_says_how_it_was_made(small: Vocabulary, tmp_path: Path) -> None:
    write_pairs(Pairs.of(small, cap=7, seed=3, languages=["en"]), tmp_path / "p.parquet")
    said = json.loads(pq.read_schema(tmp_path / "p.parquet").metadata[b"nymlink"])
    assert said["pairs"] == 10
    assert (said["settings"]["cap"], said["settings"]["seed"], said["settings"]["languages"]) == (7, 3, ["en"])
    assert [source["licence"] for source in said["sources"]] == ["CC0"]
    assert said["vocabulary"] == {"lang": "en"}


def test_a_line_is_the_published_form() -> None:
    stream = io.BytesIO()
    write_lines(Pairs.of(vocabulary(("C0", "Heart Attack", "en", "exact"), ("C0", "MI", "en", "exact"))), stream)
    assert stream.getvalue() == b"C0||heart attack||mi\n"


TEXTS = st.text(st.sampled_from("ab|\r\n\u2028\x0b心"), min_size=1, max_size=6)


@given(st.lists(TEXTS, min_size=2, max_size=6))
def test_a_pair_is_in_the_lines_as_it_is_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    pairs = Pairs.of(vocabulary(*(("A:1", text, "en", "exact") for text in texts)))
    folder = tmp_path_factory.mktemp("lines")
    left_out = write_pairs(pairs, folder / "p.txt")
    found = read(folder / "p.txt") if len(pairs) > left_out else []
    assert len(found) == len(pairs) - left_out
    assert set(found) <= set(spelt(pairs))
    assert set(found) >= {pair for pair in spelt(pairs) if not any("|" in name for name in pair)}
    write_pairs(pairs, folder / "p.parquet")
    assert not len(pairs) or read(folder / "p.parquet") == spelt(pairs)


def test_names_with_the_separator_are_counted() -> None:
    made = vocabulary(*(("A:1", text, "en", "exact") for text in ("a||b", "c", "d|", "|e", "f|g", "h")))
    stream = io.BytesIO()
    assert write_lines(Pairs.of(made), stream) == 11
    # A bar at the end of the line can be nothing but the end of its name.
    assert sorted(stream.getvalue().splitlines()) == [b"A:1||c||d|", b"A:1||c||f|g", b"A:1||c||h", b"A:1||f|g||h"]


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing(small: Vocabulary, tmp_path: Path) -> None:
    for name in FILES:
        with pytest.raises(OutputError):
            write_pairs(Pairs.of(small), tmp_path / "missing" / name)
    assert list(tmp_path.iterdir()) == []


def test_broken_lines_are_told_by_number_and_cost_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    lines = [
        b"A||a||b",
        b"",
        b"A||a",
        b"A||a||b||c",
        b"A|| ||b",
        b"||a||b",
        b"B||caf\xe9||c\r",
        b"no bars",
        b"C||c||d",
    ]
    for content in (b"\n".join(lines), gzip.compress(b"\n".join(lines) + b"\n")):
        path.write_bytes(content)
        problems = Problems()
        assert read(path, problems) == [("A", "a", "b"), ("B", "café", "c"), ("C", "c", "d")]
        assert [problem.line for problem in problems.first if problem.rejected] == [3, 4, 5, 6, 8]
        assert [problem.line for problem in problems.first if not problem.rejected] == [7]
        assert "concept||name1||name2" in problems.first[1].message


def test_rows_without_a_name_are_told_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.pairs.pair_files._BATCH", 2)
    # Columns in another order, of other types, and more of them.
    table = {
        "name2": pa.array(["b", None, "d", " ", "f"]).dictionary_encode(),
        "score": [1.0, 2.0, 3.0, 4.0, 5.0],
        "name1": pa.array(["a", "b", "c", "d", "e"], pa.large_string()),
        "concept": [1, 2, 3, 4, 5],
    }
    pq.write_table(pa.table(table), tmp_path / "p.parquet")
    problems = Problems()
    assert read(tmp_path / "p.parquet", problems) == [("1", "a", "b"), ("3", "c", "d"), ("5", "e", "f")]
    assert [problem.line for problem in problems.first] == [2, 4]


def test_files_that_hold_no_pairs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p"
    columns = {"concept": ["a"], "name1": ["b"], "name2": ["c"]}
    pq.write_table(pa.table(columns), tmp_path / "whole")
    pq.write_table(pa.table({**columns, "name2": [["c"]]}), tmp_path / "lists")
    pq.write_table(pa.table({"concept": ["a"], "names": ["b"]}), tmp_path / "lacking")
    pq.write_table(pa.table(columns).slice(0, 0), tmp_path / "none")
    not_utf8 = pa.array([b"\xff"]).view(pa.string())
    pq.write_table(pa.table({**columns, "name1": not_utf8}), tmp_path / "bytes")
    for content, message in (
        (b"", "the file holds no pair"),
        (b"one\ntwo\n", "the file holds no pair"),
        (gzip.compress(b"A||a||b\n" * 9)[:-9], "truncated"),
        ((tmp_path / "whole").read_bytes()[:-9], "cannot be read as pairs"),
        ((tmp_path / "lists").read_bytes(), "cannot be read as pairs"),
        ((tmp_path / "lacking").read_bytes(), "no column 'name1'; the file has: concept, names"),
        ((tmp_path / "none").read_bytes(), "the file holds no pair"),
        ((tmp_path / "bytes").read_bytes(), "cannot be read as pairs"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            list(read_pairs(path))
    with pytest.raises(InputError, match="no such file"):
        list(read_pairs(tmp_path / "missing"))
