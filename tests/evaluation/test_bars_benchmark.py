from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nymlink.encode.model.folder import MINI
from tests.encode import tiny
from tests.evaluation import toy_data


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    made = toy_data.write(tmp_path / "data")
    monkeypatch.setenv("NYMLINK_DATA", str(made))
    return made


def test_every_task_is_read_and_none_of_development_is_of_a_test_split(
    root: Path, tmp_path: Path, script: Callable[[str], Any]
) -> None:
    tasks, meta = script("common.tasks"), toy_data.write_metathesaurus(tmp_path / "meta")
    for name, task in tasks.bars(test=False, enriched=meta, metathesaurus=meta).items():
        vocabulary, corpora = tasks.load(task, root)
        assert len(vocabulary)
        assert all(any(corpus.mentions()) for corpus in corpora)
        assert not any("test" in part for part in (name, *(task.parts or [str(task.corpus)])))
    assert all("test" in name for name in tasks.bars(test=True, enriched="e", metathesaurus="m"))


@pytest.mark.large
def test_a_row_is_measured_once_and_shown(tmp_path: Path, script: Callable[[str], Any]) -> None:
    bars, folder = script("linking.bars"), tmp_path / "work"
    model, task = str(tiny.folder(tmp_path / "model")), "NCBI dev, bare"
    settings: dict[str, Any] = {"limit": None, "fusion": "weighted", "weights": {}}
    settings |= {"test": False, "enriched": None, "metathesaurus": None}
    sparse, ours = (bars.measure(str(folder), task, encoder, **settings) for encoder in (None, model))
    kept = {file: file.stat().st_mtime_ns for file in folder.rglob("*.json")}
    assert bars.measure(str(folder), task, model, **settings)["lines"] == ours["lines"]
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.json")} == kept
    said = bars.text(bars.rows(task, (90.0, 95.5), {"TF-IDF": [sparse], "toy": [ours]}))
    # Of "heart attack", "some seizure" and "flu", which two concepts share, one is no name.
    assert "| NCBI dev, bare | 90.0/95.5 | TF-IDF | 3 | 100.0/100.0 | 66.7/100.0 | 1 |" in said
    assert "toy, hybrid |" in said
    # nymlink-mini comes with a ranker.
    ranked = bars.measure(str(folder), task, MINI, **settings)
    [row] = bars.tables({task: {"ours": [ranked], "toy": [ours]}})["by_concept"]
    assert [column for column in row if "ranker" in column] == ["ours, no ranker"]
