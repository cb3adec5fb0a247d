"""The benchmarks run, on a toy vocabulary; what they measure here means nothing."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from nymlink.index.index import Index
from tests.encode import tiny

NAMES = (
    "D1||short stature\nD1||stature short\nD2||seizure\nD2||epileptic seizure\nD3||brain tumour\n"
    "D3||tumour of the brain\nD4||cleft lip\nD4||cleft upper lip\nD5||cleft palate\nD6||hearing loss\n"
)
QUERIES = ["short stature", "seizures", "brain tumor", "a cleft lip", "loss of hearing", "qqq"]


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


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
def index(source: Path, tmp_path: Path) -> str:
    built = load("inputs").build(str(source), str(tmp_path))
    assert (built["concepts"], built["entries"]) == (6, 9)
    return str(tmp_path / "index")


def test_an_index_is_built_again_from_its_vectors(source: Path, tmp_path: Path) -> None:
    load("inputs").build_vocabulary(str(source), str(tmp_path))
    encoder = str(tiny.folder(tmp_path / "encoder"))
    for name in ("first", "again"):
        built = load("inputs").build_index(str(tmp_path), name, encoder=encoder)
        assert (built["concepts"], built["entries"]) == (6, 9)
        assert built["index_seconds"] > 0
        assert "dense" in Index.load(tmp_path / name).search.parts
    assert (tmp_path / "vectors").is_dir()


def test_every_contender_searches(index: str, queries: str) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("rapidfuzz")
    contenders = load("contenders")
    for _, function, _, settings in load("sparse_search").CONTENDERS:
        arguments = {"count": 6, "k": 3, **settings, "repeats": 1}
        found = getattr(contenders, function)(index, queries, **arguments)
        assert found["queries"] == 6, function
        assert found["per_second"] > 0, function


def test_recall_is_complete_where_every_feature_is_searched(index: str, queries: str) -> None:
    # "qqq" shares nothing with any name: there is nothing to be found, and it does not count.
    recall = load("contenders").recall(index, queries, count=6, k=3)
    assert recall == {"queries": 5, "recall": 1.0, "recall_1": 1.0}


def test_scikit_learn_is_given_our_features() -> None:
    pytest.importorskip("sklearn")
    import numpy as np

    from nymlink.index.settings import SparseSettings
    from nymlink.index.tfidf import TfIdf

    settings = SparseSettings(chars=(1, 2), word_chars=(3, 4))
    names = ["short stature", "stature short", "epileptic seizure", "cleft palate"]
    theirs = load("contenders").scikit_pipeline(settings).fit_transform(names)
    ours = TfIdf.fit(names, settings).transform(names)
    np.testing.assert_allclose((theirs @ theirs.T).toarray(), (ours @ ours.T).toarray(), atol=1e-6)


def test_a_comparison_is_reported_with_peaks_of_separate_processes(
    source: Path, queries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse_search = load("sparse_search")
    monkeypatch.setattr(sparse_search, "CONTENDERS", sparse_search.CONTENDERS[:1])
    result = sparse_search.measure(str(source), queries, str(tmp_path / "work"), count=6, k=3)
    assert result["contenders"]["nymlink, sparse search"]["peak_mb"] > 0
    assert "| nymlink, sparse search | 6 |" in sparse_search.text(result)


def test_latency_is_reported(index: str, queries: str) -> None:
    latency = load("latency")
    one = latency.single_mentions(index, queries, count=6)
    assert one["mentions"] == 6
    assert 0 < one["median"] <= one["p95"] <= one["p99"] <= one["longest"]
    built = {"concepts": 6, "entries": 9, "vocabulary_seconds": 0.1, "index_seconds": 0.2, "peak_mb": 90.0}
    built["again_seconds"] = 0.05
    result = {
        "latency_ms": {"toy": {**one, "peak_mb": 90.0}},
        "import_seconds": {"import nymlink": latency.import_seconds("import nymlink", runs=1)},
        "cold_seconds": {"nymlink --version": latency.cold_seconds("--version", runs=1)},
        "build": {"toy": built},
    }
    assert "| toy | 6 | 9 | 0.1 | 0.2 | 0.1 | 90 |" in latency.text(result)


def test_all_lines_come_back_through_the_pipe(index: str) -> None:
    streaming = load("streaming")
    fed = streaming.fed(index, QUERIES, 2500)
    assert fed["lines"] == 2500
    slow = streaming.slow(index, QUERIES, pause=0)
    assert slow["lines"] == 6
    assert "| 2,500 |" in streaming.text({"fed": [fed], "slow": slow})


def test_the_queries_are_those_of_both_corpora(data: Path, tmp_path: Path) -> None:
    inputs = load("inputs")
    output = str(tmp_path / "found.json")
    assert inputs.write_queries(str(data), output, seed=0) == {"queries": 3578}
    assert len(set(inputs.read_queries(output))) == 3578


def test_a_large_vocabulary_is_made_built_and_searched(tmp_path: Path) -> None:
    large = load("large_sparse")
    sizes = {"concepts": 400, "english": 1000, "other": 300}
    result = large.measure(tmp_path, sizes=sizes, queries=20, k=8, seed=1)
    assert 600 < result["build"]["entries"] <= 1000
    assert result["search"]["queries"] == 20
    assert result["search"]["recall"] == 1
    assert f"| {result['build']['entries']:,} entries |" in large.text(result)
    # What is there is used again.
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*") if path.name != "index"}
    large.measure(tmp_path, sizes=sizes, queries=20, k=8, seed=1)
    assert {path: path.stat().st_mtime_ns for path in made} == made


def test_queries_are_names_as_people_write_them() -> None:
    import random

    large = load("large_sparse")
    draw = random.Random(0)
    name = "acute inflammation of the heart"
    written = [large.miswritten(name, draw) for _ in range(300)]
    assert 20 < sum(query == name for query in written) < 90
    assert any(sorted(query) == sorted(name) and query != name for query in written)
    assert all(len(large.miswritten("a", draw)) in (1, 2, 3) for _ in range(50))
