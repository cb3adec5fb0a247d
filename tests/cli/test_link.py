from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from wcwidth import wcswidth

from tests.cli.conftest import NYMLINK, Run


def rows(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_arguments_become_tsv_when_the_output_is_no_terminal(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", "Heart Attack", "zzzz")
    assert result.exit_code == 0
    assert rows(result.stdout) == [
        {
            "mention": "Heart Attack",
            "rank": "1",
            "concept_id": "X:1",
            "concept_name": "myocardial infarction",
            "matched_name": "heart attack",
            "matched_language": "en",
            "score": "1.0000",
            "note": "",
        },
        {
            "mention": "zzzz",
            "rank": "",
            "concept_id": "",
            "concept_name": "",
            "matched_name": "",
            "matched_language": "",
            "score": "",
            "note": "",
        },
    ]


def test_what_there_is_to_doubt_is_a_note_in_every_format(run: Run, built: Path) -> None:
    mentions = ["no heart attack", "short stature", "short statrue"]
    command = ("link", "--index", built / "index", *mentions)
    notes = ["contradicts: 'no' is not in the name", "", "guessed: short stature"]
    assert [row["note"] for row in rows(run(*command).stdout)] == notes
    lines = [json.loads(line) for line in run(*command, "--format", "jsonl").stdout.splitlines()]
    assert [line["notes"] for line in lines] == [[note] if note else [] for note in notes]
    assert [line["guessed"] for line in lines] == [False, False, True]
    table = run(*command, "--format", "table").stdout.splitlines()
    assert [line.strip() for line in table if "↳" in line] == [f"↳ {note}" for note in notes if note]


def test_top_k_gives_distinct_concepts(run: Run, built: Path) -> None:
    found = rows(run("link", "--index", built / "index", "--top-k", 2, "MI").stdout)
    assert [(row["rank"], row["concept_id"]) for row in found] == [("1", "X:1"), ("2", "X:2")]


def test_json_lines_hold_the_score_s_parts(run: Run, built: Path) -> None:
    link = json.loads(run("link", "--index", built / "index", "--format", "jsonl", "heart attack").stdout)
    assert link["query"] == "heart attack"
    best = link["candidates"][0]
    assert best["concept_id"] == "X:1"
    assert best["matched"]["kind"] == "exact"
    assert best["parts"] == {"exact": 1.0, "sparse": 1.0, "writing": 1.0}


def test_a_table_fits_the_terminal(run: Run, built: Path) -> None:
    mention = "心肌梗死 " * 20 + "a" * 100_000
    result = run("link", "--index", built / "index", "--format", "table", mention, "heart attack")
    assert result.exit_code == 0
    assert "X:1" in result.stdout
    assert all(wcswidth(line) <= 120 for line in result.stdout.splitlines())


def test_lines_come_from_a_file_or_from_standard_input(run: Run, built: Path, tmp_path: Path) -> None:
    text = "heart attack\n\nshort stature\r\n"
    (tmp_path / "mentions.txt").write_bytes(text.encode())
    from_file = run("link", "--index", built / "index", "--file", tmp_path / "mentions.txt")
    from_pipe = run("link", "--index", built / "index", input=text)
    assert from_file.stdout == from_pipe.stdout
    # A blank line has a line of its own, so that output lines up with input.
    assert [row["concept_id"] for row in rows(from_file.stdout)] == ["X:1", "", "X:3"]


def test_broken_lines_are_reported_and_the_rest_is_linked(run: Run, built: Path) -> None:
    data = (
        b"heart attack\nbin\0ary\n"
        + "infarto de miocardí\n".encode("cp1252")
        + b"x" * 200_000
        + b"\nshort stature"
    )
    result = run("link", "--index", built / "index", input=data)
    assert result.exit_code == 1
    assert [row["concept_id"] for row in rows(result.stdout)] == ["X:1", "", "X:1", "", "X:3"]
    assert "standard input:2: " in result.stderr
    assert "standard input:3: not UTF-8" in result.stderr
    assert "standard input:4: " in result.stderr
    assert "2 places in the input were rejected" in result.stderr


def test_a_table_keeps_its_columns(run: Run, built: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        'id,"the, term",note\n1,heart attack,"two\nlines"\n2,"short"\n3,zzzz,\n4,Short Stature,"a ""b"""\n',
        encoding="utf-8",
    )
    result = run("link", "--index", built / "index", "--file", table, "--column", "the, term")
    assert result.exit_code == 1
    assert f"{table}:4: 2 fields instead of 3" in result.stderr
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["id"], row["note"], row["concept_id"]) for row in found] == [
        ("1", "two\nlines", "X:1"),
        ("2", "", ""),
        ("3", "", ""),
        ("4", 'a "b"', "X:3"),
    ]
    assert run("link", "--index", built / "index", "--file", table, "--column", "2").stdout == result.stdout
    by_line = run("link", "--index", built / "index", "--file", table, "--column", "2", "--format", "jsonl")
    assert json.loads(by_line.stdout.splitlines()[0])["row"] == {
        "id": "1",
        "the, term": "heart attack",
        "note": "two\nlines",
    }


