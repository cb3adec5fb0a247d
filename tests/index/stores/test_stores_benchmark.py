from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.index.stores.test_conformance import drawn


def test_stores_are_measured(tmp_path: Path, script: Callable[[str], Any], request: pytest.FixtureRequest) -> None:
    vectors, searches, lines = (script(f"search.stores.{name}") for name in ("vectors", "searches", "lines"))
    folder = str(tmp_path)
    np.save(tmp_path / "names.npy", drawn(300).astype(np.float16))
    np.save(tmp_path / "queries.npy", drawn(8, seed=1))
    assert vectors.generate(folder, "large", count=400) == {"count": 400}
    generated = np.load(tmp_path / "large.npy").astype(np.float32)
    np.testing.assert_allclose(np.linalg.norm(generated, axis=1), 1, atol=1e-3)
    vectors.find_nearest(folder, "large", count=8, k=5)
    settings = {"count": 8, "k": 5, "seconds": 5}
    found = {}
    for label, store, kind in lines.LINES:
        if store == "here":
            room = tmp_path / kind
            room.mkdir()
            built = searches.build_here(folder, "large", str(room), kind=kind)
            one = built | searches.search_here(folder, "large", str(room), kind=kind, **settings)
        else:
            url = request.getfixturevalue(store)
            one = searches.measure_server(folder, "large", kind=kind, url=url, **settings)
        assert one["recall"] > (0.6 if kind == "ivf-pq" else 0.95)
        assert one["one"]["queries"] == one["many"]["queries"] == 8
        assert one["disk_mb"] > 0
        # The processes that these run in say their peaks.
        found[label] = {"build_peak_mb": 0.0, "peak_mb": 0.0, **one}
    printed = lines.text({"large": 400}, {"large": found}, 5)
    assert "| PostgreSQL, exact |" in printed
