from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny
from tests.index.small import many_names


@pytest.mark.filterwarnings("ignore:.*longer than 25 tokens")
def test_dense_search_is_measured(tmp_path: Path, script: Callable[[str], Any]) -> None:
    benchmark, folder, names = script("search.dense_search"), str(tmp_path), many_names(300)
    (tmp_path / "names.txt").write_text(
        "".join(f"D{at}||{name}\n" for at, name in enumerate(names)), encoding="utf-8"
    )
    (tmp_path / "queries.json").write_text(json.dumps([name[1:] for name in names[:12]]), encoding="utf-8")
    model = str(tiny.folder(tmp_path / "model"))
    encoded = benchmark.encode(str(tmp_path / "names.txt"), str(tmp_path / "queries.json"), model, folder)
    lines = {}
    for label, function, _, settings in benchmark.LINES:
        one = getattr(benchmark, function)(folder, count=12, k=5, **settings)
        assert one.get("recall", 1) > 0.8
        lines[label] = {**one, "peak_mb": 90.0, "all": [50, 40]}
    benchmark.write_million(folder, count=500, width=16)
    many = benchmark.million(folder, queries=12, k=5) | {"count": 500, "peak_mb": 90.0}
    assert "| nymlink, exact |" in benchmark.text({"k": 5, **encoded, "lines": lines, "million": many})
