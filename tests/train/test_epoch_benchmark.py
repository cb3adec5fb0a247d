"""The benchmark of whole epochs runs, on a toy model; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.encode import tiny


@pytest.mark.usefixtures("one_thread")
def test_an_epoch_is_projected(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("epoch")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    vocab, base = str(place / "vocab"), str(tmp_path / "base")
    made = benchmark.model(str(tiny.folder(tmp_path / "tiny")), base, **shape)
    assert made["parameters"] > 1000
    trace = tmp_path / "profile.txt"
    trained = benchmark.train(vocab, base, str(tmp_path / "out"), steps=6, batch_pairs=8, trace=str(trace))
    assert trained["steps"] == 3
    assert trained["epoch_minutes"] == pytest.approx(benchmark.PAIRS / trained["pairs_per_second"] / 60)
    assert "aten::" in trace.read_text()
    encoded = benchmark.encode(vocab, base, names=20)
    assert encoded["names"] == 20
    text = benchmark.text({**made, "batch_pairs": 8, "train": trained, "encode": encoded})
    assert "an epoch of 11,792,953 pairs in" in text
