"""The benchmark of fine-tuning runs, on toy data and a toy encoder; what it measures here means nothing."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.evaluate import toy_data

Run = Callable[..., list[str]]


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    monkeypatch.setenv("NYMLINK_DATA", str(toy_data.write(tmp_path / "data")))
    return importlib.import_module("finetune")


@pytest.fixture
def run(benchmark: Any, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the benchmark in this process and gives the functions that it would run in others."""
    called: list[str] = []

    def here(function: str, **arguments: Any) -> Any:
        called.append(function)
        module, _, name = function.partition(":")
        return getattr(importlib.import_module(module), name)(**json.loads(json.dumps(arguments)))

    def run(*options: str) -> list[str]:
        called.clear()
        command = ["finetune.py", str(tmp_path / "kept"), str(place / "base"), "--max-steps", "1", *options]
        monkeypatch.setattr("sys.argv", command)
        benchmark.main()
        return called

    monkeypatch.setattr(benchmark.apart, "run", here)
    return run


@pytest.mark.usefixtures("one_thread")
def test_folds_are_trained_and_measured_once(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tmp_path / "found.json"
    options = ("--only", "AskAPatient", "--folds", "2", "--json", str(found))
    called = run(*options)
    assert [called.count(f"finetune:{step}") for step in ("train", "average", "measure")] == [2, 2, 6]
    said = capsys.readouterr()
    assert "1 pairs, 3 epochs, 1 steps" in said.err
    assert said.out.count("| AskAPatient | 89.0/96.2 |") == 6
    assert said.out.count(" ± ") == 6 * 3 * 2
    result = json.loads(found.read_text())["AskAPatient"]
    # The mention that is measured is among those that are trained on.
    assert result["fine-tuned"][0]["hybrid"]["augmented"]["acc@1"] == 1
    assert run(*options) == ["inputs:unpack", "finetune:write_dictionaries"]
    assert json.loads(found.read_text())["AskAPatient"] == result
    # Of other settings there is no training yet.
    assert "finetune:train" in run("--only", "AskAPatient", "--folds", "1", "--learning-rate", "1e-3")


def test_nothing_that_is_measured_on_is_trained_on(benchmark: Any, tmp_path: Path) -> None:
    for split, names in (("dev", list(benchmark.PUBLISHED)), ("test", ["AskAPatient", "NCBI"])):
        found = benchmark.sets(tmp_path, split)
        assert list(found) == names
        assert [len(ones) for ones in found.values()] == [10, *[1] * (len(names) - 1)]
        assert all(one.measured not in one.splits for ones in found.values() for one in ones)
    assert "test" not in str(benchmark.sets(tmp_path / "own", "dev")).replace(str(tmp_path), "")


def test_a_split_that_is_kept_apart_is_not_measured_on(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("--only", "BC5CDR", "--split", "test")
    assert "there is no test split of BC5CDR" in capsys.readouterr().err
