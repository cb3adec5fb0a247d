"""A training on two machines, each with a torchrun of its own, here on two addresses of one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.context import ForkProcess
from pathlib import Path

import psutil
import pytest
import torch
import torch.distributed.run

from nymlink.train.settings.encoder_trainings import SapSettings
from tests.train.engine.test_distributed import free_port, torchrun, train
from tests.train.runs import same, sap_settings, weights

pytestmark = pytest.mark.large

Launcher = tuple[ForkProcess, Path]
"""A torchrun, and the file of what it says."""


def launch(words: list[str], said: Path) -> None:
    """Be a torchrun: in a fork of this process, which has imported torch, where a new one takes seconds to."""
    os.environ |= {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    with said.open("wb") as file:
        os.dup2(file.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    torch.distributed.run.main(words)


def start(place: Path, output: Path) -> list[Launcher]:
    """Start the same command on both machines; each with what it says in a file."""
    train = ["train", "sap", "--vocab", str(place / "vocab"), "--base", str(place / "base"), "-o", str(output)]
    recipe = output.with_suffix(".toml")
    recipe.write_text("checkpoint_minutes = 0\n", encoding="utf-8")
    train += ["--batch-pairs", "16", "--epochs", "2", "--device", "cpu", "--recipe", str(recipe)]
    port = free_port()
    fork = multiprocessing.get_context("fork")
    started = []
    for rank, address in enumerate(("127.0.0.1", "127.0.0.2")):
        run = ["--nnodes", "2", "--node-rank", str(rank), "--local-addr", address]
        run += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
        run += ["--no-python", sys.executable, "-m", "nymlink", *train]
        said = output.with_name(f"said-{rank}.txt")
        started.append((fork.Process(target=launch, args=(run, said)), said))
        started[-1][0].start()
    return started


def finish(started: list[Launcher]) -> list[tuple[int | None, str]]:
    """Wait for both, and return their exit statuses and what they said."""
    for process, _ in started:
        process.join(100)
    return [(process.exitcode, said.read_text(encoding="utf-8")) for process, said in started]


def train_on_one_thread(rank: int, settings: SapSettings) -> None:
    torch.set_num_threads(1)
    train(rank, settings)


def test_a_machine_that_is_lost_ends_the_other_and_the_same_command_goes_on(place: Path, tmp_path: Path) -> None:
    started = start(place, tmp_path / "parts")
    (first, _), (second, _) = started
    while not list((tmp_path / "parts").glob("checkpoints/step-00000000[2-9]")):
        assert first.is_alive()
        time.sleep(0.02)
    # The machine with everything on it, its torchrun included.
    lost = [*psutil.Process(second.pid).children(recursive=True), psutil.Process(second.pid)]
    for process in reversed(lost):
        os.kill(process.pid, signal.SIGKILL)
    killed = time.monotonic()
    (status, said), _ = finish(started)
    assert status == 1
    assert time.monotonic() - killed < 60
    assert said.count("Error: step") == 1, said
    assert "another process of this training ended or cannot be reached" in said
    assert "give the same command on every machine again" in said
    assert [status for status, _ in finish(start(place, tmp_path / "parts"))] == [0, 0]
    torchrun(train_on_one_thread, 2, sap_settings(place, tmp_path / "whole", learning_rate=2e-5))
    assert same(weights(tmp_path / "parts"), weights(tmp_path / "whole"))