def test_an_unclosed_quotation_mark_costs_no_further_row(run: Run, built: Path) -> None:
    table = 'id,term\n1,"heart attack\n' + "2,short stature\n" * 300
    result = run("link", "--index", built / "index", "--column", "term", input=table)
    assert [row["concept_id"] for row in csv.DictReader(io.StringIO(result.stdout))] == ["X:1"] + ["X:3"] * 300


def test_a_cell_of_many_lines_and_characters_stays_whole(run: Run, built: Path) -> None:
    note = "2,zzzz\n" * 200 + "x" * 200_000
    result = run("link", "--index", built / "index", "--column", "term", input=f'term,note\nMI,"{note}"\nmi,x\n')
    assert result.exit_code == 0, result.stderr
    assert f'\nMI,"{note}",1,X:1,' in result.stdout
    assert result.stdout.splitlines()[-1].startswith("mi,x,1,X:1,")
    assert result.stdout.count("X:1") == 2


def test_lines_may_end_in_carriage_returns_alone(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", input="heart attack\r\rshort stature\r")
    assert [row["concept_id"] for row in rows(result.stdout)] == ["X:1", "", "X:3"]
    table = run("link", "--index", built / "index", "--column", "term", input="id,term\r1,heart attack\r2,zzzz\r")
    assert [line.split(",")[:4] for line in table.stdout.splitlines()[1:]] == [
        ["1", "heart attack", "1", "X:1"],
        ["2", "zzzz", "", ""],
    ]


@pytest.mark.parametrize("row", ["1,  short stature", ",", '"a ""b""",short stature', '1,"short\nstature"'])
def test_the_cells_of_a_table_stay_as_they_are(run: Run, built: Path, row: str) -> None:
    result = run("link", "--index", built / "index", "--column", "term", input=f"\nid,term\n{row}\n")
    assert result.exit_code == 0
    added = "rank,concept_id,concept_name,matched_name,matched_language,score,note"
    assert result.stdout.splitlines()[0] == f"id,term,{added}"
    assert f"\n{row}," in result.stdout


def test_a_tab_separated_table_keeps_its_quotation_marks(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", "--column", "2", input='id\tterm\n"5" tall\tshort stature\n')
    assert result.stdout.splitlines()[1].startswith('"5" tall\tshort stature\t1\tX:3\t')


def test_columns_of_the_same_name_are_told_apart(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", "--column", "term", input="term,score\nmi,7\n")
    assert result.stdout.splitlines()[0].endswith(",concept_name,matched_name,matched_language,nymlink_score,note")


def test_many_candidates_come_in_portions(run: Run, built: Path) -> None:
    many = run("link", "--index", built / "index", "--top-k", 10**12, input="mi\nshort stature\n")
    few = run("link", "--index", built / "index", "--top-k", 3, input="mi\nshort stature\n")
    assert many.stdout == few.stdout


def test_unusable_arguments(run: Run, built: Path, tmp_path: Path) -> None:
    index = ("--index", built / "index")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for arguments in (
        (*index, "--top-k", "0", "x"),
        (*index, "--file", tmp_path / "missing", "--format", "tsv"),
        (*index, "--file", tmp_path / "t.csv", "x"),
        (*index, "--column", "a", "x"),
        (*index, "--file", tmp_path / "t.csv", "--column", "c"),
        (*index, "--file", tmp_path / "t.csv", "--column", "²"),
        ("--index", tmp_path / "missing", "x"),
        ("--index", built / "vocab", "x"),
    ):
        result = run("link", *arguments)
        assert result.exit_code == 2, arguments
        assert "Traceback" not in result.output
        assert not isinstance(result.exception, (OSError, ValueError))


def test_rows_come_before_the_table_ends(built: Path) -> None:
    process = subprocess.Popen(
        [*NYMLINK, "link", "--index", str(built / "index"), "--column", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # Killed if nothing comes, so that a failure is a failure and not a test that hangs.
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    process.stdin.write(b"term\nheart attack\n")
    process.stdin.flush()
    process.stdout.readline()
    assert b"X:1" in process.stdout.readline()
    watchdog.cancel()
    process.stdin.close()
    assert process.wait(30) == 0


def test_output_is_utf_8_whatever_the_locale(built: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("infarto de miocardío\n心筋梗塞\n", encoding="utf-8")
    done = subprocess.run(
        [*NYMLINK, "link", "--index", str(built / "index"), "--file", str(tmp_path / "names.txt")],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        check=True,
    )
    assert "心筋梗塞" in done.stdout.decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["link", "heart attack", "--index"], ["vocab", "--help"]])
def test_a_full_disk_is_an_error_without_a_traceback(built: Path, arguments: list[str]) -> None:
    index = [str(built / "index")] if arguments[-1] == "--index" else []
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*NYMLINK, *arguments, *index], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


def test_a_reader_that_goes_away_is_no_error(built: Path, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("heart attack\n" * 100_000, encoding="utf-8")
    process = subprocess.Popen(
        [*NYMLINK, "link", "--index", str(built / "index"), "--file", str(tmp_path / "many.txt")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(30) == 0


def test_links_come_before_the_input_ends_and_an_interrupt_is_quick_and_quiet(built: Path) -> None:
    process = subprocess.Popen(
        [*NYMLINK, "link", "--index", str(built / "index")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        # A test run in the background ignores interrupts, and what it starts would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    process.stdin.write(b"heart attack\n")
    process.stdin.flush()
    process.stdout.readline()
    assert b"X:1" in process.stdout.readline()
    watchdog.cancel()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert b"Traceback" not in process.stderr.read()


def test_the_language_of_the_matched_name_is_said(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", "infarto de miocardio", "short stature")
    rows = list(csv.DictReader(io.StringIO(result.stdout), delimiter="\t"))
    assert [(row["matched_name"], row["matched_language"]) for row in rows] == [
        ("infarto de miocardio", "es"),
        ("short stature", "en"),
    ]


def test_mentions_are_linked_to_a_part_of_the_vocabulary(run: Run, built: Path) -> None:
    def ids(*options: str) -> list[str]:
        found = run("link", "--index", built / "index", "MI", "--top-k", "5", "--format", "tsv", *options)
        assert found.exit_code == 0, found.stderr
        header, *lines = (line.split("\t") for line in found.stdout.splitlines())
        return [line[header.index("concept_id")] for line in lines]

    assert set(ids()) >= {"X:1", "X:2"}
    assert ids("--branch", "X:2") == ["X:2"]
    assert ids("--exclude", "X:1", "--types", "Disease") == ["X:2"]
    refused = run("link", "--index", built / "index", "MI", "--branch", "X:22")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert (
        "the branch 'X:22' is no concept of the index; did you mean X:2 (mitral insufficiency)?" in refused.stderr
    )
    # An id that resembles none proposes none.
    refused = run("link", "--index", built / "index", "MI", "--branch", "Y:9876")
    assert refused.stderr.rstrip().endswith("the branch 'Y:9876' is no concept of the index")


@pytest.mark.usefixtures("quick_workers")
def test_several_processes_write_the_bytes_of_one(run: Run, built: Path, tmp_path: Path) -> None:
    assert run("index", "build", built / "vocab", "-o", tmp_path / "index").exit_code == 0
    names = ["heart attack", "hart atack", "short stature", "心筋梗塞", "", "of no heart attacks", "growth"]
    table = tmp_path / "table.csv"
    lines = [f"{number},{names[number % 7]} {number % 3 or ''}" for number in range(1100)]
    table.write_text("\n".join(["id,finding", *lines, "7,too,many"]) + "\n", encoding="utf-8")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(
        "".join(
            f"{each}|t|A heart attack.\n{each}|a|\n{each}\t2\t14\theart attack\tD\t-\n\n" for each in range(70)
        ),
        encoding="utf-8",
    )
    for source, name in ((("--column", "finding", table), "links.csv"), (("--corpus", corpus), "links.jsonl")):
        done = []
        for processes in (1, 2):
            output = tmp_path / f"{processes}-{name}"
            command = (
                "link",
                *source,
                "--index",
                tmp_path / "index",
                "--settings",
                f"processes={processes}",
                "--top-k",
                2,
            )
            result = run(*command, "-o", output)
            done.append((result.exit_code, result.stderr, output.read_bytes()))
        assert done[0] == done[1]
        assert done[0][2].count(b"\n") >= 70
    refused = run(
        "link",
        "--index",
        built / "index",
        "--corpus",
        corpus,
        "--settings",
        "rerank=r",
        "--settings",
        "processes=2",
    )
    assert (refused.exit_code, "leave processes out" in refused.stderr) == (2, True)
