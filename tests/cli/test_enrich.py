from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.vocabulary.vocabulary import Vocabulary
from tests.cli.conftest import Run

MEDIC = "D007674||kidney diseases\nD007674||kidney disease\nD005334||fever\n"
META = """\
concept_id\tname\tlang\tkind\tsemantic_type\txrefs
MONDO:1\tkidney disorder\ten\tpreferred\t\tMESH:D007674
MONDO:1\tNephropathy\ten\texact\t\t
MONDO:1\tKidney disease\ten\texact\t\t
MONDO:1\tnéphropathie\tfr\texact\t\t
MONDO:1\tFever\ten\texact\t\t
"""


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """A dictionary ``medic.txt``, a table ``meta.tsv`` and the vocabulary ``meta`` of it."""
    (tmp_path / "medic.txt").write_text(MEDIC, encoding="utf-8")
    (tmp_path / "meta.tsv").write_text(META, encoding="utf-8")
    assert run("vocab", "build", tmp_path / "meta.tsv", "-o", tmp_path / "meta").exit_code == 0
    return tmp_path


@pytest.mark.parametrize("meta", ["meta", "meta.tsv"])
def test_names_are_added_and_counted(run: Run, folder: Path, meta: str) -> None:
    result = run("vocab", "enrich", folder / "medic.txt", "--with", folder / meta, "-o", folder / "out")
    assert result.exit_code == 0, result.stderr
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        "concepts 2",
        "with an equivalent by id 0",
        "with an equivalent by xref and name 0",
        "with an equivalent by xref 1",
        "cross-references not used 0",
        "names already present 1",
        "ambiguous names, left out 1",
        f"2 names added → {folder / 'out'}",
    ]
    assert [name.source for name in Vocabulary.load(folder / "out").find("nephropathy")] == ["meta"]


def test_names_alone_say_what_is_the_same_where_that_is_asked_for(run: Run, folder: Path) -> None:
    (folder / "own.csv").write_text("concept_id,name\n7,Disorder of kidneys\n8,cough\n", encoding="utf-8")
    arguments = ("vocab", "enrich", folder / "own.csv", "--with", folder / "meta", "-o", folder / "out")
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "match concepts by name, too (--by-name)" in " ".join(refused.stderr.split())
    result = run(*arguments, "--by-name")
    assert result.exit_code == 0, result.stderr
    assert "with an equivalent by name 1" in " ".join(result.stdout.split())
    assert [name.concept_id for name in Vocabulary.load(folder / "out").find("nephropathy")] == ["7"]


def test_languages_can_be_chosen(run: Run, folder: Path) -> None:
    arguments = ("vocab", "enrich", folder / "medic.txt", "--with", folder / "meta", "-o", folder / "out")
    assert "1 names added" in run(*arguments, "--language", "fr").stdout
    assert Vocabulary.load(folder / "out").find("néphropathie")


def test_a_source_can_be_left_out(run: Run, folder: Path) -> None:
    (folder / "more.tsv").write_text(
        "concept_id\tname\txrefs\nX:1\tkidney disorder\tMESH:D007674\nX:1\tRenal illness\t\n", encoding="utf-8"
    )
    both = (folder / "meta.tsv", folder / "more.tsv")
    assert run("vocab", "build", *both, "-o", folder / "both").exit_code == 0
    arguments = ("vocab", "enrich", folder / "medic.txt", "--with", folder / "both", "-o", folder / "out")
    assert "3 names added" in run(*arguments).stdout
    assert "2 names added" in run(*arguments, "--without", "more").stdout
    assert not Vocabulary.load(folder / "out").find("renal illness")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("medic.txt", "--with", "medic.txt", "-o", "medic.txt"), "is an input and would be overwritten"),
        (("medic.txt", "--with", "meta", "-o", "meta"), "is an input and would be overwritten"),
        (("medic.txt", "--with", "nowhere", "-o", "out"), "no such file"),
        (("medic.txt", "--with", "meta", "-o", "out", "--language", "xx"), "no language 'xx'"),
        (
            ("medic.txt", "--with", "meta", "-o", "out", "--without", "xx"),
            "no source 'xx' to leave out; there are: meta",
        ),
        (("other.txt", "--with", "meta", "-o", "out"), "ids such as X1 here, ids such as MONDO:1 to borrow from"),
        (("medic.txt", "-o", "out"), "Missing option '--with'"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    run: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    (folder / "other.txt").write_text("X1||cough\n", encoding="utf-8")
    before = sorted(folder.rglob("*"))
    paths = [word if word.startswith("-") or word == "xx" else f"{folder}/{word}" for word in arguments]
    result = run("vocab", "enrich", *paths)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert sorted(folder.rglob("*")) == before


def test_a_prefix_of_the_user_makes_ids_equal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text("id\tname\nhttp://example.org/x/a1\tgout\n", encoding="utf-8")
    (tmp_path / "other.tsv").write_text("id\tname\tsynonyms\nex:a1\tgout\tpodagra\n", encoding="utf-8")
    arguments = ("vocab", "enrich", tmp_path / "own.tsv", "--with", tmp_path / "other.tsv", "-o", tmp_path / "out")
    result = run(*arguments, "--prefix", "ex=http://example.org/x/")
    assert result.exit_code == 0, result.stderr
    assert [name.concept_id for name in Vocabulary.load(tmp_path / "out").find("podagra")] == ["ex:a1"]
