from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.vocabulary.mappings import read_mappings
from tests.cli.conftest import Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two small tables of anatomy."""
    (tmp_path / "mouse.tsv").write_text("concept_id\tname\nMA:1\theart\nMA:2\tleft lung\nMA:3\ttail\n", "utf-8")
    (tmp_path / "human.tsv").write_text("concept_id\tname\nFMA:1\tHeart\nFMA:2\tlung, left\n", "utf-8")
    return tmp_path


def test_mappings_are_written_and_counted(run: Run, folder: Path) -> None:
    output = folder / "out.sssom.tsv"
    result = run("match", folder / "mouse.tsv", folder / "human.tsv", "--encoder", "none", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines()[-1] == f"2 exact, 0 broader, 0 narrower → {output}"
    pairs = [(each.subject_id, each.object_id) for each in read_mappings(output).mappings]
    assert pairs == [("MA:1", "FMA:1"), ("MA:2", "FMA:2")]


def test_the_same_file_twice_gives_duplicates(run: Run, folder: Path) -> None:
    own, output = folder / "own.tsv", folder / "out.sssom.tsv"
    own.write_text("concept_id\tname\nX:1\tgout\nX:2\tGout\nX:3\tstye\n", "utf-8")
    result = run("match", own, own, "--encoder", "none", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert [(each.subject_id, each.object_id) for each in read_mappings(output).mappings] == [("X:1", "X:2")]


def test_nothing_in_common_writes_no_mapping(run: Run, folder: Path) -> None:
    (folder / "other.tsv").write_text("concept_id\tname\nX:1\tmeasles\n", "utf-8")
    output = folder / "out.sssom.tsv"
    result = run("match", folder / "human.tsv", folder / "other.tsv", "--encoder", "none", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert "0 exact" in result.stderr
    assert output.read_text("utf-8").splitlines()[-1].split("\t")[0] in ("subject_id", "object_id")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("concept_id\tname\nX:1\t\n", "no row that could be used"),
        ("", "empty"),
        ("\x00\x01\x02", "not recognised"),
    ],
)
def test_unusable_vocabularies_are_named(run: Run, folder: Path, content: str, said: str) -> None:
    (folder / "bad.tsv").write_text(content, "utf-8")
    output = folder / "out.sssom.tsv"
    result = run("match", folder / "mouse.tsv", folder / "bad.tsv", "--encoder", "none", "-o", output)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not output.exists()


def test_an_input_is_not_replaced(run: Run, folder: Path) -> None:
    own = folder / "mouse.tsv"
    result = run("match", own, folder / "human.tsv", "--encoder", "none", "-o", own)
    assert result.exit_code == 2
    assert own.read_text("utf-8").startswith("concept_id")
