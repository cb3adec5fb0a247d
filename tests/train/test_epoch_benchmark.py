from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.encode import tiny


def test_an_epoch_is_projected(place: Path, tmp_path: Path, script: Callable[[str], Any]) -> None:
    benchmark, vocab, base = script("training.epoch"), str(place / "vocab"), str(tmp_path / "base")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    made = benchmark.model(str(tiny.folder(tmp_path / "tiny")), base, **shape)
    trained = benchmark.train(vocab, base, str(tmp_path / "out"), steps=6, batch_pairs=8, trace=None)
    encoded = benchmark.encode(vocab, base, names=20)
    text = benchmark.text({**made, "batch_pairs": 8, "train": trained, "encode": encoded})
    assert "an epoch of 11,792,953 pairs in" in text
