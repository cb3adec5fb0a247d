"""The benchmark of dense search runs, on a few vectors; what it measures here means nothing."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from tests.encode import tiny
from tests.index.small import many_names


@pytest.mark.filterwarnings("ignore:.*longer than 25 tokens")
@pytest.mark.usefixtures("one_thread")
def test_every_line_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("dense_search")
    names = many_names(300)
    (tmp_path / "names.txt").write_text("".join(f"D{at}||{name}\n" for at, name in enumerate(names)))
    (tmp_path / "queries.json").write_text(json.dumps([name[1:] for name in names[:12]]))
    model = str(tiny.folder(tmp_path / "model"))
    folder = str(tmp_path)
    encoded = benchmark.encode(str(tmp_path / "names.txt"), str(tmp_path / "queries.json"), model, folder)
    assert encoded == {"names": 300, "width": 32}
    assert np.load(tmp_path / "names.npy").dtype == np.float16
    lines = {}
    for label, function, _, settings in benchmark.LINES:
        one = getattr(benchmark, function)(folder, count=12, k=5, **settings)
        assert one["per_second"] > 0
        assert one.get("recall", 1) > 0.8
        lines[label] = {**one, "per_second": 50.0, "peak_mb": 90.0, "all": [50, 40]}
    benchmark.write_million(folder, count=500, width=16)
    many = benchmark.million(folder, queries=12, k=5)
    assert many["single_ms"] > 0
    many |= {"count": 500, "peak_mb": 90.0}
    text = benchmark.text({"k": 5, **encoded, "lines": lines, "million": many})
    assert text.splitlines()[6].startswith("| nymlink, exact | 50 | 1.0× | 90 |")
    assert "500 × 384 float16" in text
