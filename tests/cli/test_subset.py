from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_what_is_kept_is_said(run: Run, built: Path, tmp_path: Path) -> None:
    result = run(
        "vocab", "subset", built / "vocab", "-o", tmp_path / "v", "--semantic-type", "Disease", "--language", "en"
    )
    assert (result.exit_code, result.stdout) == (0, f"2 of 3 concepts, 5 of 7 names → {tmp_path / 'v'}\n")
    assert "languages  en 5\n" in run("vocab", "info", tmp_path / "v").stdout


def test_conditions_may_be_repeated_and_all_hold(run: Run, built: Path, tmp_path: Path) -> None:
    def kept(*options: str) -> str:
        return run("vocab", "subset", built / "vocab", "-o", tmp_path / "v", *options).stdout.split(" → ")[0]

    assert kept("--semantic-type", "disease", "--semantic-type", "phenotype") == "3 of 3 concepts, 7 of 7 names"
    assert kept("--branch", "X:1", "--branch", "X:3") == "2 of 3 concepts, 5 of 7 names"
    assert (
        kept("--branch", "X:1", "--kind", "abbreviation", "--source", "table") == "1 of 3 concepts, 1 of 7 names"
    )


def test_a_part_does_not_take_the_place_of_the_whole(run: Run, built: Path, tmp_path: Path) -> None:
    run("vocab", "subset", built / "vocab", "-o", tmp_path / "v", "--language", "en")
    result = run("vocab", "subset", tmp_path / "v", "-o", tmp_path / "v", "--kind", "abbreviation")
    assert (result.exit_code, "is an input and would be overwritten" in result.stderr) == (2, True)
    again = run("vocab", "subset", tmp_path / "v", "-o", tmp_path / "part", "--kind", "abbreviation")
    assert again.stdout == f"2 of 3 concepts, 2 of 6 names → {tmp_path / 'part'}\n"


def test_a_language_means_its_regions_as_when_the_vocabulary_is_built(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("id\tname\tlang\nA:1\ttumour\ten-GB\nA:2\tcancer\ten\nA:3\tKrebs\tde\n", encoding="utf-8")
    assert run("vocab", "build", table, "-o", tmp_path / "all").exit_code == 0
    for code in ("en", "EN"):
        built = run("vocab", "build", table, "-o", tmp_path / "built", "--language", code)
        part = run("vocab", "subset", tmp_path / "all", "-o", tmp_path / "part", "--language", code)
        assert built.stdout.startswith("3 concepts, 2 names → ")
        assert part.stdout.startswith("2 of 3 concepts, 2 of 3 names → ")


def test_what_cannot_be_is_said_and_nothing_is_written(run: Run, built: Path, tmp_path: Path) -> None:
    for options, message in (
        ((), "give a condition: --branch, --semantic-type"),
        (("--kind", "synonym"), "'synonym' is not one of"),
        (("--semantic-type", "drug"), "no semantic type 'drug' in the vocabulary; there are: disease, phenotype"),
        (("--branch", "Y:1"), "no concept 'Y:1' in the vocabulary"),
        (
            ("--semantic-type", "phenotype", "--language", "es"),
            "nothing is left: no concept that meets the other conditions has the language es",
        ),
    ):
        result = run("vocab", "subset", built / "vocab", "-o", tmp_path / "v", *options)
        assert result.exit_code == 2, options
        assert message in result.stderr
        assert "Traceback" not in result.output
        assert list(tmp_path.iterdir()) == []
