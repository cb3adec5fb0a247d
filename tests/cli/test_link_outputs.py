"""`nymlink link`: where mentions come from, where links go to, and in which format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TABLE = 'id,diagnosis\n1,heart attack\n2,"a, b"\n'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    return tmp_path / "table.csv"


def test_a_table_comes_as_an_argument_a_file_or_standard_input(run: Run, built: Path, table: Path) -> None:
    common = ("link", "--index", built / "index", "--column", "diagnosis")
    argument = run(*common, table)
    assert argument.exit_code == 0, argument.stderr
    assert argument.stdout.splitlines()[1].startswith("1,heart attack,1,X:1,")
    assert argument.stdout == run(*common, "--file", table).stdout == run(*common, input=TABLE).stdout
    assert argument.stdout == run(*common, "-", input=TABLE).stdout


def test_the_ending_of_the_output_is_its_format(run: Run, built: Path, table: Path, tmp_path: Path) -> None:
    common = ("link", "--index", built / "index", table, "--column", "diagnosis", "-o")
    for name in ("links.csv", "links.tsv", "links.jsonl", "links"):
        result = run(*common, tmp_path / name)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), name
    links = {path.suffix: path.read_text(encoding="utf-8") for path in tmp_path.glob("links*")}
    assert links[".csv"] == run(*common, "-").stdout
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        rows = list(csv.DictReader(io.StringIO(links[ending]), delimiter=delimiter))
        assert [(row["id"], row["diagnosis"]) for row in rows] == [("1", "heart attack"), ("2", "a, b")]
        assert rows[0]["concept_id"] == "X:1"
    assert links[""] == links[".tsv"]
    assert json.loads(links[".jsonl"].splitlines()[1])["row"] == {"id": "2", "diagnosis": "a, b"}
    assert run(*common, tmp_path / "other.jsonl", "--format", "tsv").exit_code == 0
    assert (tmp_path / "other.jsonl").read_text(encoding="utf-8") == links[".tsv"]


def test_an_output_is_written_whole_or_not_at_all(run: Run, built: Path, table: Path, tmp_path: Path) -> None:
    common = ("link", "--index", built / "index", table, "--column")
    own = run(*common, "diagnosis", "-o", table)
    assert (own.exit_code, "would be overwritten" in own.stderr) == (2, True)
    (tmp_path / "old.csv").write_text("old", encoding="utf-8")
    assert run(*common, "nothing", "-o", tmp_path / "old.csv").exit_code == 2
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "old"
    assert table.read_text(encoding="utf-8") == TABLE
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fever", "--format", "pubtator"), "pubtator needs documents as input: give --corpus FILE; or choose"),
        (("fever", "-o", "links.conll"), "conll needs documents as input"),
        (("fever", "-o", "links.docx"), "no format of links has the ending .docx: name a format with --format"),
        (("fever", "--column", "a"), "with --column INPUT is a table, and there is no file 'fever'"),
        (("a", "b", "--column", "a"), "--column goes with one table"),
        (("a", "--file", "b", "--column", "a"), "give the table as INPUT or with --file, only one of them"),
        (("a", "--context", "a", "--column", "a"), "give one MENTION"),
    ],
)
def test_what_cannot_be_written_is_said_before_an_index_is_read(
    run: Run, arguments: tuple[str, ...], message: str
) -> None:
    result = run("link", "--index", "/no/such/index", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_format_that_leaves_columns_out_says_so(run: Run, built: Path, table: Path) -> None:
    common = ("link", "--index", built / "index", table, "--column", "diagnosis", "--format")
    shown = run(*common, "table")
    assert shown.exit_code == 0
    keeping = "csv, csv-excel, jsonl, parquet, tsv, usagi, xlsx keep them"
    assert shown.stderr == f"Warning: --format table leaves out the columns of your table; {keeping}\n"
    assert run(*common, "jsonl").stderr == ""


def test_the_name_of_a_file_as_a_mention_is_warned_of(run: Run, built: Path, table: Path) -> None:
    result = run("link", "--index", built / "index", table)
    assert result.exit_code == 0
    assert f"there is a file of that name: to link its lines, give --file {table}" in result.stderr
    assert "add --column NAME" in result.stderr
    assert run("link", "--index", built / "index", "x" * 5000, "table").stderr == ""
