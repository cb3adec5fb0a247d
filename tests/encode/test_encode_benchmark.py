"""The benchmark of encoding runs, on a toy model; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.index.small import many_names


def test_all_ways_are_measured(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("encode")
    source = tmp_path / "names.txt"
    rows = (f"D{number}||{name} seizure\nD{number}||{name}\n" for number, name in enumerate(many_names(300)))
    source.write_text("".join(rows), encoding="utf-8")
    prepared = benchmark.prepare(str(source), str(saved), str(tmp_path), count=40, seed=0)
    assert (prepared["names"], prepared["queries"]) == (40, 600)
    # Two layers of four matrices of 32 by 32 and two of 32 by 48, and attention within a name.
    linear = 2 * 2 * (4 * 32 * 32 + 2 * 32 * 48) * prepared["tokens"] / 1e9
    assert linear < prepared["gflop"] < 1.5 * linear
    lines = {}
    for label, function, arguments in benchmark.LINES:
        found = getattr(benchmark, function)(str(tmp_path), str(saved), **arguments)
        assert found["per_second"] > 0
        lines[label] = {"names": 40, "per_second": 50.0, "peak_mb": 1000.0, "all": [50, 40]}
    assert benchmark.peak(size=64)["gflop_per_second"] > 0
    result = {"prepared": {**prepared, "gflop": 8.0}, "lines": lines, "peak_gflop_per_second": 20.0}
    assert benchmark.text(result).splitlines()[2].endswith("| 40 | 50 | 1.0× | 50 % | 1,000 | 50, 40 |")
