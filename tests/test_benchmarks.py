from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny

NAMES = (
    "D1||short stature\nD1||stature short\nD2||seizure\nD2||epileptic seizure\nD3||brain tumour\n"
    "D3||tumour of the brain\nD4||cleft lip\nD4||cleft upper lip\nD5||cleft palate\nD6||hearing loss\n"
)
QUERIES = ["short stature", "seizures", "brain tumor", "a cleft lip", "loss of hearing", "qqq"]
PEERS = {"rapidfuzz": "rapidfuzz", "scikit_topn": "sparse_dot_topn"}
Script = Callable[[str], Any]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "names.txt"
    path.write_text(NAMES, encoding="utf-8")
    return path


@pytest.fixture
def queries(tmp_path: Path) -> str:
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(QUERIES), encoding="utf-8")
    return str(path)


@pytest.fixture
def index(source: Path, tmp_path: Path, script: Script) -> str:
    built = script("inputs").build(str(source), str(tmp_path))
    assert (built["concepts"], built["entries"]) == (6, 9)
    return str(tmp_path / "index")


def test_sparse_search_is_compared(
    source: Path, index: str, queries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    contenders, benchmark = script("contenders"), script("sparse_search")
    for _, function, _, settings in benchmark.CONTENDERS:
        if any(function.startswith(peer) and not find_spec(module) for peer, module in PEERS.items()):
            continue
        arguments = {"count": 6, "k": 3, **settings, "repeats": 1}
        assert getattr(contenders, function)(index, queries, **arguments)["queries"] == 6, function
    # "qqq" shares nothing with any name: there is nothing to be found, and it does not count.
    assert contenders.recall(index, queries, count=6, k=3) == {"queries": 5, "recall": 1.0, "recall_1": 1.0}
    monkeypatch.setattr(benchmark, "CONTENDERS", benchmark.CONTENDERS[:1])
    result = benchmark.measure(str(source), queries, str(tmp_path / "work"), count=6, k=3)
    assert "| nymlink, sparse search | 6 |" in benchmark.text(result)


def test_latency_is_measured(index: str, queries: str, source: Path, tmp_path: Path, script: Script) -> None:
    latency, inputs = script("latency"), script("inputs")
    built = inputs.build_vocabulary(str(source), str(tmp_path))
    built |= inputs.build_index(str(tmp_path), "dense", encoder=str(tiny.folder(tmp_path / "encoder")))
    result = {
        "latency_ms": {"toy": {**latency.single_mentions(index, queries, count=6), "peak_mb": 90.0}},
        "import_seconds": {"import nymlink": latency.import_seconds("import nymlink", runs=1)},
        "cold_seconds": {"nymlink --version": latency.cold_seconds("--version", runs=1)},
        "build": {"toy": {**built, "again_seconds": 0.05, "peak_mb": 90.0}},
    }
    assert "| toy | 6 | 9 |" in latency.text(result)


def test_streaming_is_measured(index: str, script: Script) -> None:
    streaming = script("streaming")
    fed, slow = streaming.fed(index, QUERIES, 100), streaming.slow(index, QUERIES, pause=0)
    assert (fed["lines"], slow["lines"]) == (100, 6)
    assert "| 100 |" in streaming.text({"fed": [fed], "slow": slow})


def test_queries_are_drawn_of_real_corpora(data: Path, tmp_path: Path, script: Script) -> None:
    inputs, output = script("inputs"), str(tmp_path / "found.json")
    count = inputs.write_queries(str(data), output, seed=0)["queries"]
    assert len(set(inputs.read_queries(output))) == count > 1000


@pytest.mark.usefixtures("run_here")
def test_a_large_vocabulary_is_made_built_and_searched(tmp_path: Path, script: Script) -> None:
    large = script("large_sparse")
    sizes = {"concepts": 400, "english": 1000, "other": 300}
    result = large.measure(tmp_path, sizes=sizes, queries=20, k=8, seed=1)
    assert result["search"]["recall"] == 1
    assert f"| {result['build']['entries']:,} entries |" in large.text(result)


@pytest.mark.slow
def test_serving_is_measured(
    index: str, queries: str, run_here: list[str], monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    pytest.importorskip("fastapi", reason="nymlink[serve] is not installed")
    benchmark = script("serve_load")
    monkeypatch.setattr(benchmark, "_ROUNDS", 1)
    monkeypatch.setattr(benchmark, "_HUGE", 50)
    result = benchmark.measure(index, queries, requests=40, count=4)
    assert [each["errors"] for rounds in result["rounds"].values() for each in rounds] == [0, 0, 0]
    assert "| 1 mention a request | 40 | 0 |" in benchmark.text(result)
    assert set(run_here) == {"serve_load:batch", "serve_load:clients"}
