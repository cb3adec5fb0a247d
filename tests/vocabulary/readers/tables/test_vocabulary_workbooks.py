"""Workbooks and Parquet files with a table of any format in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.contract.vocabulary_samples import SAMPLES

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables


def _workbook(folder: Path, rows: list[list[Any]]) -> Path:
    path = folder / "source.dat"
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def _parquet(folder: Path, rows: list[list[Any]]) -> Path:
    path = folder / "source.dat"
    header, *cells = rows
    pq.write_table(
        pa.table({name: list(column) for name, column in zip(header, zip(*cells, strict=True), strict=True)}), path
    )
    return path


def _read(path: Path, problems: Problems | None = None, **options: Any) -> Tables:
    reader = find_format(VOCABULARY_FORMATS, path)
    return reader.read(
        path, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


@pytest.mark.parametrize(
    "name", ["table", "hgnc", "shared-table", "drugbank", "ncbi-gene", "sssom", "uniprot-tsv"]
)
def test_any_table_may_be_in_a_workbook(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    delimiter = "," if name in ("table", "drugbank") else "\t"
    lines = [line.split(delimiter) for line in sample.text.splitlines() if not line.startswith("#l")]
    plain = tmp_path / "plain"
    plain.write_text("\n".join(delimiter.join(line) for line in lines), encoding="utf-8")
    expected = VOCABULARY_FORMATS.get(name).read(plain, options=ReadOptions(), problems=Problems())
    path = _workbook(tmp_path, lines)
    assert find_format(VOCABULARY_FORMATS, path).name == "xlsx"
    tables = _read(path)
    assert (tables.concepts, tables.names) == (expected.concepts, expected.names)


def test_numbers_blank_rows_and_broken_rows(tmp_path: Path) -> None:
    rows = [
        ["code", "title", "synonyms"],
        [7, "seven", 'a "b" c'],
        [None, None, None],
        [None, "nobody", None],
        [8.0, "eight", "acht"],
    ]
    problems = Problems()
    path = _workbook(tmp_path, rows)
    tables = _read(path, problems)
    assert tables.concepts["id"].to_pylist() == ["7", "8"]
    assert tables.names["text"].to_pylist() == ["seven", 'a "b" c', "eight", "acht"]
    assert [(problem.path, problem.line) for problem in problems.first] == [(str(path), 4)]


def test_lists_of_parquet_are_several_values(tmp_path: Path) -> None:
    path = _parquet(
        tmp_path, [["id", "name", "synonyms"], ["X:1", "one", ["eins", "un; uno"]], ["X:2", "two", []]]
    )
    assert find_format(VOCABULARY_FORMATS, path).name == "parquet"
    assert _read(path).names["text"].to_pylist() == ["one", "eins", "un; uno", "two"]


def test_columns_of_a_workbook_are_mapped_and_asked_for(tmp_path: Path) -> None:
    path = _workbook(tmp_path, [["Kennung", "Wort", "Notiz"], ["X:1", "eins", "n"]])
    with pytest.raises(InputError, match=r"source.dat:1: no header is known .* --map-column id=Kennung"):
        _read(path)
    with pytest.warns(UserWarning, match=f"{path}: columns that are not read: Notiz"):
        vocabulary = read_vocabulary(path, options=ReadOptions(columns={"id": "Kennung", "name": "Wort"}))
    assert vocabulary.name_count == 1
