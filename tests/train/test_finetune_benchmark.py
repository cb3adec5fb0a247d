from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation import toy_data


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: Callable[[str], Any]) -> Any:
    monkeypatch.setenv("NYMLINK_DATA", str(toy_data.write(tmp_path / "data")))
    return script("training.finetune")


def test_a_fold_is_trained_and_measured_once(
    benchmark: Any,
    run_here: list[str],
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--only", "AskAPatient", "--folds", "1", "--max-steps", "1")
    monkeypatch.setattr("sys.argv", ["finetune.py", str(tmp_path / "kept"), str(place / "base"), *options])
    benchmark.main()
    assert {"training.finetune:train", "training.finetune:average", "training.finetune:measure"} <= set(run_here)
    assert capsys.readouterr().out.count("| AskAPatient | 89.0/96.2 |") == 6
    run_here.clear()
    benchmark.main()
    assert run_here == ["common.inputs:unpack", "training.finetune:write_dictionaries"]


def test_nothing_that_is_measured_on_is_trained_on(benchmark: Any, tmp_path: Path) -> None:
    for split in ("dev", "test"):
        found = benchmark.sets(tmp_path, split)
        assert all(one.measured not in one.splits for ones in found.values() for one in ones)
    assert "test" not in str(benchmark.sets(tmp_path / "own", "dev")).replace(str(tmp_path), "")
