"""The benchmark of BioSyn runs, on a toy encoder; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("biosyn")


@pytest.mark.usefixtures("one_thread")
def test_an_encoder_is_trained_and_measured(benchmark: Any, place: Path, tmp_path: Path) -> None:
    corpus, output = str(place / "processed_dev"), tmp_path / "out"
    dictionary = tmp_path / "dictionary.txt"
    dictionary.write_text("X:0||heart heart\nX:1||attack heart\nX:2||myocardial heart\n")
    result = benchmark.train([corpus], str(dictionary), str(place / "base"), str(output), max_steps=1)
    cache = str(tmp_path / "vectors")
    figures = benchmark.measure(corpus, str(dictionary), str(output), cache, result["fusion"])
    assert list(figures) == ["vectors alone", "with the sparse weight"]
    start = benchmark.measure(corpus, str(dictionary), str(place / "base"), cache, {})
    assert list(start) == ["vectors alone"]
    lines = {label: {"bare": one, "augmented": one} for label, one in figures.items()}
    assert benchmark.text({"NCBI": lines}).count("| NCBI |") == 2
