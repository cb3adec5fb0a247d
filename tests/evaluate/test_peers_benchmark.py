"""The benchmark of linkers side by side runs, on toy data; what it measures here means nothing."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.encode import tiny
from tests.evaluate import toy_data


@pytest.fixture(autouse=True)
def _on_toy_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    monkeypatch.setenv("NYMLINK_DATA", str(toy_data.write(tmp_path / "data")))


@pytest.fixture
def peers() -> ModuleType:
    return importlib.import_module("peers")


TASK = "NCBI dev, bare"
GROUNDS = {"heart attack": ["heart attack"], "flu": ["flu", "flu", "seizure"]}


def _gilda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gilda's classes, as far as they are used."""

    class Grounder:
        def __init__(self, terms: list[Any]) -> None:
            self.names = {term.args[1] for term in terms}
            # A shared name is a term of each of its concepts.
            assert len(terms) == 7

        def ground(self, query: str) -> list[Any]:
            texts = GROUNDS.get(query, [])
            assert self.names.issuperset(texts)
            return [SimpleNamespace(term=SimpleNamespace(text=text)) for text in texts]

    parts: dict[str, Any] = {
        "gilda": {},
        "gilda.grounder": {"Grounder": Grounder},
        "gilda.process": {"normalize": str.lower},
        "gilda.term": {"Term": lambda *args: SimpleNamespace(args=args)},
    }
    for name, values in parts.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**values))


def test_every_linker_is_measured_and_scored(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("rapidfuzz")
    monkeypatch.setenv("PYSTOW_HOME", "")
    _gilda(monkeypatch)
    folder = str(tmp_path / "work")
    Path(folder).mkdir()
    encoder = str(tiny.folder(tmp_path / "model"))
    encoders = {"untrained": encoder, "ours": encoder}
    prepared = peers.prepare(TASK, folder, str(tmp_path / "vectors"), encoders, limit=None)
    assert prepared["names"] == 6
    assert set(prepared["build_seconds"]) == {"sparse", "untrained", "ours"}
    names = json.loads((tmp_path / "work" / "names.json").read_text())
    lines = {}
    for label, function, settings in peers.LINES:
        one = getattr(importlib.import_module("peer_linkers"), function)(folder, **settings)
        assert one["per_second"] > 0
        found = one.pop("found")
        assert len(found) == 3
        assert all(len(set(rows)) == len(rows) <= 5 for rows in found)
        assert names[found[0][0]] == "heart attack"
        if function == "gilda":
            assert [[names[row] for row in rows] for rows in found] == [["heart attack"], [], ["flu", "seizure"]]
        lines[label] = {**one, **peers.score(folder, found), "build_seconds": None, "peak_mb": 90.0}
    exact, fuzzy = lines["exact match"], lines["rapidfuzz `ratio`"]
    assert exact["all"] == {"n": 3, "acc@1": 2 / 3, "acc@5": 2 / 3}
    assert exact["unseen"] == {"n": 1, "acc@1": 0, "acc@5": 0}
    assert fuzzy["all"]["acc@1"] == fuzzy["unseen"]["acc@1"] == 1
    text = peers.text({TASK: {"names": 6, "lines": lines}})
    assert text.startswith(f"| {TASK}: 3 mentions, 1 unseen, 6 names | Acc@1/@5 by name |")
    assert "| exact match | 66.7/66.7 | 0.0/0.0 |" in text


@pytest.mark.usefixtures("peers")
def test_no_pass_finds_what_the_last_one_remembers(tmp_path: Path) -> None:
    linkers = importlib.import_module("peer_linkers")
    (tmp_path / "queries.json").write_text('["flu", "fits"]')
    asked: list[list[str]] = []

    def search(block: list[str]) -> list[list[int]]:
        asked.append(block)
        return [[0] for _ in block]

    linkers._measured(str(tmp_path), 0.0, search)
    assert asked[1:5] == [["pass 0"], ["flu", "fits"], ["pass 1"], ["flu", "fits"]]


def test_a_comparison_runs_in_separate_processes(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "LINES", (peers.LINES[0], *peers.LINES[3:5]))
    folder, vectors = tmp_path / "work", str(tmp_path / "vectors")
    folder.mkdir()
    # Without gilda and encoders, their lines are left out.
    measured = peers.measure(TASK, str(folder), vectors, {}, gilda=None, limit=2)
    assert list(measured["lines"]) == ["exact match"]
    assert measured["lines"]["exact match"]["all"] == {"n": 2, "acc@1": 0.5, "acc@5": 0.5}
    assert measured["lines"]["exact match"]["peak_mb"] > 0


def test_tasks_are_those_of_one_split(peers: ModuleType) -> None:
    development, test = (peers.tasks(test=which)["names"] for which in (False, True))
    assert len(development) == 4
    assert all("dev" in name for name in development)
    assert test == ["NCBI test, bare", "NCBI test, augmented"]


def test_gilda_that_cannot_be_installed_is_said_and_left_out(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers.sys, "executable", str(tmp_path / "no-python"))
    assert peers.gilda_python(str(tmp_path)) is None
    assert "gilda==1.6.1 could not be installed and is left out" in capsys.readouterr().out
