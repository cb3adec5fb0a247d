from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny
from tests.evaluation import toy_data


def test_linkers_are_measured_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[str], Any]
) -> None:
    monkeypatch.setenv("NYMLINK_DATA", str(toy_data.write(tmp_path / "data")))
    peers, linkers = script("peers"), script("peer_linkers")
    [task, *_] = peers.tasks(test=False)["names"]
    folder = tmp_path / "work"
    folder.mkdir()
    encoder = str(tiny.folder(tmp_path / "model"))
    encoders = {peers.ALONE: encoder, "default": encoder}
    prepared = peers.prepare(task, str(folder), str(tmp_path / "vectors"), encoders, limit=2)
    lines = {}
    for label, function, settings in peers.LINES:
        if function != "gilda" and (function != "rapidfuzz" or find_spec("rapidfuzz")):
            one = getattr(linkers, function)(str(folder), **settings)
            figures = peers.score(str(folder), one.pop("found"))
            lines[label] = {**one, **figures, "build_seconds": None, "peak_mb": 90.0}
    said = peers.text({task: {"names": prepared["names"], "lines": lines}})
    assert said.startswith(f"| {task}: 2 mentions, 1 unseen, 6 names | Acc@1/@5 by name |")
    assert "| exact match | 50.0/50.0 | 0.0/0.0 |" in said
    assert "| nymlink |" in said


def test_gilda_that_cannot_be_installed_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[str], Any]
) -> None:
    peers = script("peers")
    monkeypatch.setattr(peers.sys, "executable", str(tmp_path / "no-python"))
    assert peers.gilda_python(str(tmp_path)) is None
