"""Tables of all kinds are read, or refused in words."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.project.add_file import add_table
from nymlink.project.export import export_project
from nymlink.project.project import Project, find_damage
from nymlink.project.table_columns import preview_table
from nymlink.tables.delimited import restore_cell
from nymlink.tables.sheet import read_sheet

ROWS = [["1", "Fieber", "7"], ["2", "Müdigkeit", "2"], ["3", "Gicht, akut", "1"]]
HEADER = ["nr", "Diagnose", "n"]


def text(delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([HEADER, *ROWS])
    return out.getvalue()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (HEADER, *ROWS):
        book.active.append([int(cell) if cell.isdecimal() else cell for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(HEADER)}), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("raw", "encoding", "delimiter"),
    [
        (text().encode(), "utf-8", ","),
        (text("\t").encode(), "utf-8", "\t"),
        (text(";").encode(), "utf-8", ";"),
        (text("|").encode("utf-8-sig"), "utf-8", "|"),
        (text(";").encode("cp1252"), "windows-1252", ";"),
        (text(";").encode("utf-16"), "utf-16", ";"),
        (text("\t").encode("utf-16-le"), "utf-16-le", "\t"),
        (text().replace("\r\n", "\r").encode(), "utf-8", ","),
        (gzip.compress(text().encode()), "utf-8", ","),
        (workbook(), "", ""),
        (parquet(), "", ""),
        ("\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in ROWS).encode(), "utf-8", ""),
    ],
    # What a compressed file is depends on the time.
    ids=lambda value: "file" if isinstance(value, bytes) else value,
)
def test_tables_are_told_by_their_content(raw: bytes, encoding: str, delimiter: str) -> None:
    shown = preview_table(raw, "visits.csv")
    assert shown["rows"] == ROWS
    assert (shown["encoding"], shown["delimiter"], shown["total_rows"]) == (encoding, delimiter, 3)
    assert (shown["column"], shown["frequency"], shown["code"]) == ("Diagnose", "n", None)
    assert shown["columns"][1] == {"name": "Diagnose", "samples": [row[1] for row in ROWS], "distinct": 3}
    assert shown["problems"]["rejected"] == 0
    assert delimiter == "" or any("delimiter" in guess for guess in shown["guessed"])


def test_what_is_guessed_can_be_said() -> None:
    raw = text(";").encode("cp850")
    assert preview_table(raw, "x.csv")["rows"][1][1] != "Müdigkeit"
    shown = preview_table(raw, "x.csv", encoding="CP850", delimiter="semicolon", columns={"mention": "1"})
    assert (shown["rows"][1][1], shown["column"]) == ("Müdigkeit", "nr")
    lines = preview_table(raw, "x.csv", encoding="cp850", delimiter="none")
    assert (lines["format"], lines["total_rows"]) == ("lines", 4)


@pytest.mark.parametrize(
    ("raw", "format", "rows"),
    [
        (b"fever\ngout, acute\nheart attack\n", "lines", 3),
        (b"Cancer, Lung\nCancer, Breast\n", "lines", 2),
        (b"term\nfever\n\ngout\n", "table", 2),
        (b"one term", "lines", 1),
        (b"#subject_id\tx\n", "table", 0),
        (b"#mapping_set_id: x\nsubject_id\tpredicate_id\tobject_id\nA:1\tskos:exactMatch\tB:1\n", "sssom", 1),
        (b"sourceCode,sourceName,mappingStatus,conceptId\nA,fever,UNCHECKED,0\n", "usagi", 1),
    ],
)
def test_lines_and_mappings_are_told(raw: bytes, format: str, rows: int) -> None:
    sheet = read_sheet(raw, "file.txt", Problems())
    assert (sheet.format, len(sheet.rows)) == (format, rows)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b",,,\n,,\n", "no value"),
        (bytes(range(256)) * 40, "binary"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        (b"%PDF-1.7\n%abc\n", "PDF"),
        (b"PK\x03\x04 no workbook", "archive"),
        (b"PAR1 nothing", "damaged"),
        (b"\x1f\x8b\x08 nothing", "damaged"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        ((",".join(["x"] * 2000) + "\n1\n").encode(), "columns"),
    ],
)
def test_what_is_no_table_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_sheet(raw, "file.csv", Problems())


@pytest.mark.parametrize(
    ("options", "said"),
    [({"encoding": "idna"}, "unknown encoding"), ({"delimiter": "x"}, "a delimiter is one of")],
)
def test_unknown_settings_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_sheet(b"a,b\n1,2\n", "file.csv", Problems(), **options)


def test_columns_that_are_not_there_are_refused() -> None:
    for header, said in (("x", "no column 'x'"), ("9", "no column '9'"), ("b", "columns 2 and 3")):
        with pytest.raises(InputError, match=said):
            preview_table(b"a,b,b\n1,2,3\n", "file.csv", columns={"mention": header})


def test_ragged_rows_are_kept_and_said() -> None:
    problems = Problems()
    sheet = read_sheet(b'a,b\n1,2\n1\n1,2,3\n"x,2\n', "file.csv", problems)
    assert [cells for _, cells in sheet.rows] == [["1", "2"], ["1", ""], ["1", "2,3"], ['"x', "2"]]
    assert sheet.ragged == {3, 4}
    assert [problem.line for problem in problems.first] == [3, 4, 5]


def test_lines_in_another_encoding_are_mended() -> None:
    problems = Problems()
    raw = "term\nMüdigkeit\n".encode() + "Fieber über 40\n".encode("cp1252")
    sheet = read_sheet(raw, "file.csv", problems)
    assert [cells for _, cells in sheet.rows] == [["Müdigkeit"], ["Fieber über 40"]]
    assert (problems.repaired, problems.first[0].line) == (1, 3)


def test_names_of_files_are_names() -> None:
    for name, kept in (("../../etc/passwd", "passwd"), ("C:\\x\\y.csv", "y.csv"), ("\0\n", "file"), ("", "file")):
        assert read_sheet(b"a,b\n1,2\n", name, Problems()).name == kept
        assert read_sheet(workbook(), name, Problems()).name == kept


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.tsv", "a.xlsx", "a"]))
def test_any_bytes_are_read_or_refused(raw: bytes, name: str) -> None:
    try:
        shown = preview_table(raw, name)
    except InputError:
        return
    assert shown["column"] in [column["name"] for column in shown["columns"]]


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(str.strip)


@given(st.lists(st.lists(CELLS.filter(bool), min_size=3, max_size=3), min_size=1, max_size=6))
def test_tables_come_back_as_they_were_written(rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["mention", "x", "y"], *rows])
    sheet = read_sheet(out.getvalue().encode(), "a.csv", Problems(), delimiter=",")
    assert [cells for _, cells in sheet.rows] == [list(map(restore_cell, row)) for row in rows]


def test_the_suffix_decides_nothing(tmp_path: Path) -> None:
    assert read_sheet(workbook(), str(tmp_path / "x.csv"), Problems()).header == HEADER


def workbook_of(**sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cell in sheet["B"][1:]:
            cell.number_format = "0.00"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_a_sheet_and_a_header_row_are_chosen(project: Project) -> None:
    raw = workbook_of(
        Notes=[["about", "this"]], Data=[["Clinic", None], ["finding", "n"], ["gout", 3], ["fever", 2]]
    )
    found = preview_table(raw, "visits.xlsx")
    assert (found["sheets"], found["sheet"], found["header_row"]) == (["Notes", "Data"], "Data", 2)
    assert found["guessed"][:2] == ["sheet: 'Data'", "header: row 2"]
    assert preview_table(raw, "visits.xlsx", sheet="Notes")["columns"][0]["name"] == "about"
    shown = preview_table(raw, "visits.xlsx", sheet="Data", header_row=2)
    assert (shown["column"], shown["frequency"], shown["total_rows"]) == ("finding", "n", 2)
    assert add_table(project, raw, "upload", sheet="Data", header_row=2)["terms"] == 2
    with pytest.raises(InputError, match="no sheet 'Other'"):
        preview_table(raw, "visits.xlsx", sheet="Other")
    text = "Export of the clinic\nof today\nfinding;n\ngout;3\n"
    shown = preview_table(text.encode(), "visits.csv", header_row=3)
    assert (shown["column"], shown["header_row"], shown["rows"]) == ("finding", 3, [["gout", "3"]])


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("Nr;Diagnose;Häufigkeit;Sprache", "de"),
        ("id;Término;Frecuencia;Idioma", "es"),
        ("id;Libellé;Fréquence;Langue", "fr"),
        ("ID;HALLAZGO;RECUENTO;LENGUA", "es"),
    ],
)
def test_columns_are_found_in_other_languages(header: str, language: str) -> None:
    raw = f"{header}\n1;x;7;{language}\n2;y;3;{language}\n".encode()
    shown = preview_table(raw, "t.csv")
    assert [shown[role] for role in ("column", "frequency", "language")] == header.split(";")[1:]


def test_a_workbook_keeps_its_types_and_number_formats(project: Project) -> None:
    day = datetime.date(2026, 1, 31)
    rows = [
        ["finding", "dose", "day", "ok", "note"],
        ["gout", 1.5, day, True, "=1"],
        ["fever", 2, day, False, None],
    ]
    add_table(project, workbook_of(Data=rows), "visits.xlsx")
    for format, own in (("xlsx", rows), ("parquet", None)):
        out = io.BytesIO()
        export_project(project, out, format=format)
        if own is None:
            table = pq.read_table(out)
            assert [str(table.schema.field(name).type) for name in ("dose", "ok")] == ["double", "bool"]
            continue
        sheet = openpyxl.load_workbook(out).active
        assert [[cell.value for cell in row[:4]] for row in sheet.iter_rows(min_row=2)] == [
            ["gout", 1.5, datetime.datetime(2026, 1, 31), True],
            ["fever", 2, datetime.datetime(2026, 1, 31), False],
        ]
        assert sheet["B2"].number_format == "0.00"
        assert sheet["C2"].is_date
    assert find_damage(project.path) == []


def test_an_export_is_previewed(linked: Project) -> None:
    out = io.StringIO()
    export_project(linked, out, format="csv", limit=2)
    assert [line.split(",")[0] for line in out.getvalue().splitlines()] == ["code", "A", "B"]
