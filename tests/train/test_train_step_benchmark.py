from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny
from tests.train.small import crowd, vocabulary


@pytest.mark.large
def test_a_training_step_is_measured(tmp_path: Path, script: Callable[[str], Any]) -> None:
    pytest.importorskip("pytorch_metric_learning")
    benchmark, base = script("training.train_step"), str(tiny.folder(tmp_path / "base"))
    rows = [row for concept in range(90) for row in crowd(f"X:{concept}", 5)]
    vocabulary(*rows).save(tmp_path / "vocab")
    lines = {}
    for label, function, arguments in (*benchmark.LINES[:1], *benchmark.LINES[4:5]):
        one = getattr(benchmark, function)(str(tmp_path / "vocab"), base, steps=1, **arguments)
        lines[label] = {**one, "peak_mb": 1000.0, "all": [50.0]}
    assert all(f"| {label} |" in benchmark.text({"lines": lines}) for label in lines)
