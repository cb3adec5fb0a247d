"""Columns of large tab-separated files: the quick way and the careful way agree with a naive reading."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nymlink.errors import InputError
from nymlink.problems import Problems
from nymlink.vocabulary.readers._tsv_columns import CODE, NUMBER, TEXT, read_tsv

WANTED = {"id": NUMBER, "term": TEXT, "lang": CODE}
FIELD = st.sampled_from(["1", "007", "", " ", "x", '"a', "é", "-1", "NULL", "nan", "a\rb", "\0", "1" * 19, "１"])


def read(path: Path, problems: Problems | None = None) -> list[tuple[int, str, str]]:
    parts = list(read_tsv(path, WANTED, required=("term",), problems=problems or Problems()))
    table = pa.concat_tables(parts).unify_dictionaries() if parts else pa.table({name: [] for name in WANTED})
    columns = (table[name].to_pylist() for name in WANTED)
    return [(id_, term, lang or "") for id_, term, lang in zip(*columns, strict=True)]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(FIELD, min_size=3, max_size=5), max_size=6))
def test_good_rows_are_read_and_the_others_counted(rows: list[list[str]]) -> None:
    expected, bad = [], 0
    for fields in rows:
        line = "\t".join(fields)
        if not line.strip():
            continue
        id_, term = fields[0], fields[2].replace("\r", " ")
        lang = fields[3].rstrip("\r").replace("\r", " ") if len(fields) == 4 else ""
        if len(fields) != 4 or "\0" in line or id_ not in ("1", "007") or not term.strip():
            bad += 1
        else:
            expected.append((int(id_), term, lang))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.txt"
        path.write_bytes(
            "".join("\t".join(fields) + "\n" for fields in [["ID", "x", "Term", "lang"], *rows]).encode()
        )
        problems = Problems()
        assert read(path, problems) == expected
        assert problems.rejected == bad


def test_a_packed_file_is_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "file.txt.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfid\tterm\tlang\r\n1\ta\ten\r\n2\tb\t\r\n"))
    assert read(path) == [(1, "a", "en"), (2, "b", "")]


def test_a_long_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("id\tterm\tlang\n1\t" + "a" * (5 << 20) + "\ten\n2\tb\ten\n", encoding="utf-8")
    assert [len(term) for _, term, _ in read(path)] == [5 << 20, 1]


def test_a_line_without_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with path.open("wb") as file:
        file.write(b"id\tterm\tlang\n1\ta\ten\n")
        file.truncate(1 << 30)
    with pytest.raises(InputError, match="64 MB") as raised:
        read(path)
    assert raised.value.line == 3
