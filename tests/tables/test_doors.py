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
from click.testing import CliRunner

from nymlink.cli import nymlink
from nymlink.tables.cells import LONGEST_MENTION, NO_TEXT, cell_text
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
@pytest.mark.parametrize(("column", "delimiter"), [("mention", ","), ("2", "\t"), ("mention", ";")])
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
    mentions = [*MENTIONS[:6], 7.0, 2.5, True, None, "heart attack"]
    path = tmp_path / "table.jsonl"
    path.write_bytes(json_lines(rows(mentions)).encode(encoding))
    assert DOORS[door](path, column, folder, None)[0] == list(NAMES)


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


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("mark", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_for_excel_states_the_delimiter(door: str, mark: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{mark}\nnote;mention\na, b;gout\n1,5;heart attack\n", encoding="utf-8")
    assert DOORS[door](path, "mention", folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["the mention", "2"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_header_may_have_a_line_break(
    door: str, column: str, delimiter: str, folder: Path, tmp_path: Path
) -> None:
    if door == "evaluate" and column == "2":
        pytest.skip("of a corpus without a known header, numbers name columns of a file without a header")
    table = [["n\n(of all)", "the\nmention"], ["1", "gout"], ["2", "heart attack"]]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(table)
    (tmp_path / "table.csv").write_text(out.getvalue(), encoding="utf-8", newline="")
    assert DOORS[door](tmp_path / "table.csv", column, folder, None)[0] == ["gout", "heart attack"]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in table:
        book.active.append(row)
    book.save(tmp_path / "table.xlsx")
    assert DOORS[door](tmp_path / "table.xlsx", column, folder, None)[0] == ["gout", "heart attack"]


SSSOM = """\
#curie_map:
#  X: "https://example.org/"
#mapping_set_id: https://example.org/set
subject_label\tsubject_type\tpredicate_id\t{object}\tmapping_justification
gout\trdfs literal\tskos:exactMatch\t{first}\tsemapv:LexicalMatching
heart attack\trdfs literal\tskos:exactMatch\t{second}\tsemapv:LexicalMatching
"""


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("column", ["subject_label", "1"])
@pytest.mark.parametrize(
    "cells",
    [
        {"object": "object_id", "first": "X:0", "second": "X:8"},
        {"object": "object_label", "first": "gout", "second": "heart attack"},
    ],
)
def test_metadata_before_the_header_of_sssom_are_no_rows(
    door: str, column: str, cells: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    if door == "evaluate" and column == "1":
        pytest.skip("of a corpus without a known header, numbers name columns of a file without a header")
    path = tmp_path / "terms.sssom.tsv"
    path.write_text(SSSOM.format(**cells), encoding="utf-8")
    assert DOORS[door](path, column, folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("door", DOORS)
def test_a_number_sign_begins_a_row_of_another_table(door: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("#,mention\n1,gout\n#2,heart attack\n", encoding="utf-8")
    assert DOORS[door](path, "mention", folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("part", "column"),
    [
        ("#Visits", "mention"),
        ("#Visits!1", "2"),
        ("#Report!3", "mention"),
        ("#Report!A3", "2"),
        ("#!3", "mention"),
    ],
)
def test_a_sheet_and_its_header_are_chosen(
    door: str, part: str, column: str, folder: Path, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Report"
    for row in (["Report of all visits"], [], ["n", "mention"], [1, "gout"], [2, "heart attack"]):
        book.active.append(row)
    for row in (["n", "mention"], [1, "gout"], [2, "heart attack"]):
        (book["Visits"] if "Visits" in book else book.create_sheet("Visits")).append(row)
    book.save(tmp_path / "book.xlsx")
    path = tmp_path / f"book.xlsx{part}"
    assert DOORS[door](path, column, folder, None)[0] == ["gout", "heart attack"]


LEGEND: list[list[Any]] = [["Code", "Meaning"], ["+", "present"], ["-", "absent"]]
ROWS: list[list[Any]] = [["n", "mention", "age"], [1, "gout", 7], [2, "heart attack", None]]
TITLED: list[list[Any]] = [["Findings of the clinic"], [], *ROWS]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "sheets",
    [
        {"Legend": LEGEND, "Findings": TITLED},
        {"Findings": TITLED, "Legend": LEGEND},
        {"Notes": [["This file has findings of visits."]] * 9, "Findings": [["Clinic", None, None], *ROWS]},
        {"Empty": [], "Findings": [["Who", None, "Of whom"], *ROWS]},
        {"Findings": ROWS, "~Codes": ROWS * 99},
        {"~List": LEGEND * 9, "Findings": ROWS},
        {"Findings": [["Findings of today"], [], ["mention"], ["gout"], ["heart attack"]]},
    ],
)
@pytest.mark.filterwarnings("ignore:.*are not read")
def test_the_sheet_with_the_table_and_its_header_are_found(
    door: str, sheets: dict[str, list[list[Any]]], folder: Path, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title.removeprefix("~"))
        sheet.sheet_state = "hidden" if title.startswith("~") else "visible"
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    assert DOORS[door](tmp_path / "book.xlsx", "mention", folder, None)[0] == ["gout", "heart attack"]


@pytest.mark.parametrize("door", DOORS)
def test_a_list_is_no_mention(door: str, folder: Path, tmp_path: Path) -> None:
    mentions: list[Any] = ["gout", ["gout"], {"a": 1}, "heart attack"]
    (tmp_path / "table.jsonl").write_text(json_lines(rows(mentions)), encoding="utf-8")
    found, problems = DOORS[door](tmp_path / "table.jsonl", "mention", folder, None)
    assert found == ["gout", "heart attack"]
    assert sum(NO_TEXT in problem for problem in problems) == 2
    table = pa.table({"id": [1, 2], "mention": [["gout"], None]})
    pq.write_table(table, tmp_path / "table.parquet")
    command = doors.COMMANDS["link --column"](tmp_path / "table.parquet", folder)
    result = CliRunner().invoke(nymlink, command)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", doors.COMMANDS)
@pytest.mark.parametrize("write", [delimited, json_lines, "parquet", "xlsx"])
def test_missing_mentions_are_no_error(command: str, write: Any, folder: Path, tmp_path: Path) -> None:
    mentions = ["gout", None, "", "heart attack"]
    table = [("X:0", mention, "en") for mention in mentions]
    path = tmp_path / "table"
    if write == "parquet":
        parquet(path, table)
    elif write == "xlsx":
        path = tmp_path / "table.xlsx"
        workbook(path, table)
    else:
        path.write_text(write(table), encoding="utf-8")
    if command in ("link", "annotate"):
        # These take lines and texts, and no columns.
        path = tmp_path / "lines.jsonl"
        path.write_text("".join(json.dumps({"id": str(n), "text": m}) + "\n" for n, m in enumerate(mentions)))
        if command == "link":
            path.write_text("".join(f"{mention or ''}\n" for mention in mentions), encoding="utf-8")
    arguments = doors.COMMANDS[command](path, folder)
    result = CliRunner().invoke(nymlink, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", doors.COMMANDS)
def test_an_old_workbook_is_refused_in_one_line(command: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "visits.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 3000)
    result = CliRunner().invoke(nymlink, doors.COMMANDS[command](path, folder))
    assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output[:500]
    assert "save it as .xlsx" in result.output


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_table_goes_out_in_its_encoding(codec: str, folder: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes("sep=;\nnaïve;mention\né;naïve cell\n".encode(codec))
    command = [*doors.COMMANDS["link --column"](path, folder), "-o", str(out)]
    result = CliRunner().invoke(nymlink, command)
    assert result.exit_code == 0, result.output
    raw = out.read_bytes()
    text = raw.decode(codec)
    assert text.startswith("sep=;\nnaïve;mention;rank;concept_id;")
    assert text.encode(codec) == raw
    result = CliRunner().invoke(nymlink, [*command, "--format", "csv-excel"])
    assert result.exit_code == 0, result.output
    assert out.read_bytes().decode("utf-8").startswith("\ufeffsep=;\nnaïve;mention;rank;")


def test_a_table_with_other_characters_goes_out_in_utf_8(folder: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_bytes("note,mention\né,gout\n".encode("cp1252") + "ω,gout\n".encode())
    command = [*doors.COMMANDS["link --column"](path, folder), "-o", str(out)]
    result = CliRunner().invoke(nymlink, command)
    assert result.exit_code == 0, result.output
    assert "Windows-1252 has no 'ω': written in UTF-8 with a byte order mark" in result.output
    assert [row[0] for row in csv.reader(io.StringIO(out.read_bytes().decode("utf-8-sig")))] == ["note", "é", "ω"]
