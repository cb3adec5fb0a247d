"""The benchmark of training steps runs, on a toy model; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.encode import tiny
from tests.train.small import crowd, vocabulary


@pytest.mark.usefixtures("one_thread")
def test_both_ways_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pytorch_metric_learning")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("train_step")
    base = str(tiny.folder(tmp_path / "base"))
    rows = [row for concept in range(90) for row in crowd(f"X:{concept}", 5)]
    vocabulary(*rows).save(tmp_path / "vocab")
    lines = {}
    for label, function, arguments in (*benchmark.LINES[:1], *benchmark.LINES[4:5]):
        one = getattr(benchmark, function)(str(tmp_path / "vocab"), base, steps=1, **arguments)
        assert one["pairs_per_second"] > 0
        lines[label] = {"pairs_per_second": 50.0, "peak_mb": 1000.0, "all": [50.0, 40.0]}
    assert benchmark.text({"lines": lines}).splitlines()[2].endswith("| 50 | 1.0× | 1,000 | 50, 40 |")
