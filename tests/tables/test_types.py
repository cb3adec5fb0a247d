"""Tables come back with the types that they had, and links have the same types whatever they hold."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from nymlink import LINK_SCHEMA, InputError, Linker
from nymlink.cli import nymlink
from tests.tables import doors

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "linking.md"

TYPED = pa.table(
    {
        "term": ["gout", "zzz", None, "heart attack"],
        "list": [[1], [2, 3], None, []],
        "day": [dt.date(2020, 1, 1), None, dt.date(1, 1, 1), dt.date(9999, 1, 1)],
        "price": pa.array([Decimal("1.20"), None, Decimal("2.00"), Decimal("3.10")], pa.decimal128(8, 2)),
        "nanoseconds": pa.array([1, 2, 3, None], pa.timestamp("ns", "UTC")),
        "category": pa.array(["x", "y", "x", None]).dictionary_encode(),
        "struct": [{"a": 1}, None, {"a": None}, {"a": 4}],
        "small": pa.array([1, None, 3, 4], pa.int8()),
        "text": pa.array(["a", "", None, "b"], pa.large_string()),
    }
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("types")
    doors.build_index(folder)
    return folder


@pytest.fixture(scope="module")
def linker(folder: Path) -> Linker:
    return Linker.load(folder / "index")


def run(folder: Path, *arguments: object) -> Result:
    return CliRunner().invoke(nymlink, ["link", "--index", str(folder / "index"), *map(str, arguments)])


def link_to(out: Path, folder: Path, *arguments: object) -> Path:
    result = run(folder, *arguments, "-o", out)
    assert result.exit_code == 0, result.output
    return out


def test_links_have_one_schema_whatever_they_hold(linker: Linker) -> None:
    given: tuple[list[Any], ...] = (["gout"], ["no gout", None, ""], ["zzz"], [])
    several = [linker.link(mentions) for mentions in given]
    assert {str(links.to_arrow().schema) for links in several} == {str(LINK_SCHEMA)}
    frame = polars.concat([links.to_polars() for links in several])
    assert frame["mention"].to_list() == ["gout", "no gout", None, None, "zzz"]
    assert [str(frame[name].dtype) for name in ("rank", "note")] == ["Int64", "String"]
    kinds = [list(map(str, links.to_pandas().dtypes)) for links in several]
    assert kinds == [kinds[0]] * len(kinds)
    assert kinds[0][:2] == ["string", "Int64"]
    assert all(field.nullable for field in LINK_SCHEMA)


def test_the_schema_is_documented() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(field.name, str(field.type)) for field in LINK_SCHEMA]


def test_parquet_of_links_and_of_jobs_is_one_data_set(linker: Linker, folder: Path, tmp_path: Path) -> None:
    linker.link(["gout"]).write(tmp_path / "1.parquet")
    missing: list[Any] = ["zzz", None]
    linker.link(missing).write(tmp_path / "2.parquet")
    (tmp_path / "lines.txt").write_text("gout\nzzz\n", encoding="utf-8")
    link_to(tmp_path / "3.parquet", folder, "--file", tmp_path / "lines.txt")
    assert pq.read_table([tmp_path / f"{place}.parquet" for place in (1, 2, 3)]).schema == LINK_SCHEMA
    (tmp_path / "table.csv").write_text("mention,note\ngout,a\n", encoding="utf-8")
    doors.bulk(tmp_path / "table.csv", "mention", folder, None)
    [part] = (folder / "bulk" / "parts").glob("*.parquet")
    assert [each for each in pq.read_schema(part) if each.name in LINK_SCHEMA.names] == list(LINK_SCHEMA)


@pytest.mark.parametrize("top_k", [1, 3])
def test_parquet_comes_back(top_k: int, folder: Path, tmp_path: Path) -> None:
    pq.write_table(TYPED, tmp_path / "in.parquet", row_group_size=3)
    out = link_to(tmp_path / "out.parquet", folder, tmp_path / "in.parquet", "--column", "term", "--top-k", top_k)
    table = pq.read_table(out)
    assert [table.schema.field(name) for name in TYPED.schema.names] == list(TYPED.schema)
    first = table.filter(pa.compute.fill_null(pa.compute.equal(table["rank"], 1), fill_value=True))
    assert first.select(TYPED.schema.names).equals(pq.read_table(tmp_path / "in.parquet"))
    assert table.schema.names[len(TYPED.schema) :] == LINK_SCHEMA.names[1:9]


def test_an_empty_parquet_file_comes_back(folder: Path, tmp_path: Path) -> None:
    pq.write_table(TYPED.slice(0, 0), tmp_path / "in.parquet")
    out = link_to(tmp_path / "out.parquet", folder, tmp_path / "in.parquet", "--column", "term")
    assert list(pq.read_schema(out))[: len(TYPED.schema)] == list(TYPED.schema)


def book(path: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (
        ["Visits of 2020"],
        [],
        ["term", "count", "day", "share", "code", "when"],
        ["gout", 7, dt.date(2020, 1, 2), 0.25, "007", dt.datetime(2020, 1, 2, 3, 4)],
        ["zzz", None, dt.date(2020, 1, 3), 1, "008", None],
        ["heart attack", 2.5, None, 0.5, "=1+1", None],
    ):
        sheet.append(row)
    sheet["C4"].number_format = "dd/mm/yyyy"
    sheet["D4"].number_format = "0.0%"
    sheet["E6"].data_type = "s"
    workbook.create_sheet("Other").append(["x"])
    workbook["Other"].append(["gout"])
    workbook.save(path)
    return path


def test_a_workbook_comes_back(folder: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    source = book(tmp_path / "in.xlsx")
    out = link_to(tmp_path / "out.xlsx", folder, f"{source}#Sheet!A3", "--column", "term")
    before = list(openpyxl.load_workbook(source).worksheets[0].iter_rows(min_row=3))
    sheet = openpyxl.load_workbook(out).active
    for old, new in zip(before, sheet.iter_rows(), strict=True):
        assert [cell.value for cell in new[:6]] == [cell.value for cell in old]
        assert [cell.number_format for cell in new[:6] if cell.value is not None] == [
            cell.number_format for cell in old if cell.value is not None
        ]
        assert [cell.data_type for cell in new[:6]] == [cell.data_type for cell in old]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", f"A1:N{sheet.max_row}")
    assert [cell.font.b for cell in sheet[1]] == [True] * 14
    assert not any(cell.font.b for cell in sheet[2])


def test_a_workbook_becomes_typed_columns(folder: Path, tmp_path: Path) -> None:
    source = book(tmp_path / "in.xlsx")
    out = link_to(tmp_path / "out.parquet", folder, f"{source}#!3", "--column", "term")
    types = [str(field.type) for field in pq.read_schema(out)][:6]
    assert types == ["string", "double", "date32[day]", "double", "string", "timestamp[us]"]


def test_parquet_becomes_a_workbook_with_types(folder: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pq.write_table(TYPED, tmp_path / "in.parquet")
    out = link_to(tmp_path / "out.xlsx", folder, tmp_path / "in.parquet", "--column", "term")
    header, first, second, *_ = openpyxl.load_workbook(out).active.iter_rows(values_only=True)
    row = dict(zip(header, first, strict=True))
    assert (row["list"], row["day"], row["price"], row["small"]) == ("[1]", dt.datetime(2020, 1, 1), 1.2, 1)
    assert dict(zip(header, second, strict=True))["price"] is None


def test_json_lines_keep_their_values(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"term": "gout", "n": 7, "l": [1, {"a": null}], "b": true, "f": 1.5, "z": null}\n')
    frame = polars.read_ndjson(link_to(tmp_path / "out.jsonl", folder, path, "--column", "term"))
    assert frame["row"][0] == {"term": "gout", "n": 7, "l": frame["row"][0]["l"], "b": True, "f": 1.5, "z": None}
    out = link_to(tmp_path / "out.parquet", folder, path, "--column", "term")
    assert [str(field.type) for field in pq.read_schema(out)][:6] == [
        *("string", "int64", "string", "bool", "double", "string"),
    ]


def cells_of(table: Any) -> list[dict[str, Any]]:
    """Read a table of any library by Arrow, as another library does."""
    return polars.DataFrame(pa.table(table)).to_dicts()


def libraries() -> dict[str, Callable[[pa.Table], Any]]:
    import duckdb
    import pandas

    connection = duckdb.connect()

    def relation(table: pa.Table) -> Any:
        connection.register("given", table)
        return connection.sql("SELECT * FROM given")

    class Stream:
        """An object of a library that nobody knows."""

        schema = None

        def __init__(self, table: pa.Table) -> None:
            self._table = table

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self._table.__arrow_c_stream__(requested_schema)

    return {
        "arrow": lambda table: table,
        "reader": lambda table: table.to_reader(),
        "polars": polars.DataFrame,
        "pandas": lambda table: table.to_pandas(types_mapper=pandas.ArrowDtype),
        "duckdb": relation,
        "stream": Stream,
    }


@pytest.mark.parametrize("library", ["arrow", "reader", "polars", "pandas", "duckdb", "stream"])
def test_tables_of_any_library_come_back(library: str, linker: Linker, recwarn: pytest.WarningsRecorder) -> None:
    pytest.importorskip("duckdb")
    given = libraries()[library](TYPED.select(["term", "list", "day", "small"]))
    linked = linker.link(given, column="term", top_k=2)
    kinds = {"reader": pa.Table, "stream": pa.Table}
    assert isinstance(linked, kinds.get(library, type(given)))
    rows = cells_of(linked)
    firsts = [row for row in rows if row["rank"] in (None, 1)]
    assert [row["term"] for row in firsts] == TYPED["term"].to_pylist()
    assert [row["list"] for row in firsts] == TYPED["list"].to_pylist()
    assert [row["day"] for row in firsts] == TYPED["day"].to_pylist()
    assert firsts[0]["concept_id"] == "X:0"
    assert len(rows) > len(firsts)
    assert "1 of 4 mentions are missing" in str(recwarn.pop(UserWarning).message)


def test_a_number_in_a_column_of_text_is_read_as_text(linker: Linker) -> None:
    import pandas

    with pytest.warns(UserWarning, match="1 of 6 cells are no mentions .a list or an object, no text"):
        table = linker.link(pandas.DataFrame({"term": ["gout", 7, None, 2.5, True, ["gout"]]}), column="term")
    assert [None if value is pandas.NA else value for value in table["concept_id"]] == [
        *("X:0", "X:5", None, "X:6", "X:7", None),
    ]


@pytest.mark.parametrize("column", ["struct", "list"])
def test_a_column_of_structs_or_lists_is_refused(
    column: str, linker: Linker, folder: Path, tmp_path: Path
) -> None:
    for table in (TYPED, polars.DataFrame(TYPED)):
        with pytest.raises(InputError, match=rf"column '{column}'.*: name a column of text"):
            linker.link(table, column=column)
    pq.write_table(TYPED, tmp_path / "in.parquet")
    result = run(folder, tmp_path / "in.parquet", "--column", column)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert f"column '{column}' holds no text" in result.output
