from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nymlink.pairs.pair_files import write_pairs
from nymlink.pairs.pairs import Pairs
from nymlink.vocabulary.vocabulary import Vocabulary


def test_variants_are_trained_and_measured(place: Path, tmp_path: Path, script: Callable[[str], Any]) -> None:
    benchmark, base = script("training.self_alignment"), str(place / "base")
    benchmark.shallow(base, str(tmp_path / "shallow"), layers=1)
    benchmark.untrained(base, str(tmp_path / "random"), seed=0, shape={"num_hidden_layers": 1})
    write_pairs(Pairs.of(Vocabulary.load(place / "vocab")), tmp_path / "pairs.parquet")
    short = {**benchmark.SHORT, "max_steps": 1, "batch_pairs": 8}
    output = str(tmp_path / "out")
    settings = {**short, **benchmark.VARIANTS["circle"], "adapter_reduction": 4}
    benchmark.train(str(tmp_path / "shallow"), str(tmp_path), output, **settings)
    for _, split in benchmark.CORPORA.values():
        corpus = tmp_path / "corpora" / split
        corpus.parent.mkdir(parents=True)
        corpus.symlink_to(place / "processed_dev")
    figures = benchmark.measure(output, str(tmp_path), str(place / "vocab"))
    row = benchmark._row("circle", [figures] * 3)
    assert [cell.count("± 0.0") for cell in row.values()] == [0, 2, 2, 0]
