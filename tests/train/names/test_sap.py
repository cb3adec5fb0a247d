"""Self-alignment from end to end: it learns, stops, goes on to the same bits, and says what it did."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from nymlink.core.errors import InputError, NymlinkError, OutputError, StoreError, UnknownNameError
from nymlink.core.problems import Problems
from nymlink.core.store.manifest import find_damage
from nymlink.core.toml_settings import make_settings
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.adapters import load_adapters
from nymlink.encode.model.token_batches import tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.pair_files import write_pairs
from nymlink.pairs.pairs import Pairs
from nymlink.train.engine.gradient_cache import encode
from nymlink.train.engine.loop import StoppedError
from nymlink.train.engine.optimiser import Precision
from nymlink.train.engine.run_folder import RunFolder
from nymlink.train.losses import LOSSES
from nymlink.train.names.pair_trainings import train_sap
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import SapSettings
from nymlink.train.settings.recipes import read_recipe
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.train.runs import STEPS, metrics, record, same, sap_settings, train_though_killed, weights
from tests.train.small import vocabulary


def held_out(place: Path) -> dict[str, HeldOutCorpus]:
    return {"dev": HeldOutCorpus(corpus=str(place / "processed_dev"), dictionary=str(place / "vocab"))}


@pytest.fixture(scope="module")
def finished(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that nobody interrupted."""
    output = tmp_path_factory.mktemp("finished") / "out"
    train_sap(sap_settings(place, output))
    return output


