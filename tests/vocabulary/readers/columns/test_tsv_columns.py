"""Columns of large tab-separated files: the quick way and the careful way agree with a naive reading."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers import column_files as delimited
from nymlink.vocabulary.readers.column_files import CODE, NUMBER, TEXT, read_tsv

WANTED = {"id": NUMBER, "term": TEXT, "lang": CODE}
FIELD = st.sampled_from(["1", "007", "", " ", "x", '"a', "é", "-1", "NULL", "nan", "a\rb", "\0", "1" * 19, "１"])


def read(path: Path, problems: Problems | None = None) -> list[tuple[int, str, str]]:
    parts = list(read_tsv(path, WANTED, required=("term",), problems=problems or Problems()))
    table = pa.concat_tables(parts).unify_dictionaries() if parts else pa.table({name: [] for name in WANTED})
    columns = (table[name].to_pylist() for name in WANTED)
    return [(id_, term, lang or "") for id_, term, lang in zip(*columns, strict=True)]


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


def test_a_long_line_is_read_and_one_too_long_is_not(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    longest = "a" * (MAX_LINE - len("1\t\ten"))
    path.write_text(f"id\tterm\tlang\n1\t{longest}\ten\n2\t{longest}a\ten\n3\tb\ten\n", encoding="utf-8")
    problems = Problems()
    assert [(id_, len(term)) for id_, term, _ in read(path, problems)] == [(1, len(longest)), (3, 1)]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True)]


def test_a_huge_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with path.open("wb") as file:
        file.write(b"id\tterm\tlang\n1\ta\ten\n")
        file.seek(1 << 28)
        file.write(b"\n2\tb\ten\n")
    problems = Problems()
    assert read(path, problems) == [(1, "a", "en"), (2, "b", "en")]
    assert [problem.line for problem in problems.first] == [3]


def test_a_header_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"\nid\t" + b"x\t" * (MAX_LINE // 2) + b"\n1\n")
    with pytest.raises(InputError, match="4 MB") as raised:
        read(path)
    assert raised.value.line == 2


def test_blank_lines_may_come_before_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"\n\r\n" * 500 + b"id\tterm\tlang\n1\ta\ten\nx\ta\ten\n")
    monkeypatch.setattr(delimited, "_BLOCK_BYTES", 100)
    problems = Problems()
    assert read(path, problems) == [(1, "a", "en")]
    assert [problem.line for problem in problems.first] == [1003]
