"""Markers of missing values in tables of any origin, and names that look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.tables.table import FORMAT
from nymlink.vocabulary.tables import Tables


def read(folder: Path, *rows: str) -> tuple[Tables, list[str]]:
    path = folder / "x.csv"
    path.write_text("".join(f"{row}\n" for row in ("id,name,synonyms", *rows)), encoding="utf-8")
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    return tables, [problem.message for problem in problems.first]


@pytest.mark.parametrize("marker", ["NULL", r"\N", "N/A", "#N/A", "<NA>", "-"])
def test_a_marker_is_no_name(tmp_path: Path, marker: str) -> None:
    tables, messages = read(tmp_path, f"X:1,gout,{marker}", f"X:2,{marker},flu|{marker}")
    assert sorted(tables.names["text"].to_pylist()) == ["flu", "gout"]
    assert len(tables.concepts) == 2
    [message] = messages
    assert message.startswith(f"3 names are markers of missing values ({marker})")


def test_a_name_that_looks_like_a_marker_stays(tmp_path: Path) -> None:
    tables, messages = read(tmp_path, "G:1,NAN,nuclear antigen", "G:2,NaN,sodium nitride", "G:3,Na-K pump,NA")
    assert {"NAN", "NaN", "NA", "Na-K pump"} <= set(tables.names["text"].to_pylist())
    assert messages == []


def test_what_several_concepts_are_called_is_a_marker(tmp_path: Path) -> None:
    tables, messages = read(tmp_path, "G:1,gout,nan", "G:2,flu,nan", "G:3,nan,cough")
    assert set(tables.names["text"].to_pylist()) == {"gout", "flu", "cough"}
    assert messages == ["3 names are markers of missing values (nan): left out"]
