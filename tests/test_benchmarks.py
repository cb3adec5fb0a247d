from __future__ import annotations

import json
import re
import subprocess
import sys
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
ROOT = Path(__file__).parents[1]


def test_a_script_finds_the_others_when_it_is_called_by_its_path() -> None:
    command = [sys.executable, "benchmarks/common/docs_tables.py", "--check"]
    # Without what pytest and its caller put on the path.
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", env={}, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: pip install --editable ."


def test_functions_that_run_apart_exist(script: Script) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").rglob("*.py")]
    called = {match for text in texts for match in re.findall(r'(?<!f)"([a-z_]+(?:\.\w+)+):(\w+)"', text)}
    assert len(called) > 40
    for module, function in called:
        assert callable(getattr(script(module), function)), f"{module}:{function}"


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
    built = script("common.inputs").build(str(source), str(tmp_path))
    assert (built["concepts"], built["entries"]) == (6, 9)
    return str(tmp_path / "index")


@pytest.mark.large
def test_sparse_search_is_compared(
    source: Path, index: str, queries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    contenders, benchmark = script("search.contenders"), script("search.sparse_search")
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
    latency, inputs = script("commands.latency"), script("common.inputs")
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
    streaming = script("commands.streaming")
    fed, slow = streaming.fed(index, QUERIES, 100), streaming.slow(index, QUERIES, pause=0)
    assert (fed["lines"], slow["lines"]) == (100, 6)
    assert "| 100 |" in streaming.text({"fed": [fed], "slow": slow})


def test_queries_are_drawn_of_real_corpora(data: Path, tmp_path: Path, script: Script) -> None:
    inputs, output = script("common.inputs"), str(tmp_path / "found.json")
    count = inputs.write_queries(str(data), output, seed=0)["queries"]
    assert len(set(inputs.read_queries(output))) == count > 1000


@pytest.mark.usefixtures("run_here")
def test_a_large_vocabulary_is_made_built_and_searched(tmp_path: Path, script: Script) -> None:
    large = script("search.large_sparse")
    sizes = {"concepts": 400, "english": 1000, "other": 300}
    result = large.measure(tmp_path, sizes=sizes, queries=20, k=8, seed=1)
    assert result["search"]["recall"] == 1
    assert f"| {result['build']['entries']:,} entries |" in large.text(result)


LABELLED = """1
Wilson disease (WD) and the odd one.
An amino acid (aa) of superoxide dismutase (EC 1.15.1.1; SOD).
//!remark
  WD|Wilson disease
  aa|amino acid
  SOD|superoxide dismutase

2
No abbreviation here.
"""
BIOC = """<collection><document><id>1</id><passage><offset>0</offset><text>Wilson disease (WD)</text>
<annotation id="S0"><text>WD</text></annotation><annotation id="L0"><text>Wilson disease</text></annotation>
<relation id="R0"><node refid="L0" role="LongForm"/><node refid="S0" role="ShortForm"/></relation>
</passage></document></collection>"""


def test_abbreviations_are_scored(tmp_path: Path, script: Script) -> None:
    benchmark, gold = script("annotation.abbreviations"), script("annotation.abbreviation_gold")
    path = tmp_path / "labelled"
    path.write_text(LABELLED, encoding="utf-8")
    abstracts = gold.read_gold(path)
    assert [len(abstract.gold) for abstract in abstracts] == [3, 0]
    counts = benchmark.score(abstracts, benchmark.nymlink)
    assert (len(counts.right), counts.wrong, counts.missed) == (3, [], [])
    counts = benchmark.score(abstracts, script("annotation.schwartz_hearst").definitions)
    assert [short for _, short, _ in counts.missed] == ["SOD"]
    assert (counts.precision, counts.recall) == (1.0, 2 / 3)


def test_other_and_doubtful_abbreviations_count_as_right_and_not_at_all(script: Script) -> None:
    benchmark, gold = script("annotation.abbreviations"), script("annotation.abbreviation_gold")
    abstract = gold.Abstract("1", "", {("A", "a gene")}, {("A", "a")}, {("B", "b")})
    counts = benchmark.score([abstract], lambda _: {("A", "a"), ("B", "b"), ("C", "c")})
    assert (counts.right, counts.wrong, counts.missed) == ([("1", "A", "a gene")], [("1", "C", "c")], [])


def test_abbreviations_are_read_from_bioc(tmp_path: Path, script: Script) -> None:
    path = tmp_path / "gold.xml"
    path.write_text(BIOC, encoding="utf-8")
    (abstract,) = script("annotation.abbreviation_gold").read_gold(path)
    assert (abstract.text, abstract.gold) == ("Wilson disease (WD)", {("WD", "Wilson disease")})


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("in heat shock protein (HSP) of", ("HSP", "heat shock protein")),
        ("and HSP (the heat shock protein) of", ("HSP", "heat shock protein")),
        ("the delta-9-tetrahydrocannabinol (THC)", ("THC", "delta-9-tetrahydrocannabinol")),
        ("patients (mice) were", None),
    ],
)
def test_the_baseline_is_that_of_schwartz_and_hearst(text: str, pair: Any, script: Script) -> None:
    assert script("annotation.schwartz_hearst").definitions(text) == ({pair} if pair else set())


def test_without_a_gold_nothing_is_measured(script: Script, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("sys.argv", ["abbreviations.py", "nowhere.xml"])
    script("annotation.abbreviations").main()
    assert capsys.readouterr().out == "nowhere.xml: no such file: nothing measured\n"


@pytest.mark.large
def test_serving_is_measured(
    index: str, queries: str, run_here: list[str], monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    pytest.importorskip("fastapi", reason="nymlink[serve] is not installed")
    benchmark = script("commands.serve_load")
    monkeypatch.setattr(benchmark, "_ROUNDS", 1)
    monkeypatch.setattr(benchmark, "_HUGE", 50)
    result = benchmark.measure(index, queries, requests=40, count=4)
    assert [each["errors"] for rounds in result["rounds"].values() for each in rounds] == [0, 0, 0]
    assert "| 1 mention a request | 40 | 0 |" in benchmark.text(result)
    assert set(run_here) == {"commands.serve_load:batch", "commands.serve_load:clients"}
