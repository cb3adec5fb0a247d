"""The benchmark of pairs runs, on a toy release; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest


def test_every_step_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    pairs = importlib.import_module("pairs")
    result = pairs.measure(tmp_path, concepts=200, english=500, other=250)
    assert len({one["pairs"] for label, one in result.items() if "pairs" in one and "batch_ms" not in one}) == 1
    assert all(one["seconds"] > 0 and one["peak_mb"] > 0 for one in result.values())
    assert "of 180, " in pairs.text(result)
