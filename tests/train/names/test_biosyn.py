"""BioSyn from end to end: what it learns from, that it learns, stops, and goes on to the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.core.errors import InputError, NymlinkError, StoreError
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.fusion import Fusion
from nymlink.train.engine import checkpoint
from nymlink.train.engine.loop import StoppedError
from nymlink.train.names.train_biosyn import train_biosyn
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import BioSynSettings
from tests.train.runs import (
    interrupt_forward,
    metrics,
    names,
    record,
    same,
    train_though_killed,
    untimed_metrics,
    weights,
)

EPOCHS, IN_EPOCH = 3, 5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """33 queries, one of them twice, and one without a candidate that is right; others that are left out."""
    folder = tmp_path_factory.mktemp("biosyn") / "processed_train"
    folder.mkdir()
    said = [(f"{names(at)[0]} {'mi' if at % 2 else 'seizure'}", f"X:{at}") for at in range(32)]
    said += [
        said[0],
        ("qqq", "X:5"),
        ("fever", "X:99"),
        ("heart|attack", "X:1|X:2"),
        ("heart and attack", "X:1|X:2"),
    ]
    lines = [f"1||{10 * at}|{10 * at + 9}||Disease||{text}||{ids}\n" for at, (text, ids) in enumerate(said)]
    (folder / "1.concept").write_text("".join(lines), encoding="utf-8")
    return folder


def settings(place: Path, corpus: Path, output: Path, **changes: Any) -> BioSynSettings:
    given: dict[str, Any] = {
        "corpora": (str(corpus),),
        "vocab": str(place / "vocab"),
        "base": str(place / "base"),
        "output": str(output),
        "candidates": 6,
        "sparse_candidates": 2,
        "batch_queries": 8,
        "epochs": EPOCHS,
        "learning_rate": 3e-3,
        "log_every": 1,
        "device": "cpu",
    }
    return BioSynSettings(**given | changes)


@pytest.fixture(scope="module")
def finished(place: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nobody interrupted."""
    output = tmp_path_factory.mktemp("finished") / "out"
    train_biosyn(settings(place, corpus, output))
    return output


def test_the_record_says_what_was_learned_from_and_the_metrics_how_it_went(finished: Path) -> None:
    said = record(finished)
    assert said["recipe"] == "biosyn"
    assert said["data"]["queries"] == {"count": 33, "with_several_ids": 1, "entries": 96}
    assert list(said["data"]["corpora"][0]["files"]) == ["1.concept"]
    epochs = [line for line in metrics(finished) if "with_positive" in line]
    assert [(line["epoch"], line["step"]) for line in epochs] == [(1, 1), (2, 6), (3, 11)]
    # Rounding decides whether the query without a right candidate finds one by chance.
    assert all(0.5 < line["with_positive"] <= 1 for line in epochs)
    assert epochs[0]["sparse_weight"] == 0
    steps = [line for line in metrics(finished) if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, EPOCHS * IN_EPOCH + 1))
    for number, epoch in enumerate(epochs):
        own = steps[number * IN_EPOCH : (number + 1) * IN_EPOCH]
        without = sum(line["without_positive"] for line in own)
        assert without == pytest.approx(33 * (1 - epoch["with_positive"]))
    # A line is of the weights that its step began with, and a step of Adam is not much more than the rate.
    assert said["result"]["sparse_weight"] == pytest.approx(steps[-1]["sparse_weight"], abs=0.02)
    assert said["result"]["sparse_weight"] > 0.05


def test_the_learned_weight_is_said_as_weights_of_an_index(finished: Path) -> None:
    result = record(finished)["result"]
    weight, scale = max(result["sparse_weight"], 0), result["dense_scale"]
    assert result["fusion"] == {"dense": scale / (scale + weight), "sparse": weight / (scale + weight)}
    assert Fusion.of(["exact", "dense", "sparse"], weights=result["fusion"]).weights["exact"] == 0


def test_mentions_come_to_the_names_of_what_they_mean(place: Path, corpus: Path, tmp_path: Path) -> None:
    held_out = {"train": HeldOutCorpus(corpus=str(corpus), dictionary=str(place / "vocab"))}
    given = settings(place, corpus, tmp_path / "out", epochs=12, learning_rate=1e-3)
    result = train_biosyn(replace(given, evaluation=held_out, evaluate_every=20, best="train"))
    lines = metrics(tmp_path / "out")
    figures = [line["acc@1"] for line in lines if "evaluation" in line]
    assert result["figures"]["train"]["acc@1"] == max(figures) > figures[0] + 0.05
    losses = [line["loss"] for line in lines if "loss" in line]
    # The candidates become harder, and rounding differs by processor: the halves, not the ends.
    half = len(losses) // 2
    assert np.mean(losses[half:]) < np.mean(losses[:half])


