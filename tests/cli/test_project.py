"""`nymlink project`: a review on the command line."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from nymlink.project.decisions import decide
from nymlink.project.project import Project
from nymlink.project.rows import Target
from tests.cli.conftest import Run

TABLE = "icd;finding;n\nI21;heart attack;5\nQ1;shortt stature;2\nX;MI;1\nY;;1\nZ;a;b;c\n"


@pytest.fixture
def file(run: Run, built: Path, tmp_path: Path) -> Path:
    """A project with a table: heart attack 1, shortt stature 2, MI 3."""
    path = tmp_path / "visits.nymlink"
    made = run("project", "new", path, "--index", built / "index", "--title", "Visits")
    assert made.exit_code == 0, made.stderr
    (tmp_path / "visits.csv").write_text(TABLE, encoding="utf-8")
    added = run("project", "add", path, tmp_path / "visits.csv", "--map-column", "code=icd")
    assert added.exit_code == 1, added.stderr
    assert "5 rows, 3 terms: 3 new, 0 decided before" in added.stderr
    assert "visits.csv:6: 4 columns instead of 3 (left out)" in added.stderr
    assert "3 terms linked" in added.stderr
    return path


def decided(file: Path) -> None:
    with Project(file) as project:
        decide(
            project, reviewer="Ann", term=1, verdict="concept", targets=[Target("X:1", "myocardial infarction")]
        )
        decide(project, reviewer="Bob", term=1, verdict="nil")
        decide(project, reviewer="Ann", term=2, verdict="flag", comment="typo?")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))


def test_the_status_of_a_review(run: Run, file: Path) -> None:
    decided(file)
    result = run("project", "status", file)
    assert result.exit_code == 0, result.stderr
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "title Visits"
    assert "table visits.csv, 5 rows" in lines
    assert "decided 0 given concepts, 1 none; 1 flagged, 1 open" in lines
    assert "coverage 33.3% of terms, 33.3% of rows, 62.5% of occurrences" in lines
    assert "agreement Ann and Bob: 0 of 1 terms, kappa 0.000" in lines


def test_export_and_import(run: Run, file: Path, built: Path, tmp_path: Path) -> None:
    decided(file)
    written = run("project", "export", file, "--format", "csv")
    assert [(row["icd"], row["concept_id"], row["decision"]) for row in rows(written.stdout)] == [
        ("I21", "", "nil"),
        ("Q1", "", "flag"),
        ("X", "", ""),
        ("Y", "", ""),
        ("Z", "", ""),
    ]
    guessed = run("project", "export", file, "--guesses", "-o", tmp_path / "out.csv")
    assert guessed.exit_code == 0, guessed.stderr
    found = rows((tmp_path / "out.csv").read_text(encoding="utf-8"))
    assert [(row["icd"], row["concept_id"], row["decision"]) for row in found[:3]] == [
        ("I21", "", "nil"),
        ("Q1", "X:3", "flag"),
        ("X", "X:1", "guess"),
    ]
    other = tmp_path / "other.nymlink"
    run("project", "new", other, "--index", built / "index")
    run("project", "add", other, tmp_path / "visits.csv")
    for decisions, said in (
        (tmp_path / "out.csv", "2 decisions, 2 of them new"),
        (file, "3 decisions, 1 of them"),
    ):
        result = run("project", "import", other, decisions)
        assert result.exit_code == 0, result.stderr
        assert said in result.stderr


def test_what_is_sure_is_accepted(run: Run, file: Path) -> None:
    result = run("project", "accept", file, "--above", "0.5", "--reviewer", "Ann")
    assert (result.exit_code, "not calibrated" in result.stderr) == (2, True)
    with Project(file) as project, project.writing() as connection:
        connection.execute("UPDATE term SET confidence = 0.75 WHERE id < 3")
    told = run("project", "accept", file, "--above", "0.5", "--reviewer", "Ann", "--dry-run")
    assert told.stdout == (
        "2 terms in 2 rows would be accepted; about 0 of them will be wrong, as far as confidences tell\n"
    )
    done = run("project", "accept", file, "--above", "0.5", "--reviewer", "Ann")
    assert done.stdout == told.stdout.replace("would be accepted", "accepted")


def test_another_release(run: Run, file: Path, built: Path, tmp_path: Path) -> None:
    decided(file)
    (tmp_path / "next.tsv").write_text(
        "concept_id\tname\nX:3\tshort stature\nX:9\theart attack\n", encoding="utf-8"
    )
    run("vocab", "build", tmp_path / "next.tsv", "-o", tmp_path / "next")
    run("index", "build", tmp_path / "next", "-o", tmp_path / "next-index", "--encoder", "none")
    result = run("project", "rebase", file, "--index", tmp_path / "next-index")
    assert result.exit_code == 0, result.stderr
    # Bob's decision is the last one on the term, and still counts.
    assert result.stdout.splitlines() == [
        "1 terms with a concept that is gone: flagged",
        "1 terms with a better candidate than there was",
    ]
    shutil.rmtree(tmp_path / "next-index")
    exported = run("project", "export", file)
    assert (exported.exit_code, "is not here" in exported.stderr) == (0, True)
    assert run("project", "link", file).exit_code == 2
    changed = run("project", "link", file, "--index", built / "index")
    assert (changed.exit_code, "differs from that of the project" in changed.stderr) == (2, True)
    assert "(not there any more)" in run("project", "status", file).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status", "nowhere.nymlink"), "cannot be opened"),
        (("status", "table.csv"), "no project file"),
        (("add", "FILE", "nowhere.csv"), "no such file"),
        (("add", "FILE", "table.csv", "--column", "x"), "no column 'x'"),
        (("add", "FILE", "table.csv", "--map-column", "concept=x"), "--map-column names the columns"),
        (("import", "FILE", "table.csv"), "states no decisions"),
        (("export", "FILE", "--format", "pubtator"), "Invalid value for '--format'"),
        (("new", "FILE", "--index", "nowhere"), "nowhere"),
        (("new", "table.csv", "--index", "INDEX"), "the file exists already"),
        (("accept", "FILE", "--above", "0.5"), "Missing option '--reviewer'"),
    ],
)
def test_bad_arguments_are_refused(
    run: Run,
    file: Path,
    built: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE, encoding="utf-8")
    named = {"FILE": file, "INDEX": built / "index"}
    result = run("project", *(named.get(each, each) for each in arguments))
    assert result.exit_code == 2, result.output
    assert said in result.stderr


def test_a_project_that_is_open_is_not_written(run: Run, file: Path, tmp_path: Path) -> None:
    with Project(file):
        result = run("project", "add", file, tmp_path / "visits.csv")
        assert (result.exit_code, "another nymlink" in result.stderr) == (2, True)
        assert run("project", "status", file).exit_code == 0
        assert run("project", "export", file).exit_code == 0


def test_learning_and_forgetting(run: Run, file: Path, tmp_path: Path) -> None:
    nothing = run("project", "learn", file)
    assert nothing.exit_code == 2
    assert "decide some terms" in nothing.stderr
    with Project(file) as project:
        decide(
            project, reviewer="Ann", term=2, verdict="concept", targets=[Target("X:1", "myocardial infarction")]
        )
    result = run("project", "learn", file, "--save-names", tmp_path / "names.tsv")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1 decided terms: 1 names of concepts, 0 of none (")
    assert lines[1:] == [
        "order of candidates: too little to learn from: 1 terms that somebody looked at",
        "confidences: too little to learn from: 1 terms that somebody looked at",
    ]
    assert "names.tsv: 1 names" in result.stderr
    assert "2 terms linked" in result.stderr
    assert (tmp_path / "names.tsv").read_text(encoding="utf-8").splitlines()[
        1
    ] == "X:1\tshortt stature\tund\texact\t\t"
    (tmp_path / "next.csv").write_text("finding\nshortt stature of old\n", encoding="utf-8")
    assert run("project", "add", file, tmp_path / "next.csv").exit_code == 0
    written = run("project", "export", file, "--format", "csv", "--guesses")
    assert "shortt stature of old,,next.csv,1,X:1," in written.stdout
    assert run("project", "learn", file, "--forget", "--save-names", tmp_path / "names.tsv").exit_code == 2
    assert run("project", "learn", file, "--forget").stdout == "what was learned is forgotten\n"
    assert run("project", "learn", file, "--forget").stdout == "nothing was learned\n"
    assert (
        "shortt stature of old,,next.csv,1,X:3,"
        in run("project", "export", file, "--format", "csv", "--guesses").stdout
    )


def test_terms_are_linked_to_a_part_of_the_vocabulary(run: Run, file: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("finding\nheart atack\n", encoding="utf-8")
    refused = run("project", "add", file, tmp_path / "more.csv", "--branch", "X:33")
    assert refused.exit_code == 2
    assert "the branch 'X:33' is no concept of the index; did you mean X:3 (short stature)" in refused.stderr
    assert run("project", "add", file, tmp_path / "more.csv", "--types", "phenotype").exit_code == 0
    with Project(file, writes=False) as project:
        assert project.restriction.types == ("phenotype",)
        with project.reading() as connection:
            [link] = connection.execute("SELECT link FROM term WHERE text = 'heart atack'").fetchone()
    assert "X:1" not in link


def test_reviewers_disagree_and_an_adjudicator_decides(run: Run, file: Path, tmp_path: Path) -> None:
    set_up = run("project", "reviewers", file, "--blind", "--adjudicator", "Cara")
    assert set_up.exit_code == 0, set_up.stderr
    decided(file)
    lines = [" ".join(line.split()) for line in run("project", "reviewers", file).stdout.splitlines()]
    assert lines == [
        "reviewing blind; disagreements are decided by Cara",
        "reviewer Ann: 2 decided, 0 assigned",
        "reviewer Bob: 1 decided, 0 assigned",
        "agreement Ann and Bob: 0 of 1 terms, kappa 0.000",
        "disagree 1 heart attack: Ann: myocardial infarction; Bob: no concept",
    ]
    with Project(file) as project:
        decide(project, reviewer="Cara", term=1, verdict="nil")
    said = json.loads(run("project", "reviewers", file, "--json").stdout)
    assert (said["blind"], said["adjudicator"], said["disagreements"]) == (True, "Cara", [])
    assert run("project", "reviewers", file, "--not-blind", "--adjudicator", "").stdout.startswith(
        "reviewing   not blind; the last decision counts"
    )
    result = run("project", "report", file, "-o", tmp_path / "report.html")
    assert result.exit_code == 0, result.stderr
    assert "<h1>Review of Visits</h1>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert run("project", "report", file).stdout.startswith("<!doctype html>")


def test_forms_are_listed_and_split(run: Run, file: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("finding\nHeart attacks\n", encoding="utf-8")
    assert run("project", "add", file, tmp_path / "more.csv").exit_code == 0
    listed = run("project", "split", file)
    assert listed.stdout.splitlines()[1:] == ["4\tHeart attacks\t\t1\theart attack"]
    assert run("project", "split", file, "4").stdout == "decided by themselves: 4\n"
    assert run("project", "split", file).stdout.count("\n") == 1
    unknown = run("project", "split", file, "99")
    assert (unknown.exit_code, "no term number 99" in unknown.stderr) == (2, True)


def test_concepts_of_the_project(run: Run, file: Path) -> None:
    given = ["--parent", "X:1", "--synonym", "broken heart", "--definition", "Grief of the heart."]
    added = run("project", "concept", "add", file, "--name", "Takotsubo", *given)
    assert (added.exit_code, added.stdout) == (0, "LOCAL:0000001\n"), added.stderr
    listed = run("project", "concepts", file).stdout.splitlines()
    assert listed[1] == "LOCAL:0000001\tTakotsubo\tX:1\tbroken heart\tGrief of the heart."
    robot = run("project", "concepts", file, "--template", "robot").stdout.splitlines()
    assert robot[1].split("\t")[2] == "SC % SPLIT=|"
    assert "X:1 (myocardial infarction)" in run("project", "concepts", file, "--template", "issue").stdout
    wrong = run("project", "concept", "add", file, "--name", "heart attack")
    assert wrong.exit_code != 0
    assert "X:1 of the vocabulary has the name" in wrong.stderr + str(wrong.exception)
