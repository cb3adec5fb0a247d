from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_an_encoder_is_trained_and_measured(place: Path, tmp_path: Path, script: Callable[[str], Any]) -> None:
    benchmark, corpus, output = script("training.biosyn"), str(place / "processed_dev"), tmp_path / "out"
    dictionary = tmp_path / "dictionary.txt"
    dictionary.write_text("X:0||heart heart\nX:1||attack heart\nX:2||myocardial heart\n", encoding="utf-8")
    result = benchmark.train([corpus], str(dictionary), str(place / "base"), str(output), max_steps=1)
    cache = str(tmp_path / "vectors")
    figures = benchmark.measure(corpus, str(dictionary), str(output), cache, result["fusion"])
    lines = {label: {"bare": one, "augmented": one} for label, one in figures.items()}
    assert benchmark.text({"NCBI": lines}).count("| NCBI |") == 2
