from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from tests.cli.conftest import Run

ENGLISH = {"X:1||myocardial infarction||heart attack", "X:1||myocardial infarction||mi", "X:1||heart attack||mi"}
ENGLISH_NAMES = ("myocardial infarction", "heart attack", "mi")


def lines(path: Path) -> set[str]:
    return set(path.read_text(encoding="utf-8").splitlines())


def test_what_was_written_is_said(run: Run, built: Path, tmp_path: Path) -> None:
    target = tmp_path / "pairs.txt"
    result = run("pairs", built / "vocab", "-o", target, "--language", "en")
    assert result.exit_code == 0
    assert result.stdout == f"4 pairs of 2 concepts, 5 names → {target}\n"
    assert lines(target) == {*ENGLISH, "X:2||mitral insufficiency||mi"}


def test_the_ending_decides_on_the_form(run: Run, built: Path, tmp_path: Path) -> None:
    assert run("pairs", built / "vocab", "-o", tmp_path / "pairs.parquet").exit_code == 0
    table = pq.read_table(tmp_path / "pairs.parquet")
    assert table.column_names == ["concept", "name1", "name2"]
    assert len(table) == 7


def test_pairs_go_to_standard_output_and_counts_to_standard_error(run: Run, built: Path) -> None:
    result = run("pairs", built / "vocab", "-o", "-", "--kind", "preferred", "--kind", "exact", "--language", "en")
    assert result.stdout == "X:1||myocardial infarction||heart attack\n"
    assert result.stderr == "1 pairs of 1 concepts, 2 names → -\n"


def test_options_choose_names(run: Run, built: Path, tmp_path: Path) -> None:
    def made(*options: object) -> set[str]:
        assert run("pairs", built / "vocab", "-o", tmp_path / "p.txt", *options).exit_code == 0
        return lines(tmp_path / "p.txt")

    assert len(made("--cap", 2)) == 3
    assert len(made("--language", "en", "--language", "es")) == 7
    assert made("--across-languages") == {f"X:1||{name}||infarto de miocardio" for name in ENGLISH_NAMES}
    assert made("--kind", "abbreviation", "--kind", "preferred", "--language", "en", "--seed", 1) == {
        "X:1||myocardial infarction||mi",
        "X:2||mitral insufficiency||mi",
    }


def test_kinds_of_names_are_chosen(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "concept_id,name,kind\nD:1,ibuprofen,preferred\nD:1,Advil,tradename\nD:1,2-(4-isobutylphenyl)…,exact\n",
        encoding="utf-8",
    )
    run("vocab", "build", tmp_path / "t.csv", "-o", tmp_path / "v")
    assert run("pairs", tmp_path / "v", "-o", tmp_path / "p.txt").stdout.startswith("3 pairs")
    kinds = ("--kind", "preferred", "--kind", "exact")
    assert run("pairs", tmp_path / "v", "-o", tmp_path / "p.txt", *kinds).stdout.startswith("1 pairs")


def test_concepts_are_held_out_whole(run: Run, built: Path, tmp_path: Path) -> None:
    options = ("--held-out", 0.5, "--held-out-to", tmp_path / "held.txt", "--seed", 3)
    result = run("pairs", built / "vocab", "-o", tmp_path / "train.txt", *options)
    assert result.exit_code == 0, result.stderr
    assert [line.split(" → ")[1] for line in result.stdout.splitlines()] == [
        str(tmp_path / "train.txt"),
        str(tmp_path / "held.txt"),
    ]
    train, held_out = ({line[:3] for line in lines(tmp_path / name)} for name in ("train.txt", "held.txt"))
    assert {*train, *held_out} == {"X:1", "X:2"}
    assert not train & held_out


def test_what_cannot_be_is_said_and_nothing_is_written(run: Run, built: Path, tmp_path: Path) -> None:
    target = tmp_path / "p.txt"
    for options, message in (
        (("--held-out", 0.1), "--held-out and --held-out-to go together"),
        (("--held-out-to", tmp_path / "h.txt"), "--held-out and --held-out-to go together"),
        (("--held-out", 0.1, "--held-out-to", target), "would be written twice"),
        (("--held-out", 1), "Invalid value"),
        (("--cap", 10**20), "is not in the range"),
        (("--language", "xx"), "no name is in the language 'xx'; the vocabulary has: en, es"),
        (("--language", "es"), "none of its concepts has two different names"),
        (("--held-out", 0.000001, "--held-out-to", tmp_path / "h.txt"), f"no pair for {tmp_path / 'h.txt'}"),
    ):
        result = run("pairs", built / "vocab", "-o", target, *options)
        assert result.exit_code == 2, options
        assert message in result.stderr
        assert "Traceback" not in result.output
        assert list(tmp_path.iterdir()) == []


def test_pairs_that_do_not_fit_into_a_line_are_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("concept_id,name\nD:1,a||b\nD:1,c\nD:1,d\n", encoding="utf-8")
    run("vocab", "build", tmp_path / "t.csv", "-o", tmp_path / "v")
    result = run("pairs", tmp_path / "v", "-o", tmp_path / "p.txt")
    assert (result.exit_code, result.stdout.split(" of ")[0]) == (0, "1 pairs")
    assert "2 pairs are left out" in result.stderr
    assert lines(tmp_path / "p.txt") == {"D:1||c||d"}
