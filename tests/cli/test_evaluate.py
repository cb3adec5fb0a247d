from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import NYMLINK, Run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "processed_test"
    folder.mkdir()
    (folder / "1.concept").write_text(
        "1||0|12||Disease||heart attack||X:1\n"
        "1||20|22||Disease||mi||X:2\n"
        "1||30|40||Disease||tiny person||X:3\n"
        "1||50|60||Disease||something||X:99\n",
        encoding="utf-8",
    )
    return folder


def test_the_figures_reach_the_report_and_the_json_file(
    run: Run, built: Path, corpus: Path, tmp_path: Path
) -> None:
    result = run("evaluate", "--index", built / "index", "--corpus", corpus, "--json", tmp_path / "run.json")
    assert result.exit_code == 0, result.stderr
    figures = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert figures["n"] == 4
    assert figures["acc@1"] == 0.5  # "mi" names the gold concept among others
    assert figures["concept_acc@1"] == 0.25
    assert figures["concept_acc@5"] == 0.75  # there are but three concepts
    assert figures["counts"]["unknown_gold"] == 1
    assert "by name, lenient                      50.0" in result.stdout
    assert "name is shared with the gold concept" in result.stdout


def test_mentions_the_dictionary_cannot_know_can_be_left_out(
    run: Run, built: Path, corpus: Path, tmp_path: Path
) -> None:
    arguments = ("--index", built / "index", "--corpus", corpus, "--json", tmp_path / "run.json")
    assert run("evaluate", *arguments, "--drop-unknown").exit_code == 0
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["n"] == 3


def test_mentions_are_read_in_their_language(run: Run, built: Path, tmp_path: Path) -> None:
    table, errors = tmp_path / "dev.tsv", tmp_path / "errors.tsv"
    table.write_text("mention\tconcept_id\nshort statrue\tX:99\nheart attacks\tX:99\n", encoding="utf-8")

    def queries(*options: str) -> list[str]:
        result = run("evaluate", "--index", built / "index", "--corpus", table, "--errors", errors, *options)
        assert result.exit_code == 0, result.stderr
        with errors.open(encoding="utf-8", newline="") as file:
            return sorted(row["query"] for row in csv.DictReader(file, delimiter="\t"))

    assert queries() == queries("--language", "en") == ["heart attack", "short stature"]
    assert queries("--language", "ja") == ["heart attacks", "short statrue"]


@pytest.mark.parametrize("command", [("evaluate", "--index"), ("calibrate",), ("index", "fit")])
def test_what_is_no_language_is_refused(run: Run, built: Path, corpus: Path, command: tuple[str, ...]) -> None:
    corpus_argument = ("--corpus", corpus) if command[0] == "evaluate" else (corpus,)
    result = run(*command, built / "index", *corpus_argument, "--language", "deutsch")
    assert result.exit_code == 2
    assert "'deutsch' is no language code" in result.stderr


def test_two_runs_are_compared(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    bare, augmented = tmp_path / "bare.json", tmp_path / "augmented.json"
    arguments = ("evaluate", "--index", built / "index", "--corpus", corpus)
    run(*arguments, "--json", bare)
    result = run(*arguments, "--augment", corpus, "--json", augmented, "--compare", bare)
    assert result.exit_code == 0, result.stderr
    assert json.loads(augmented.read_text(encoding="utf-8"))["acc@1"] == 0.75
    assert "acc@1 against" in result.stdout
    assert "right only here 1, only there 0" in result.stdout


def test_every_mistake_is_written(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    run("evaluate", "--index", built / "index", "--corpus", corpus, "--errors", tmp_path / "errors.tsv")
    with (tmp_path / "errors.tsv").open(encoding="utf-8") as file:
        mistakes = list(csv.DictReader(file, delimiter="\t"))
    why = {mistake["mention"]: mistake["why"] for mistake in mistakes}
    assert sorted(why) == ["mi", "something", "tiny person"]
    assert why["something"] == "gold concept is not in the vocabulary"


def test_nothing_is_lost_where_nobody_reads_the_report(built: Path, corpus: Path, tmp_path: Path) -> None:
    outputs = ("--json", tmp_path / "run.json", "--errors", tmp_path / "errors.tsv")
    arguments = ("evaluate", "--index", built / "index", "--corpus", corpus, *outputs)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*NYMLINK, *map(str, arguments)], stdout=write, check=False)
    os.close(write)
    assert done.returncode == 0
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["n"] == 4
    assert len((tmp_path / "errors.tsv").read_text(encoding="utf-8").splitlines()) == 4


