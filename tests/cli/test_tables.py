"""Tables as spreadsheets have them: `nymlink link --column` loses no row, and says what it cannot link."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_json_loses_no_column_of_the_same_name(run: Run, built: Path) -> None:
    arguments = ("link", "--index", built / "index", "--column", "term")
    table = "term,note,note\nheart attack,first,second\n"
    refused = run(*arguments, "--format", "jsonl", input=table)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "two columns are called 'note'" in refused.stderr
    assert run(*arguments, input=table).stdout.splitlines()[1].startswith("heart attack,first,second,1,X:1,")


@pytest.mark.parametrize("table", ["", "\n \n", '""\n'])
def test_a_table_without_a_header_is_empty(run: Run, built: Path, table: str) -> None:
    result = run("link", "--index", built / "index", "--column", 1, input=table)
    assert (result.exit_code, "standard input: the table is empty" in result.stderr) == (2, True), result.output


def linked(run: Run, built: Path, table: str | bytes, *arguments: str, code: int = 0) -> str:
    result = run("link", "--index", built / "index", "--column", *(arguments or ("term",)), input=table)
    assert result.exit_code == code, result.output
    return result.stdout


def read(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output.removeprefix("\ufeff"))))


def test_a_ragged_row_is_kept_and_not_linked(run: Run, built: Path) -> None:
    table = 'id,term,note\n1,MI\n2,MI,"a, b",c\n3,a"b,c,d,e\n4,heart attack,x\n'
    result = run("link", "--index", built / "index", "--column", "term", input=table)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "standard input:2: 2 fields instead of 3 (not linked)",
        "standard input:3: 4 fields instead of 3 (not linked)",
        "standard input:4: 5 fields instead of 3 (not linked)",
        "3 places in the input were rejected and not used",
    ]
    assert [
        (row["id"], row["term"], row["note"], row["rank"], row["concept_id"]) for row in read(result.stdout)
    ] == [
        ("1", "MI", "", "", ""),
        ("2", "MI", '"a, b",c', "", ""),
        ("3", 'a"b', "c,d,e", "", ""),
        ("4", "heart attack", "x", "1", "X:1"),
    ]
    found = [json.loads(line) for line in linked(run, built, table, "2", "--format", "jsonl", code=1).splitlines()]
    assert [(link["mention"], link["nil"]) for link in found[:3]] == [("", True)] * 3
    assert found[1]["row"] == {"id": "2", "term": "MI", "note": '"a, b",c'}


@pytest.mark.parametrize("mention", ["he\0art", "x" * 1_000_000])
def test_a_cell_that_is_no_mention_costs_no_row(run: Run, built: Path, mention: str) -> None:
    found = read(linked(run, built, f"term,id\n{mention},1\nMI,2\n".encode(), code=1))
    assert [(row["id"], row["concept_id"]) for row in found] == [("1", ""), ("2", "X:1")]
    assert found[0]["term"] == mention


def test_a_table_of_one_column_is_read_as_it_was_written(run: Run, built: Path, tmp_path: Path) -> None:
    cells = ["heart attack, acute", "", "MI, old", '5" tall', "short stature", ""]
    table = 'term\nheart attack, acute\n\n"MI, old"\n5" tall\nshort stature\n\n'
    found = read(linked(run, built, table))
    assert [row["term"] for row in found] == cells
    assert [row["concept_id"] for row in found][1::4] == ["", ""]
    assert found[4]["concept_id"] == "X:3"
    (tmp_path / "t.tsv").write_text(table, encoding="utf-8")
    result = run("link", "--index", built / "index", "--column", "1", "--file", tmp_path / "t.tsv")
    header, first, *_ = result.stdout.splitlines()
    assert header == "term\trank\tconcept_id\tconcept_name\tmatched_name\tmatched_language\tscore\tnote"
    assert first.startswith("heart attack, acute\t1\tX:1\tmyocardial infarction\theart attack\ten\t")


@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_stays(run: Run, built: Path, tmp_path: Path, packed: bool) -> None:
    data = codecs.BOM_UTF8 + b"term;id\r\nheart attack;1\r\n"
    (tmp_path / "t.csv").write_bytes(gzip.compress(data) if packed else data)
    result = run("link", "--index", built / "index", "--column", "term", "--file", tmp_path / "t.csv")
    assert result.stdout_bytes.startswith(codecs.BOM_UTF8 + b"term;id;rank;")
    again = run("link", "--index", built / "index", "--column", "term", input=result.stdout_bytes)
    assert again.stdout.splitlines()[1].startswith(
        "heart attack;1;1;X:1;myocardial infarction;heart attack;en;1.0000;;1;"
    )
    assert "\ufeff" not in linked(run, built, data, "term", "--format", "jsonl")


def test_linking_again_and_again_adds_columns_of_other_names(run: Run, built: Path) -> None:
    table = "term,SCORE\nheart attack,7\n"
    for _ in range(3):
        table = linked(run, built, table)
    header = table.splitlines()[0].split(",")
    assert len({name.casefold() for name in header}) == len(header) == 2 + 3 * 7
    assert [name for name in header if "score" in name.lower()] == [
        "SCORE",
        "nymlink_score",
        "nymlink_score_2",
        "nymlink_score_3",
    ]


def test_an_id_of_any_characters_comes_back_as_it_is(run: Run, tmp_path: Path) -> None:
    ids = ["A\t1", "B  2", "C,3", 'D"4']
    table = "".join(csv_line([id_, f"name {place}"]) for place, id_ in enumerate(ids))
    (tmp_path / "t.csv").write_text("id,name\n" + table, encoding="utf-8")
    assert run("vocab", "build", tmp_path / "t.csv", "-o", tmp_path / "v").exit_code == 0
    assert run("index", "build", tmp_path / "v", "-o", tmp_path / "index", "--encoder", "none").exit_code == 0
    mentions = "".join(f"name {place}\n" for place in range(len(ids)))
    tsv = run("link", "--index", tmp_path / "index", input=mentions)
    assert [row["concept_id"] for row in csv.DictReader(io.StringIO(tsv.stdout), delimiter="\t")] == ids
    assert [
        row["concept_id"] for row in read(linked(run, tmp_path, "term,x\n" + mentions.replace("\n", ",\n")))
    ] == ids


def csv_line(fields: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(fields)
    return line.getvalue()


def test_a_column_must_be_one(run: Run, built: Path) -> None:
    table = "term, term,id\nMI,heart attack,1\n"
    refused = run("link", "--index", built / "index", "--column", "term", input=table)
    assert refused.exit_code == 2
    assert "columns 1 and 2 have the same name, 'term': give the number" in refused.stderr
    assert ",X:1," in linked(run, built, table, "2")
    twice = run("link", "--index", built / "index", "--column", "1", "--column", "2", input=table)
    assert twice.exit_code == 2
    assert "--column names the one column to link" in twice.stderr


def test_a_column_that_is_not_there_is_answered_with_those_that_are(run: Run, built: Path) -> None:
    result = run("link", "--index", built / "index", "--column", "x", input="id,Diagnose (Text)\n1,MI\n")
    assert result.exit_code == 2
    assert "no column 'x'; the table has: id, Diagnose (Text)" in result.stderr
    assert "--column 'Diagnose (Text)'" in result.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "id,diagnosis\n1,MI\n", "--column diagnosis"),
        ("t.csv", "diagnosis\nMI\n", "--column diagnosis"),
        ("t.TSV.gz", "\nid\tterm\n1\tMI\n", "--column term"),
        ("t.txt", "id;a term\n1;MI\n", "--column 'a term'"),
        ("t.txt", "Cancer, Lung\nCancer, Breast\n", None),
        ("t.txt", "Cancer,Lung\nMI\n", None),
        ("t.txt", "MI\nshort stature\n", None),
    ],
)
def test_a_header_among_mentions_is_warned_of(
    run: Run, built: Path, tmp_path: Path, name: str, text: str, said: str | None
) -> None:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    result = run("link", "--index", built / "index", "--file", tmp_path / name)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(text.splitlines()) + 1
    if said is None:
        assert result.stderr == ""
    else:
        assert f"{tmp_path / name}: this looks like a table" in result.stderr
        assert result.stderr.endswith(f"for example {said}\n")


@pytest.mark.parametrize("format", ["jsonl", "tsv"])
def test_many_columns_take_no_more_time_than_as_many_cells(run: Run, built: Path, format: str) -> None:
    header = ",".join(f"c{number}" for number in range(100_000))
    row = "heart attack" + "," * 99_999
    started = time.process_time()
    assert "X:1" in linked(run, built, f"{header}\n{row}\n", "c0", "--format", format)
    # Where each header was counted among all, it took more than a minute.
    assert time.process_time() - started < 10


def test_rows_have_the_rules_of_their_languages(run: Run, built: Path) -> None:
    table = "term,lang\nheart attacks,en\nheart attacks,ja\nheart attacks,\nheart attacks,deutsch\n"
    columns = ("--column", "term", "--map-column", "language=lang", "--format", "jsonl")
    result = run("link", "--index", built / "index", *columns, "--language", "zh", input=table)
    assert [json.loads(line)["query"] for line in result.stdout.splitlines()] == [
        "heart attack",
        "heart attacks",
        "heart attacks",
        "heart attacks",
    ]
    assert result.stderr.splitlines() == [
        "standard input:5: 'deutsch' is no language code, as 'de' and 'pt-BR' are: taken as unknown (kept)",
        "1 place in the input was mended and kept",
    ]


@pytest.mark.parametrize(
    ("mapped", "message"),
    [
        ("language=Sprache", "no column 'Sprache'; the table has: term, lang (for example --map-column language="),
        ("mention=term", "--map-column only their language, code and frequency, not 'mention'"),
    ],
)
def test_other_columns_of_a_table_are_refused(run: Run, built: Path, mapped: str, message: str) -> None:
    arguments = ("link", "--index", built / "index", "--column", "term", "--map-column", mapped)
    refused = run(*arguments, input="term,lang\nMI,en\n")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert message in " ".join(refused.stderr.split())


def test_lines_have_no_columns(run: Run, built: Path) -> None:
    refused = run("link", "--index", built / "index", "--map-column", "language=lang", input="MI\n")
    assert (refused.exit_code, "give one, with --column" in refused.stderr) == (2, True)
