"""`nymlink link --format …`: documents, mappings and tables, to files, folders and pipes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest

from nymlink.corpus import read_corpus
from tests.cli.conftest import Run

PUBTATOR = """\
7|t|Heart attack in a man.
7|a|The MI was large, his stature short.
7\t0\t12\tHeart attack\tDisease\t
7\t27\t29\tMI\tDisease\t

8|t|Nothing.
8|a|
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text(PUBTATOR, encoding="utf-8")
    return tmp_path / "notes.txt"


@pytest.mark.parametrize("name", ["pubtator", "bioc-xml", "bioc-json", "brat", "conll"])
def test_documents_go_from_format_to_format(
    run: Run, built: Path, corpus: Path, tmp_path: Path, name: str
) -> None:
    result = run("link", "--index", built / "index", "--corpus", corpus, "--format", name, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    documents = read_corpus(tmp_path / "out").documents
    assert [document.id for document in documents] == ["7", "8"]
    found = [(mention.start, mention.end, mention.concept_ids) for mention in documents[0].mentions]
    assert found == [(0, 12, ("X:1",)), (27, 29, ("X:1",))]
    again = run("link", "--index", built / "index", "--corpus", tmp_path / "out")
    assert len(again.stdout.splitlines()) == 3


def test_brat_needs_a_folder_of_its_own(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    given = ("link", "--index", built / "index", "--corpus", corpus, "--format", "brat")
    stream = run(*given)
    assert stream.exit_code == 2
    assert stream.stdout.splitlines()[0] == "T1\tDisease 0 12\tHeart attack"
    assert "give a folder, -o FOLDER" in stream.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    full = run(*given, "-o", tmp_path / "full")
    assert (full.exit_code, "need a new or empty folder" in full.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
    alone = run("link", "--index", built / "index", "MI", "--context", "His MI.", "--format", "brat")
    assert alone.stdout.splitlines() == ["T1\tConcept 4 6\tMI", "N1\tReference T1 X:1\tmyocardial infarction"]


@pytest.mark.parametrize("name", ["pubtator", "bioc-xml", "brat"])
def test_documents_are_asked_for(run: Run, name: str) -> None:
    result = run("link", "MI", "--format", name)
    assert (result.exit_code, f"{name} needs documents as input: give --corpus FILE" in result.stderr) == (2, True)


def test_codes_and_frequencies_are_those_of_the_table(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "code,term,n\nA,heart attack,5\nB,'=MI,2\nA,heart attack,1\n", encoding="utf-8"
    )
    table = (tmp_path / "t.csv", "--column", "term", "--map-column", "code=code")
    given = ("link", "--index", built / "index", *table)
    sssom = run(*given, "-o", tmp_path / "t.sssom.tsv")
    assert sssom.exit_code == 0, sssom.stderr
    body = "".join(
        line for line in (tmp_path / "t.sssom.tsv").read_text(encoding="utf-8").splitlines(True) if line[0] != "#"
    )
    rows = list(csv.DictReader(io.StringIO(body), delimiter="\t"))
    assert [(row["subject_label"], row["object_id"], row["other"]) for row in rows] == [
        ("heart attack", "X:1", "code=A"),
        ("=MI", "X:1", "code=B"),
    ]
    fhir = json.loads(run(*given, "--format", "fhir-r5").stdout)
    assert [element["code"] for element in fhir["group"][0]["element"]] == ["A", "B"]
    usagi = run(*given, "--map-column", "frequency=n", "--format", "usagi")
    assert (usagi.exit_code, usagi.stdout) == (2, "")
    assert "link to an index of OMOP vocabularies" in usagi.stderr
    assert "no column 'x'" in run(*given, "--map-column", "frequency=x").stderr


def test_usagi_of_an_omop_index_is_read_back(run: Run, tmp_path: Path) -> None:
    (tmp_path / "omop.tsv").write_text("id\tname\nOMOP:44\tgout\nOMOP:45\tfever\n", encoding="utf-8")
    assert run("vocab", "build", tmp_path / "omop.tsv", "-o", tmp_path / "v").exit_code == 0
    assert run("index", "build", tmp_path / "v", "-o", tmp_path / "i", "--encoder", "none").exit_code == 0
    (tmp_path / "t.csv").write_text("code,term,n,ward\nA,gout,5,x\nB,fever,2,y\n", encoding="utf-8")
    columns = ("--map-column", "code=code", "--map-column", "frequency=n")
    given = ("link", "--index", tmp_path / "i", tmp_path / "t.csv", "--column", "term", *columns)
    result = run(*given, "-o", tmp_path / "t.usagi.csv")
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "t.usagi.csv").read_text(encoding="utf-8")
    assert text.splitlines()[1].startswith("A,gout,5,44,gout,x,1.0000,UNCHECKED,UNREVIEWED,,0,44,gout,")
    again = run("link", "--index", tmp_path / "i", "--corpus", tmp_path / "t.usagi.csv", "--format", "usagi")
    assert [line.split(",")[:4] for line in again.stdout.splitlines()[1:]] == [
        ["A", "gout", "5", "44"],
        ["B", "fever", "2", "45"],
    ]
    table = run(*given, "--format", "source-to-concept-map")
    assert table.stdout.splitlines()[1] == "A,0,T,gout,44,,1970-01-01,2099-12-31,"
    (tmp_path / "review.csv").write_text(text.replace("UNCHECKED", "APPROVED"), encoding="utf-8")
    reviewed = ("--corpus", tmp_path / "review.csv")
    figures = run("evaluate", "--index", tmp_path / "i", *reviewed)
    assert figures.exit_code == 0, figures.output


def test_workbooks_and_parquet_in_and_out(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("term,score\nheart attack,x\n=MI,y\n", encoding="utf-8")
    given = ("link", "--index", built / "index", tmp_path / "t.csv", "--column", "term", "-o")
    for name in ("t.xlsx", "t.parquet"):
        assert run(*given, tmp_path / name).exit_code == 0
        back = run("link", "--index", built / "index", "--corpus", tmp_path / name, "--map-column", "mention=term")
        assert back.exit_code == 0, back.stderr
        assert [line.split("\t")[3] for line in back.stdout.splitlines()[1:]] == ["heart attack", "'=MI"]
    header, first, _ = openpyxl.load_workbook(tmp_path / "t.xlsx").active.values
    assert header[:2] == ("term", "score")
    assert "nymlink_score" in header
    assert first[:2] == ("heart attack", "x")
    piped = run("link", "--index", built / "index", "MI", "--format", "parquet")
    assert piped.stdout_bytes.startswith(b"PAR1")


def test_cells_that_would_be_run_are_text_once_and_again(run: Run, built: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text('term,note\n"=MI",-5\nMI,-\n', encoding="utf-8")
    result = run("link", "--index", built / "index", table, "--column", "term", "-o", tmp_path / "one.csv")
    assert "1 cells that a spreadsheet would run as formulas" in result.stderr
    one = (tmp_path / "one.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[:2] for line in one[1:]] == [["'=MI", "-5"], ["MI", "-"]]
    again = run("link", "--index", built / "index", tmp_path / "one.csv", "--column", "term")
    assert [line.split(",")[:2] for line in again.stdout.splitlines()[1:]] == [["'=MI", "-5"], ["MI", "-"]]
    assert "would run as formulas" not in again.stderr


def test_offsets_in_other_units(run: Run, built: Path, tmp_path: Path) -> None:
    given = ("--index", built / "index", "--corpus", tmp_path / "notes.txt")
    for unit, place in (("characters", "7\t9"), ("utf-16", "8\t10"), ("bytes", "11\t13")):
        text = f"7|t|Über 𝔘 MI\n7|a|\n7\t{place}\tMI\tDisease\tX:1\n"
        (tmp_path / "notes.txt").write_text(text, encoding="utf-8")
        found = run("link", *given, "--settings", f"offsets={unit}")
        assert (found.stdout.splitlines()[1].split("\t")[1:3], found.stderr) == (["7", "9"], "")
    assert run("evaluate", *given, "--offsets", "bytes").exit_code == 0


def test_columns_of_workbooks_and_of_parquet_are_linked(run: Run, built: Path, tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    for row in (["id", "term"], [1, "heart attack"], [2.5, None], [3, "=MI"], [4, "short stature"]):
        workbook.active.append(row)
    workbook.active["B4"].data_type = "s"
    workbook.save(tmp_path / "t.xlsx")
    given = ("link", "--index", built / "index", "--column", "term")
    text = run(*given, tmp_path / "t.xlsx")
    assert text.exit_code == 0, text.stderr
    rows = list(csv.DictReader(io.StringIO(text.stdout)))
    found = [(row["id"], row["term"], row["concept_id"]) for row in rows]
    expected = [("1", "heart attack", "X:1"), ("2.5", "", ""), ("3", "'=MI", "X:1"), ("4", "short stature", "X:3")]
    assert found == expected
    assert run(*given, tmp_path / "t.xlsx", "-o", tmp_path / "t.parquet").exit_code == 0
    again = run(*given, tmp_path / "t.parquet", "--top-k", 2, "-o", tmp_path / "again.xlsx")
    assert again.exit_code == 0, again.stderr
    header, first, *_ = openpyxl.load_workbook(tmp_path / "again.xlsx").active.values
    assert (first[0], first[1], header[-1]) == (1, "heart attack", "nymlink_note")
    missing = run("link", "--index", built / "index", "--column", "x", tmp_path / "t.xlsx")
    assert (missing.exit_code, "no column 'x'; the table has: id, term" in missing.stderr) == (2, True)
    (tmp_path / "bad.xlsx").write_bytes((tmp_path / "t.xlsx").read_bytes()[:2000])
    assert run(*given, tmp_path / "bad.xlsx").exit_code == 2