def test_no_output_replaces_another_or_what_is_read(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("mention\tconcept_id\nheart attack\tX:1\n", encoding="utf-8")
    run_file = tmp_path / "run.json"
    common = ("evaluate", "--index", built / "index", "--corpus")
    assert run(*common, corpus, "--json", run_file).exit_code == 0
    kept = {path: path.read_bytes() for path in (table, run_file)}
    (tmp_path / "linked.tsv").symlink_to(table)
    for arguments, said in (
        ((corpus, "--json", tmp_path / "same", "--errors", tmp_path / "same"), "would be written twice"),
        ((table, "--errors", table), "is an input and would be overwritten"),
        ((table, "--errors", tmp_path / "linked.tsv"), "is an input and would be overwritten"),
        ((corpus, "--training", table, "--errors", table), "is an input and would be overwritten"),
        ((corpus, "--augment", table, "--errors", table), "is an input and would be overwritten"),
        ((corpus, "--compare", run_file, "--json", run_file), "is an input and would be overwritten"),
    ):
        result = run(*common, *arguments)
        assert (result.exit_code, said in result.stderr) == (2, True), arguments
        assert {path: path.read_bytes() for path in kept} == kept
        assert not (tmp_path / "same").exists()
    assert run(*common, corpus, "--json", os.devnull, "--errors", os.devnull).exit_code == 0


def test_columns_are_not_for_other_corpora_that_are_no_tables(
    run: Run, built: Path, corpus: Path, tmp_path: Path
) -> None:
    table, other = tmp_path / "table.tsv", tmp_path / "other.txt"
    table.write_text("term\tgold\nheart attack\tX:1\nmi\tX:2\n", encoding="utf-8")
    other.write_text("gold,term\nX:2,mi\n", encoding="utf-8")
    columns = ("--map-column", "mention=term", "--map-column", "concept_id=gold")
    arguments = (
        "evaluate",
        "--index",
        built / "index",
        "--corpus",
        table,
        *columns,
        "--json",
        tmp_path / "run.json",
    )
    result = run(*arguments, "--training", corpus, "--training", other, "--augment", corpus)
    assert result.exit_code == 0, result.stderr
    figures = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert figures["settings"]["training"] == ["processed_test", "other"]
    assert "training mentions of gold" in {row["group"] for row in figures["breakdown"]}


def test_a_run_to_compare_with_is_read_first(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    for text in ("[]", "{", "[" * 100_000, '{"mentions": {}}'):
        bad.write_text(text, encoding="utf-8")
        # No index is looked for.
        result = run("evaluate", "--index", tmp_path / "none", "--corpus", corpus, "--compare", bad)
        said = f"Error: {bad}: not an evaluation written by nymlink evaluate --json\n"
        assert (result.exit_code, result.stderr) == (2, said), text
    arguments = ("evaluate", "--index", built / "index", "--corpus", corpus)
    assert run(*arguments, "--drop-unknown", "--json", bad).exit_code == 0
    result = run(*arguments, "--compare", bad)
    assert result.exit_code == 2
    assert f"{bad}: the two runs scored different mentions" in result.stderr


def test_figures_are_broken_down(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    arguments = ("evaluate", "--index", built / "index", "--corpus", corpus, "--json", tmp_path / "run.json")
    result = run(*arguments, "--training", corpus)
    assert result.exit_code == 0, result.stderr
    figures = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert {"group": "training mentions of gold", "label": "1 or 2", "n": 3, "acc@1": 2 / 3, "acc@5": 1.0} in (
        figures["breakdown"]
    )
    assert figures["settings"]["training"] == ["processed_test"]
    assert "in no dictionary name" in result.stdout
    run(*arguments)
    figures = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert "training mentions of gold" not in {row["group"] for row in figures["breakdown"]}


def test_unusable_input(run: Run, built: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing.json").write_text("[]", encoding="utf-8")
    (tmp_path / "plain.txt").write_text("heart attack\n", encoding="utf-8")
    index = ("--index", built / "index")
    for arguments in (
        (*index, "--corpus", tmp_path / "missing"),
        (*index, "--corpus", tmp_path / "plain.txt"),
        (*index, "--corpus", corpus, "--type", "Chemical"),
        (*index, "--corpus", corpus, "--compare", tmp_path / "nothing.json"),
        (*index, "--corpus", corpus, "--compare", tmp_path / "missing.json"),
        (*index, "--corpus", corpus, "--json", tmp_path),
        (*index, "--corpus", corpus, "--json", tmp_path / "missing" / "run.json"),
        ("--index", tmp_path / "missing", "--corpus", corpus),
    ):
        result = run("evaluate", *arguments)
        assert result.exit_code == 2, arguments
        assert "Error" in result.stderr
        assert "Traceback" not in result.output
