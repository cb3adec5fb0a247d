from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.xlbel.test_results import RESULTS, write


def test_languages(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "languages.svg"
    result = run("plot", "languages", write(tmp_path / "results.json", RESULTS), "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"2 stages in 2 languages → {output}\n"), result.output
    drawn = output.read_bytes()
    assert b"Acc@1 of all mentions, by name, lenient (%)" in drawn
    assert b"own names out" in drawn


def test_what_holds_no_results_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    result = run("plot", "languages", tmp_path / "broken.json", "-o", tmp_path / "languages.png")
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert (
        "broken.json: these are no results by language: name a file that nymlink xlbel evaluate" in result.stderr
    )
    assert not (tmp_path / "languages.png").exists()
