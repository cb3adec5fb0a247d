"""`nymlink bulk`: jobs on the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.bulk import files
from tests.cli.conftest import Run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("patient,diagnosis\n1,heart attack\n2,short stature\n3,qqq\n4,a,b\n", encoding="utf-8")
    return path


def test_a_column_is_linked_and_what_was_rejected_is_said(
    run: Run, built: Path, table: Path, tmp_path: Path
) -> None:
    arguments = ("--column", "diagnosis", "--map-column", "id=patient", "--index", built / "index", "--workers", 0)
    done = run("bulk", "link", table, *arguments, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr == f"{table}:5: 3 fields instead of 2 (not used)\n"
    assert done.stdout.startswith("4 rows, 1 of them rejected: 3 mentions, 1 NIL → ")
    written = [
        (row["document_id"], row["row"], row["concept_id"], row["error"]) for row in files.output(tmp_path / "out")
    ]
    assert written == [
        ("1", 2, "X:1", None),
        ("2", 3, "X:3", None),
        ("3", 4, None, None),
        (None, 5, None, "3 fields instead of 2"),
    ]
    again = run("bulk", "link", table, *arguments, "-o", tmp_path / "out")
    assert (again.exit_code, again.stderr) == (1, "")
    assert again.stdout.endswith("1 of 1 shards were done before\n")
    whole = run("verify", tmp_path / "out")
    assert (whole.exit_code, "bulk job" in whole.stdout) == (0, True)
    assert run("bulk", "link", table, *arguments, "--top-k", 2, "-o", tmp_path / "out").exit_code == 2


def test_texts_are_annotated_and_names_encoded(run: Run, built: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_bytes(files.jsonl([("a", "No heart attack."), ("b", "Short stature.")]))
    done = run("bulk", "annotate", texts, "--index", built / "index", "--workers", 0, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    found = [(row["document_id"], row["concept_id"], row["negated"]) for row in files.output(tmp_path / "out")]
    assert found == [("a", "X:1", True), ("b", "X:3", False)]
    done = run("bulk", "encode", texts, "--column", "text", "--workers", 0, "-o", tmp_path / "vectors")
    assert done.exit_code == 0, done.stderr
    assert [len(row["vector"]) for row in files.output(tmp_path / "vectors")] == [384, 384]


def test_arguments_that_make_no_sense_are_refused(run: Run, built: Path, table: Path, tmp_path: Path) -> None:
    link = ("bulk", "link", table, "--index", built / "index", "-o", tmp_path / "out", "--workers", 0)
    for more, message in (
        (("--address", "auto"), "--workers 0 works in this process"),
        (("--gpus", "1"), "give --address, too"),
        ((), "no column 'mention'; the table has: patient, diagnosis (for example --column patient)"),
        (("--column", "diagnosis", "--map-column", "code=patient"), "no 'code'"),
        (("--column", "diagnosis", "--settings", "target_precision=0.9"), "not calibrated"),
    ):
        refused = run(*link, *more)
        assert (refused.exit_code, message in refused.stderr) == (2, True), refused.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.large
def test_a_driver_that_is_killed_leaves_no_worker_behind_and_goes_on(run: Run, tmp_path: Path) -> None:
    names, output = tmp_path / "names.jsonl", tmp_path / "out"
    names.write_bytes(files.jsonl([(str(number), f"heart attack {number} of {number}") for number in range(2000)]))
    command = [sys.executable, "-m", "nymlink", "bulk", "encode", str(names), "--column", "text"]
    command += ["--workers", "1", "--shard-rows", "250", "-o", str(output)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # A part counts when the journal has it.
    journal = output / "done.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
        assert driver.poll() is None
        time.sleep(0.05)
    children = psutil.Process(driver.pid).children(recursive=True)
    assert children
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert [child.name() for child in alive] == []
    assert not (output / "manifest.json").exists()
    encode = ("bulk", "encode", names, "--column", "text", "--workers", 0, "--shard-rows", 250)
    done = run(*encode, "-o", output)
    assert done.exit_code == 0, done.output
    assert "2,000 rows, 0 of them rejected: 2,000 names, 0 NIL" in done.stdout
    assert "of 8 shards were done before" in done.stdout
    assert run(*encode, "-o", tmp_path / "whole").exit_code == 0
    assert files.content(output) == files.content(tmp_path / "whole")


def test_a_table_that_has_grown_is_linked_where_it_is_new(
    run: Run, built: Path, table: Path, tmp_path: Path
) -> None:
    arguments = ("--column", "diagnosis", "--index", built / "index", "--workers", 0, "--shard-rows", 2)
    run("bulk", "link", table, *arguments, "-o", tmp_path / "out")
    with table.open("a", encoding="utf-8") as file:
        file.write("5,heart attack\n")
    done = run("bulk", "link", table, *arguments, "-o", tmp_path / "out")
    assert "\n1 new row\n2 of 3 shards were done before\n" in done.stdout, done.output
    assert [row["row"] for row in files.output(tmp_path / "out")] == [2, 3, 4, 5, 6]


def test_a_job_is_restricted(run: Run, built: Path, table: Path, tmp_path: Path) -> None:
    arguments = ("--column", "diagnosis", "--index", built / "index", "--workers", 0, "-o", tmp_path / "out")
    run("bulk", "link", table, *arguments, "--exclude", "X:1")
    assert "X:1" not in {row["concept_id"] for row in files.output(tmp_path / "out")}
