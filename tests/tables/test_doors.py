"""One file has the same mentions, whichever door it comes in by."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nymlink.tables.cells import LONGEST_MENTION, cell_text
from tests.tables import doors
from tests.tables.doors import DOORS, NAMES

MENTIONS = ("gout", "naïve cell", "", "brain, left", 'a "quoted" word', "line\nend", "7", "true", "heart attack")
HEADER = ("note", "mention", "lang")
FOUND = [name for name in NAMES if name != "2.5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("doors")
    doors.build_index(folder)
    return folder


def rows(mentions: Sequence[Any] = MENTIONS, language: str = "en") -> list[tuple[Any, ...]]:
    return [(f"note {place}", mention, language) for place, mention in enumerate(mentions)]


def delimited(table: Sequence[Sequence[Any]], delimiter: str = ",", end: str = "\n") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([HEADER, *table])
    return out.getvalue().replace("\n", end)


def json_lines(table: Sequence[Sequence[Any]]) -> str:
    return "".join(json.dumps(dict(zip(HEADER, row, strict=True)), ensure_ascii=False) + "\n" for row in table)


def workbook(path: Path, table: Sequence[Sequence[Any]]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (HEADER, *table):
        book.active.append(list(row))
    book.save(path)


def parquet(path: Path, table: Sequence[Sequence[Any]]) -> None:
    columns = zip(*table, strict=True)
    pq.write_table(pa.table(dict(zip(HEADER, map(list, columns), strict=True))), path, row_group_size=4)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["mention", "2"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize(
    ("encoding", "end"),
    [
        ("utf-8", "\n"),
        ("utf-8-sig", "\r\n"),
        ("cp1252", "\r\n"),
        ("utf-16", "\n"),
        ("utf-16-le", "\r\n"),
        ("utf-16-be", "\n"),
        ("utf-8", "\r"),
        ("utf-8-sig", "\r"),
        ("utf-16", "\r"),
    ],
)
def test_text_of_any_encoding(
    door: str, column: str, delimiter: str, encoding: str, end: str, folder: Path, tmp_path: Path
) -> None:
    # A line of a tab-separated table is a row: most writers of them quote nothing.
    mentions = [mention.replace("\n", " ") for mention in MENTIONS] if delimiter == "\t" else MENTIONS
    path = tmp_path / "table.txt"
    path.write_bytes(delimited(rows(mentions), delimiter, end).encode(encoding))
    assert DOORS[door](path, column, folder, None)[0] == FOUND


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["mention", "2"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_lines(door: str, column: str, encoding: str, folder: Path, tmp_path: Path) -> None:
    mentions = [*MENTIONS[:6], 7.0, 2.5, True, None, ["gout"], "heart attack"]
    path = tmp_path / "table.jsonl"
    path.write_bytes(json_lines(rows(mentions)).encode(encoding))
    found = DOORS[door](path, column, folder, None)[0]
    # A project keeps a list as its JSON.
    assert [mention for mention in found if mention != '["gout"]'] == list(NAMES)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["mention", "2"])
def test_workbooks(door: str, column: str, folder: Path, tmp_path: Path) -> None:
    workbook(tmp_path / "table.xlsx", rows([*MENTIONS[:6], 7.0, 2.5, True, None, "heart attack"]))
    assert DOORS[door](tmp_path / "table.xlsx", column, folder, None)[0] == list(NAMES)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["mention", "2"])
@pytest.mark.parametrize(
    ("mentions", "found"),
    [
        (MENTIONS, FOUND),
        ((7, 7, None, 7), ["7"] * 3),
        ((2.5, 7.0, None), ["2.5", "7"]),
        ((True, None, True), ["true"] * 2),
    ],
)
def test_parquet(
    door: str, column: str, mentions: Sequence[Any], found: list[str], folder: Path, tmp_path: Path
) -> None:
    parquet(tmp_path / "table.parquet", rows(mentions))
    assert DOORS[door](tmp_path / "table.parquet", column, folder, None)[0] == found


@pytest.mark.parametrize("door", DOORS)
def test_reviews_of_usagi(door: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    lines = ["sourceCode,sourceName,sourceFrequency,mappingStatus,conceptId,conceptName"]
    lines += [f"C{place},{name},3,UNCHECKED,0," for place, name in enumerate(["gout", "heart attack"])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert DOORS[door](path, "sourceName", folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("write", [delimited, json_lines])
def test_a_row_with_a_bad_language_code_is_kept_and_reported(
    door: str, write: Any, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "table.txt"
    path.write_text(write([*rows(["gout"]), *rows(["heart attack"], "eng|lish")]), encoding="utf-8")
    found, problems = DOORS[door](path, "mention", folder, "lang")
    assert found == ["gout", "heart attack"]
    [problem] = [each for each in problems if "'eng|lish' is no language code" in each]
    assert "left out" not in problem


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("write", [delimited, json_lines])
def test_a_mention_that_is_too_long_takes_no_other_with_it(
    door: str, write: Any, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "table.txt"
    path.write_text(write(rows(["gout", "x" * (LONGEST_MENTION + 1), "heart attack"])), encoding="utf-8")
    found, problems = DOORS[door](path, "mention", folder, None)
    assert found == ["gout", "heart attack"]
    [problem] = [each for each in problems if "100,001 characters are too long for a mention" in each]
    assert ("left out" in problem) == (door == "evaluate")


@pytest.mark.parametrize("door", DOORS)
def test_a_number_tells_columns_of_one_name_apart(door: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("mention,note,note\n1,fever,gout\n2,fever,heart attack\n", encoding="utf-8")
    if door == "evaluate":
        pytest.skip("a corpus needs headers of its own for each column that is read")
    assert DOORS[door](path, "3", folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_annotate_reads_mentions_in_tables_as_evaluate_does(
    encoding: str, end: str, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    lines = ["document,start,end,mention,context", "1,2,12,naïve cell,a naïve cell", "2,0,4,gout,gout"]
    path.write_bytes(end.join([*lines, ""]).encode(encoding))
    read = doors.annotate(path, "mention", folder, None)[0]
    assert read == doors.evaluate(path, "mention", folder, None)[0] == ["naïve cell", "gout"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (7.0, "7"),
        (7, "7"),
        (2.5, "2.5"),
        (b"a", "a"),
        (["a"], '["a"]'),
        ("\ud83d", "?"),
    ],
)
def test_cells_become_text_by_one_rule(value: Any, text: str) -> None:
    assert cell_text(value) == text