def test_weights_that_are_kept_have_their_own_sparse_weight(place: Path, corpus: Path, tmp_path: Path) -> None:
    held_out = {"train": HeldOutCorpus(corpus=str(corpus), dictionary=str(place / "vocab"))}
    spoilt = settings(
        *(place, corpus, tmp_path / "out"), evaluation=held_out, best="train", learning_rate=5.0, evaluate_every=99
    )
    result = train_biosyn(spoilt)
    assert (result["steps"], result["weights_of_step"], result["sparse_weight"]) == (EPOCHS * IN_EPOCH, 0, 0.0)


@pytest.mark.large
def test_killed_at_any_time_it_goes_on_to_the_same_bits(
    place: Path, corpus: Path, finished: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    train_though_killed(train_biosyn, settings(place, corpus, output, checkpoint_minutes=0), output=output)
    assert_same(output, finished)


def assert_same(output: Path, finished: Path) -> None:
    assert same(weights(output), weights(finished))
    assert record(output)["result"] == record(finished)["result"]
    said = [untimed_metrics(folder) for folder in (output, finished)]
    assert said[0] == said[1]


def test_stopped_within_an_epoch_it_goes_on_with_the_candidates_of_its_start(
    place: Path, corpus: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(place, corpus, tmp_path / "out")
    interrupt_forward(monkeypatch, TorchModel, calls=8, training=True)
    with pytest.raises(StoppedError) as stopped:
        train_biosyn(given)
    (path,) = checkpoint.checkpoints(tmp_path / "out" / "checkpoints").values()
    step = int(path.name.removeprefix("step-"))
    assert step % IN_EPOCH != 0, stopped.value
    held = checkpoint.load_epoch_state(path)
    assert held["epoch"] == step // IN_EPOCH
    assert held["candidates"].shape == (33, 6)
    train_biosyn(given)
    assert_same(tmp_path / "out", finished)


def test_stopped_while_candidates_are_searched_it_breaks_that_off(
    place: Path, corpus: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(place, corpus, tmp_path / "out")
    interrupt_forward(monkeypatch, TorchModel, training=False)
    with pytest.raises(StoppedError, match="after step 0 of 15"):
        train_biosyn(given)
    train_biosyn(given)
    assert_same(tmp_path / "out", finished)


def test_memory_of_a_checkpoint_that_is_damaged_is_said(
    place: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(place, corpus, tmp_path / "out")
    interrupt_forward(monkeypatch, TorchModel, calls=3, training=True)
    with pytest.raises(StoppedError):
        train_biosyn(given)
    (path,) = (tmp_path / "out" / "checkpoints").glob("*/memory.safetensors")
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(StoreError, match=r"memory\.safetensors is damaged .*: remove its directory"):
        train_biosyn(given)


def test_what_cannot_be_trained_on_is_said_before_anything_is_written(
    place: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings(place, corpus, tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "1.concept").write_text("1||0|4||Disease||fever||Y:1\n", encoding="utf-8")
    with pytest.raises(InputError, match="annotated with ids of this vocabulary"):
        train_biosyn(replace(given, corpora=(str(tmp_path / "other"),)))
    with pytest.raises(InputError, match="no such"):
        train_biosyn(replace(given, base=str(tmp_path / "nothing")))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="biosyn runs in one process only: start it without torchrun"):
        train_biosyn(given)
    assert not (tmp_path / "out").exists()


def test_diverging_weights_stop_it(place: Path, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(NymlinkError, match=r"(step \d+ \(epoch 1, queries \d+ to \d+ of 33\)|after step \d+): "):
        train_biosyn(settings(place, corpus, tmp_path / "out", learning_rate=1e38, checkpoint_minutes=0))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"candidates": 1}, "candidates must be at least 2, not 1"),
        ({"sparse_candidates": 7}, r"sparse_candidates must be at least 0 and at most 6 \(candidates\), not 7"),
        ({"batch_queries": 0}, "batch_queries must be at least 1"),
        ({"sparse_learning_rate": float("nan")}, "sparse_learning_rate must be at least 0 and finite, not nan"),
        ({"corpora": ()}, "corpora must be at least one file or folder"),
    ],
)
def test_settings_have_their_ranges(place: Path, corpus: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        settings(place, corpus, Path("out"), **changes)


def test_defaults_are_the_published_settings() -> None:
    given = BioSynSettings(corpora=("c",), vocab="v", base="b", output="o")
    published = {"candidates": 20, "sparse_candidates": 10, "batch_queries": 16, "epochs": 10, "max_length": 25}
    rates = {"learning_rate": 1e-5, "sparse_learning_rate": 0.01, "weight_decay": 0.01}
    assert {name: getattr(given, name) for name in (*published, *rates)} == published | rates
