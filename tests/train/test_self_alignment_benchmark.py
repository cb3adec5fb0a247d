"""The benchmark of self-alignment runs, on toy encoders; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from nymlink.encode.torch_model import TorchModel
from nymlink.train.pair_files import write_pairs
from nymlink.train.pairs import Pairs
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    return importlib.import_module("self_alignment")


def test_other_starts_are_made_of_an_encoder(benchmark: Any, tmp_path: Path) -> None:
    base = str(tiny.folder(tmp_path / "base"))
    benchmark.shallow(base, str(tmp_path / "shallow"), layers=1)
    benchmark.untrained(base, str(tmp_path / "random"), seed=0)
    whole, shallow, random = (TorchModel.load(tmp_path / name) for name in ("base", "shallow", "random"))
    assert len(shallow.transformer.encoder.layer) == 1
    weights = [model.state_dict()["transformer.embeddings.word_embeddings.weight"] for model in (shallow, random)]
    assert [whole.state_dict()["transformer.embeddings.word_embeddings.weight"].equal(one) for one in weights] == [
        True,
        False,
    ]


@pytest.mark.usefixtures("one_thread")
def test_every_variant_is_trained_and_measured(benchmark: Any, place: Path, tmp_path: Path) -> None:
    write_pairs(Pairs.of(Vocabulary.load(place / "vocab")), tmp_path / "pairs.parquet")
    found = {}
    for number, (label, settings) in enumerate(benchmark.VARIANTS.items()):
        output = str(tmp_path / str(number))
        short = {**benchmark.SHORT, "max_steps": 1, "batch_pairs": 8, "adapter_reduction": 4}
        benchmark.train(
            str(place / "base"), str(tmp_path), output, **{**short, **settings, "adapter_reduction": 4}
        )
        found[label] = output
    corpus = tmp_path / "corpora" / benchmark.CORPORA["NCBI"][1]
    corpus.parent.mkdir(parents=True)
    corpus.symlink_to(place / "processed_dev")
    other = tmp_path / "corpora" / benchmark.CORPORA["BC5CDR"][1]
    other.parent.mkdir(parents=True)
    other.symlink_to(place / "processed_dev")
    figures = benchmark.measure(found["circle"], str(tmp_path), str(place / "vocab"))
    spread = {corpus: benchmark._spread([figures[corpus]] * 3) for corpus in benchmark.CORPORA}
    text = benchmark.text({"single": {"start": figures}, "losses": {"circle": spread}})
    assert text.count("| start |") == 1
    assert text.count("± 0.0") == 4
