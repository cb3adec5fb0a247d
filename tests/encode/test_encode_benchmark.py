from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.index.small import many_names


@pytest.mark.large
@pytest.mark.usefixtures("export_once")
def test_encoding_is_measured(saved: Path, tmp_path: Path, script: Callable[[str], Any]) -> None:
    benchmark = script("encoding.encode")
    source = tmp_path / "names.txt"
    rows = (f"D{number}||{name} seizure\nD{number}||{name}\n" for number, name in enumerate(many_names(300)))
    source.write_text("".join(rows), encoding="utf-8")
    prepared = benchmark.prepare(str(source), str(saved), str(tmp_path), count=40, seed=0)
    lines = {}
    for label, function, arguments in benchmark.LINES[::5]:
        found = getattr(benchmark, function)(str(tmp_path), str(saved), **arguments)
        lines[label] = {**found, "peak_mb": 1000.0, "all": [50]}
    peak = benchmark.peak(size=64)["gflop_per_second"]
    said = benchmark.text({"prepared": prepared, "lines": lines, "peak_gflop_per_second": peak})
    assert "| nymlink, ONNX Runtime, int8 | 40 |" in said
