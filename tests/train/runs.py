"""Trainings small enough for a test: a tiny random encoder, a few dozen concepts, a few steps."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.settings.encoder_trainings import SapSettings, TranslationSettings
from tests.encode import tiny
from tests.train.small import vocabulary

WORDS = "heart attack myocardial infarction short stature seizure fever origin weeks unknown".split()
STEPS = 12


def names(concept: int) -> list[str]:
    """Three names that share a word which is in no name of the next concepts."""
    word = WORDS[concept % len(WORDS)]
    other = WORDS[concept // len(WORDS) * 3 % len(WORDS)]
    return [f"{word} {other}", f"{other} of {word}", f"{other} x {word} {word}"]


def workplace(folder: Path) -> Path:
    """A folder with the encoder ``base``, the vocabulary ``vocab`` and the corpus ``processed_dev``."""
    tiny.folder(folder / "base")
    rows = [(f"X:{number}", name, "en", "exact") for number in range(32) for name in names(number)]
    vocabulary(*rows).save(folder / "vocab")
    (folder / "processed_dev").mkdir()
    lines = [f"1||{10 * at}|{10 * at + 9}||Disease||{names(at)[0]} mi||X:{at}\n" for at in range(12)]
    (folder / "processed_dev" / "1.concept").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workplace(tmp_path_factory.mktemp("workplace"))


def interrupt_forward(
    monkeypatch: pytest.MonkeyPatch, network: type, *, calls: int = 1, training: bool | None = None
) -> None:
    """Send this process SIGINT at a call of a network, once.

    Args:
        monkeypatch: of the test.
        network: class of the network.
        calls: number of the call.
        training: count only calls in training, or only others; all if ``None``.
    """
    original, left = network.forward, calls

    def forward(self: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= training is None or self.training == training
        if not left:
            monkeypatch.setattr(network, "forward", original)
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, *arguments, **named)

    monkeypatch.setattr(network, "forward", forward)


@pytest.fixture
def interrupt_next_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Once called, the next time that names are encoded this process is sent SIGINT."""
    return lambda: interrupt_forward(monkeypatch, TorchModel)


def sap_settings(place: Path, output: Path, **changes: Any) -> SapSettings:
    """96 pairs in batches of 16, twice."""
    given = {"batch_pairs": 16, "epochs": 2, "learning_rate": 1e-3, "log_every": 1, "device": "cpu"}
    return SapSettings(
        **{"vocab": str(place / "vocab"), "base": str(place / "base"), "output": str(output), **given, **changes}
    )


def translation_settings(place: Path, output: Path, **changes: Any) -> TranslationSettings:
    """11 pairs in batches of 4, twice."""
    (place / "en-xx.txt").write_text("".join(f"{word} {word[::-1]}\n" for word in WORDS), encoding="utf-8")
    given = {"batch_pairs": 4, "epochs": 2, "learning_rate": 1e-3, "log_every": 1, "device": "cpu"}
    files = (str(place / "en-xx.txt"),)
    return TranslationSettings(
        **{"translations": files, "base": str(place / "base"), "output": str(output), **given, **changes}
    )


def record(output: Path) -> dict[str, Any]:
    """What a training recorded of itself."""
    found: dict[str, Any] = json.loads((output / "run.json").read_text(encoding="utf-8"))
    return found


def metrics(output: Path) -> list[dict[str, Any]]:
    """The lines of metrics of a training."""
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def untimed_metrics(output: Path) -> list[dict[str, Any]]:
    """The lines of metrics without what depends on the clock."""
    return [{name: value for name, value in line.items() if "second" not in name} for line in metrics(output)]


def train_though_killed(train: Callable[..., Any], *arguments: Any, output: Path) -> None:
    """Train in a process that is killed a few times, each time some lines of metrics later, until it finishes."""
    fork = multiprocessing.get_context("fork")
    chance = random.Random(7)
    kills = 0
    while True:
        process = fork.Process(target=train, args=arguments)
        process.start()
        wanted = _lines_of_metrics(output) + chance.randint(1, 3)
        while process.is_alive() and _lines_of_metrics(output) < wanted:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.03)
        if process.is_alive() and kills < 3:
            os.kill(process.pid or 0, signal.SIGKILL)
            kills += 1
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
    assert kills >= 2


def _lines_of_metrics(output: Path) -> int:
    """Count the lines of metrics of a training, and of its stages if it has such."""
    paths = [output / "metrics.jsonl", *output.glob("*/metrics.jsonl")]
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths if path.exists())


def weights(output: Path) -> dict[str, Tensor]:
    """The weights that a training wrote."""
    return load_file(output / "model.safetensors")


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    """Whether two sets of weights are equal to the last bit."""
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)