def test_synonyms_come_together(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(
        place, tmp_path / "out", epochs=6, evaluation=held_out(place), evaluate_every=9, best="dev"
    )
    result = train_sap(settings)
    lines = metrics(tmp_path / "out")
    losses = [line["loss"] for line in lines if "loss" in line]
    assert np.mean(losses[-6:]) < np.mean(losses[:6])
    figures = [line["acc@1"] for line in lines if "evaluation" in line]
    assert max(figures) > figures[0]
    assert result["figures"]["dev"]["acc@1"] == max(figures)
    assert result["weights_of_step"] == next(line["step"] for line in lines if line.get("acc@1") == max(figures))
    assert all(0 <= line["mined_negatives"] <= 1 for line in lines if "loss" in line)


def test_the_folder_is_an_encoder_and_says_all_that_is_needed_to_repeat_it(place: Path, finished: Path) -> None:
    AutoModel.from_pretrained(finished)
    model = TorchModel.load(finished)
    vectors = encode(model, tokenise(model.tokenizer, ["heart attack"]), Precision("float32", torch.device("cpu")))
    assert vectors.shape == (1, model.width)
    assert (model.settings.pooling, model.settings.max_length) == ("cls", 25)
    said = record(finished)
    assert said["recipe"] == "sap"
    assert said["settings"]["batch_pairs"] == 16
    assert said["settings"]["precision"] in ("bfloat16", "float32")
    assert said["data"]["pairs"] == {"count": 96}
    assert said["data"]["vocabulary"]["sources"][0]["licence"] == "CC0"
    assert said["versions"]["torch"] == torch.__version__
    assert said["result"]["steps"] == STEPS
    assert make_settings(SapSettings, read_recipe(finished, "sap")[0]).vocab == str(place / "vocab")
    assert os.uname().nodename not in (finished / "run.json").read_text(encoding="utf-8")


def test_sentence_transformers_makes_the_same_vectors(finished: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    model = TorchModel.load(finished)
    vectors = encode(
        model, tokenise(model.tokenizer, ["heart attack", "x"]), Precision("float32", torch.device("cpu"))
    )
    theirs = library.SentenceTransformer(str(finished), device="cpu").encode(["heart attack", "x"])
    np.testing.assert_allclose(theirs, torch.nn.functional.normalize(vectors).numpy(), atol=1e-5)


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    place: Path, finished: Path, tmp_path: Path
) -> None:
    train_sap(sap_settings(place, tmp_path / "same"))
    train_sap(sap_settings(place, tmp_path / "other", seed=1))
    assert same(weights(tmp_path / "same"), weights(finished))
    assert not same(weights(tmp_path / "other"), weights(finished))


def test_killed_at_any_time_it_goes_on_to_the_same_bits(place: Path, finished: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    settings = sap_settings(place, output, checkpoint_minutes=0)
    train_though_killed(train_sap, settings, output=output)
    assert same(weights(output), weights(finished))
    assert [line["step"] for line in metrics(output)] == list(range(1, STEPS + 1))
    assert [line["loss"] for line in metrics(output)] == [line["loss"] for line in metrics(finished)]


@pytest.mark.parametrize("tuning", ["adapters", "lora"])
def test_adapters_and_lora_stop_and_go_on_too(
    place: Path, tmp_path: Path, interrupt_next_step: Callable[[], None], tuning: str
) -> None:
    settings = sap_settings(place, tmp_path / "whole", tuning=tuning, graph_tokens=60, max_steps=3)
    train_sap(settings)
    stopped = replace(settings, output=str(tmp_path / "parts"))
    interrupt_next_step()
    with pytest.raises(StoppedError, match="after step 1 of 3"):
        train_sap(stopped)
    assert len(list((tmp_path / "parts" / "checkpoints").iterdir())) == 1
    train_sap(stopped)
    found, expected = weights(tmp_path / "parts"), weights(tmp_path / "whole")
    assert same(found, expected)
    base = TorchModel.load(place / "base")
    changed = not same(expected, dict(base.transformer.state_dict()))
    assert changed == (tuning == "lora")  # LoRA is merged into the weights; adapters lie beside them
    if tuning == "adapters":
        load_adapters(base.transformer, tmp_path / "whole" / "adapters")


@pytest.mark.parametrize("loss", LOSSES.names())
def test_every_loss_trains(place: Path, tmp_path: Path, loss: str) -> None:
    train_sap(
        sap_settings(place, tmp_path / "out", loss=loss, max_steps=2, shared_names="ignore", mining=loss != "nca")
    )
    assert all(np.isfinite(line["loss"]) for line in metrics(tmp_path / "out"))


def test_pairs_can_come_from_a_file(place: Path, tmp_path: Path) -> None:
    write_pairs(Pairs.of(Vocabulary.load(place / "vocab")), tmp_path / "pairs.txt")
    with (tmp_path / "pairs.txt").open("a") as file:
        file.write("no pair\n")
    problems = Problems()
    settings = sap_settings(place, tmp_path / "out", vocab=None, pairs=str(tmp_path / "pairs.txt"), max_steps=2)
    train_sap(settings, problems=problems)
    assert problems.rejected == 1
    assert record(tmp_path / "out")["data"]["pairs"]["count"] == 96


def test_a_finished_training_is_left_as_it_is(place: Path, finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    assert train_sap(sap_settings(place, finished))["steps"] == STEPS
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*")} == before


def test_two_at_once_do_not_meet(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "out", max_steps=1)
    with (
        RunFolder("sap", settings, {}).locked(),
        pytest.raises(OutputError, match=r"out: another training is writing to this folder: wait until it ends"),
    ):
        train_sap(settings)
    assert not list((tmp_path / "out").iterdir())
    # Left by a process that was killed before it had written anything.
    (tmp_path / "out" / ".lock").touch()
    assert train_sap(settings)["steps"] == 1
    assert not (tmp_path / "out" / ".lock").exists()


def test_other_settings_are_refused_and_named(place: Path, finished: Path) -> None:
    with pytest.raises(InputError) as caught:
        train_sap(sap_settings(place, finished, margin=0.1, batch_pairs=8, checkpoint_minutes=3))
    assert "batch_pairs: 16 → 8\n  margin: 0.2 → 0.1" in str(caught.value)
    assert "restart" in str(caught.value)
    assert "checkpoint_minutes" not in str(caught.value)


def test_other_data_are_refused_and_named(place: Path, finished: Path, tmp_path: Path) -> None:
    vocabulary(("X:1", "heart", "en", "exact"), ("X:1", "attack", "en", "exact")).save(tmp_path / "vocab")
    with pytest.raises(InputError, match="vocabulary: not the same data"):
        train_sap(sap_settings(place, finished, vocab=str(tmp_path / "vocab")))


def test_a_training_can_be_replaced(place: Path, tmp_path: Path) -> None:
    train_sap(sap_settings(place, tmp_path / "out"))
    result = train_sap(sap_settings(place, tmp_path / "out", max_steps=2), restart=True)
    assert result["steps"] == 2
    assert [line["step"] for line in metrics(tmp_path / "out")] == [1, 2]


def test_nothing_is_left_of_a_training_that_is_replaced(
    place: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    output = tmp_path / "out"
    train_sap(sap_settings(place, output, tuning="adapters", max_steps=1))
    assert (output / "adapters").is_dir()
    (output / "notes.txt").write_text("mine", encoding="utf-8")
    settings = sap_settings(place, output, max_steps=2)
    interrupt_next_step()
    with pytest.raises(StoppedError):
        train_sap(settings, restart=True)
    left = {path.name for path in output.iterdir()}
    assert left == {"run.json", "recipe.toml", "metrics.jsonl", "checkpoints", "notes.txt"}
    train_sap(settings)
    assert not (output / "adapters").exists()
    TorchModel.load(output)


@pytest.mark.parametrize("name", ["..", "", "../notes.txt", "/etc"])
def test_what_cannot_be_of_an_encoder_is_not_removed(place: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / "out"
    output.mkdir()
    said = {"recipe": "sap", "settings": {}, "data": {}, "encoder": [name]}
    (output / "run.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(OutputError, match="it lists files that no encoder has"):
        train_sap(sap_settings(place, output), restart=True)


def test_names_that_are_cut_are_counted(place: Path, tmp_path: Path) -> None:
    with pytest.warns(
        UserWarning, match=r"[1-9]\d* of \d+ names are longer than 5 tokens and were cut \(max_length"
    ):
        train_sap(sap_settings(place, tmp_path / "out", max_steps=2, max_length=5))


def test_a_folder_of_something_else_is_left_alone(place: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    for restart in (False, True):
        with pytest.raises(OutputError, match="not the folder of a training"):
            train_sap(sap_settings(place, tmp_path), restart=restart)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_was_trained_is_verified_and_what_is_not_ours_is_kept(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "out", max_steps=2)
    train_sap(settings)
    notes = [tmp_path / "out" / "notes.txt", tmp_path / "out" / "checkpoints" / "notes.txt"]
    for note in notes:
        note.write_text("years of work", encoding="utf-8")
    train_sap(settings, restart=True)
    assert [note.read_text(encoding="utf-8") for note in notes] == ["years of work"] * 2
    assert find_damage(tmp_path / "out")[1] == []
    weights = tmp_path / "out" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    for load in (Encoder.load, TorchModel.load):
        with pytest.raises(StoreError, match=r"model\.safetensors is damaged"):
            load(tmp_path / "out")


def test_a_damaged_checkpoint_is_named(
    place: Path, tmp_path: Path, interrupt_next_step: Callable[[], None]
) -> None:
    settings = sap_settings(place, tmp_path / "out")
    interrupt_next_step()
    with pytest.raises(StoppedError):
        train_sap(settings)
    path = tmp_path / "out" / "checkpoints" / "step-000000001" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match="step-000000001"):
        train_sap(settings)


def test_diverging_weights_stop_it_and_name_the_batch(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "out", learning_rate=1e30, checkpoint_minutes=0)
    with pytest.raises(NymlinkError, match=r"step \d+ \(epoch 1, pairs \d+ to \d+ of 96\)") as caught:
        train_sap(settings)
    assert "The last checkpoint is" in str(caught.value)
    assert str(caught.value).lower().count("lower the learning rate") == 1


def test_a_model_that_does_not_fit_the_device_is_said(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(TorchModel, "to", full)
    with pytest.raises(
        NymlinkError, match="out of memory: the model does not fit onto cpu: choose a smaller base"
    ):
        train_sap(sap_settings(place, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("max_steps", [1, None])
def test_weights_that_are_not_finite_are_never_written(place: Path, tmp_path: Path, max_steps: int | None) -> None:
    output = tmp_path / "out"
    settings = sap_settings(place, output, learning_rate=1e38, checkpoint_minutes=0, max_steps=max_steps)
    with pytest.raises(NymlinkError, match=r"^after step \d: the weights are no longer finite"):
        train_sap(settings)
    assert not (output / "model.safetensors").exists()


def test_what_cannot_be_trained_on_is_said_before_anything_is_written(place: Path, tmp_path: Path) -> None:
    vocabulary(("X:1", "heart", "en", "exact"), ("X:2", "attack", "en", "exact")).save(tmp_path / "vocab")
    output = tmp_path / "out"
    with pytest.raises(InputError, match="no pairs to train on"):
        train_sap(sap_settings(place, output, vocab=str(tmp_path / "vocab")))
    with pytest.raises(InputError, match=r"loss_settings of circle: .*alpha.*gamma"):
        train_sap(sap_settings(place, output, loss="circle", loss_settings={"alpha": 1}))
    with pytest.raises(InputError, match="no such"):
        train_sap(sap_settings(place, output, base=str(tmp_path / "nothing")))
    with pytest.raises(UnknownNameError, match="multi-similarity"):
        train_sap(sap_settings(place, output, loss="multy"))
    (tmp_path / "sum" / "beside").mkdir(parents=True)
    with pytest.raises(InputError, match=r"sum adds the vectors of two encoders, and cannot be trained: .*beside"):
        train_sap(sap_settings(place, output, base=str(tmp_path / "sum")))
    assert not output.exists()


def test_the_pooling_of_a_base_is_part_of_what_a_training_is(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "out", base=str(tmp_path / "base"), max_steps=1)
    TorchModel.load(place / "base", pooling="cls").save(tmp_path / "base")
    train_sap(settings)
    shutil.rmtree(tmp_path / "base")
    TorchModel.load(place / "base", pooling="mean").save(tmp_path / "base")
    with pytest.raises(InputError, match="base"):
        train_sap(settings)


def test_the_adapters_of_a_base_are_part_of_what_a_training_is(place: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        train_sap(
            sap_settings(
                place,
                tmp_path / f"base-{seed}",
                seed=seed,
                tuning="adapters",
                adapter_reduction=4,
                learning_rate=0.1,
                max_steps=2,
            )
        )
    settings = sap_settings(place, tmp_path / "out", base=str(tmp_path / "base-0"), max_steps=1)
    train_sap(settings)
    with pytest.raises(InputError, match="base"):
        train_sap(replace(settings, base=str(tmp_path / "base-1")))
