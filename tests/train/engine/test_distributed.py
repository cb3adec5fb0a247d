"""Several processes against one: the same loss, gradients and weights."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor

from nymlink.core.errors import NymlinkError
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.pairs import Pairs, VocabularyPairs
from nymlink.train.engine.distributed import SINGLE, LostProcessError, Processes, heartbeat, process_group
from nymlink.train.engine.loop import StoppedError
from nymlink.train.engine.optimiser import Precision, densify_gradients, use_sparse_embedding_gradients
from nymlink.train.engine.task import BatchResult
from nymlink.train.names.pair_trainings import train_sap
from nymlink.train.names.self_alignment import NameBatch, NameBatches, SelfAlignmentTask, make_loss
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.encoder_trainings import SapSettings
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.train.runs import same, sap_settings, weights
from tests.train.small import vocabulary

CPU = torch.device("cpu")


def together(work: Callable[..., Any], count: int, folder: Path, *arguments: Any) -> None:
    """Do some work in so many processes that can talk to each other."""
    run_all([(_connected, (work, rank, count, folder, *arguments)) for rank in range(count)])


def run_all(works: list[tuple[Callable[..., Any], tuple[Any, ...]]], *, killed: int | None = None) -> None:
    """Do works in processes of their own, one of which may be expected to be killed."""
    fork = multiprocessing.get_context("fork")
    started = [fork.Process(target=work, args=arguments) for work, arguments in works]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    expected = [-signal.SIGKILL if rank == killed else 0 for rank in range(len(works))]
    assert [process.exitcode for process in started] == expected


def _connected(work: Callable[..., Any], rank: int, count: int, folder: Path, *arguments: Any) -> None:
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=count)
    work(Processes(rank, count), folder, *arguments)
    dist.destroy_process_group()


def step(processes: Processes, folder: Path, place: Path, changes: dict[str, Any], number: int) -> None:
    """One step without dropout; its loss and gradients into files."""
    settings = sap_settings(place, folder / "out", **changes)
    model = TorchModel.load(settings.base).eval()
    use_sparse_embedding_gradients(model)
    pairs = VocabularyPairs(Pairs.of(Vocabulary.load(settings.vocab or "")))
    batches = NameBatches(pairs, size=19, tokenizer=model.tokenizer, processes=processes)
    loss = make_loss(settings.loss, settings.loss_settings)
    task = SelfAlignmentTask(model, batches, loss, settings, Precision("float32", CPU), processes)
    outcome = task.backward(task.batch(0, number))
    densify_gradients(model.parameters())
    processes.sum_gradients(model.parameters())
    gradients = {name: value.grad for name, value in model.named_parameters() if value.grad is not None}
    save_file(gradients, folder / f"{processes.count}-{processes.rank}.safetensors")
    (folder / f"{processes.count}-{processes.rank}.json").write_text(
        json.dumps([outcome.loss, outcome.figures]), encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("count", "changes", "number"),
    [
        (2, {}, 0),
        (2, {"graph_tokens": 40, "mining": False}, 1),
        (2, {"loss": "lifted-structure", "shared_names": "ignore"}, 2),
        # The last batch is one pair: a process has no name at all.
        (3, {"loss": "infonce"}, 5),
    ],
)
def test_the_step_of_several_processes_is_that_of_one(
    place: Path, tmp_path: Path, count: int, changes: dict[str, Any], number: int
) -> None:
    step(SINGLE, tmp_path, place, changes, number)
    together(step, count, tmp_path, place, changes, number)

    def found(count: int, rank: int) -> tuple[Any, dict[str, Tensor]]:
        name = f"{count}-{rank}"
        return json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")), load_file(
            tmp_path / f"{name}.safetensors"
        )

    (loss, figures), gradients = found(1, 0)
    assert any(bool(gradient.any()) for gradient in gradients.values()) == (number != 5 or loss > 0)
    for rank in range(count):
        (other, others), theirs = found(count, rank)
        assert other == pytest.approx(loss, rel=1e-5)
        assert others == figures
        assert theirs.keys() == gradients.keys()
        for name, value in gradients.items():
            torch.testing.assert_close(theirs[name], value, rtol=1e-4, atol=1e-6, msg=name)


def torchrun(work: Callable[..., None], count: int, *arguments: Any, killed: int | None = None) -> None:
    """Do some work in so many processes, told of each other as torchrun tells."""
    port = free_port()
    run_all([(_told, (work, rank, count, port, *arguments)) for rank in range(count)], killed=killed)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _told(work: Callable[..., None], rank: int, count: int, port: int, *arguments: Any) -> None:
    told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in told.items()}
    work(rank, *arguments)


def train(rank: int, settings: SapSettings) -> None:
    assert bool(train_sap(settings)) == (rank == 0)


def stop_after_three_steps(rank: int, settings: SapSettings) -> None:
    original = SelfAlignmentTask.backward
    steps = []

    def backward(task: SelfAlignmentTask, batch: NameBatch) -> BatchResult:
        steps.append(batch)
        if len(steps) == 3 and rank == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(task, batch)

    SelfAlignmentTask.backward = backward  # type: ignore[method-assign]
    with pytest.raises(StoppedError, match="after step 3 of 5"):
        train_sap(settings)


def die_at_step_three(rank: int, settings: SapSettings) -> None:
    original = SelfAlignmentTask.backward
    steps = []

    def backward(task: SelfAlignmentTask, batch: NameBatch) -> BatchResult:
        steps.append(batch)
        if len(steps) == 3 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(task, batch)

    SelfAlignmentTask.backward = backward  # type: ignore[method-assign]
    started = time.monotonic()
    with pytest.raises(
        LostProcessError, match=r"^step 3 .*another process of this training ended.*step-000000002"
    ):
        train_sap(settings)
    assert time.monotonic() - started < 60


def with_another_vocabulary(rank: int, settings: SapSettings, other: str) -> None:
    message = "another process" if rank == 0 else "has another data than the first machine"
    with pytest.raises(NymlinkError, match=message):
        train_sap(replace(settings, vocab=other) if rank else settings)


def without_the_output(rank: int, settings: SapSettings, other: str) -> None:
    message = "lacks the checkpoint of step 3" if rank else "another process"
    with pytest.raises(NymlinkError, match=message):
        train_sap(replace(settings, output=other) if rank else settings)


def fall_silent(rank: int, port: int) -> None:
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0)
    with heartbeat(store, rank, 2, every=0.1, silent=1.0):
        if rank == 1:
            # As a machine that loses its network: nothing is closed.
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)


def refused(rank: int, settings: SapSettings) -> None:
    with pytest.raises(NymlinkError, match="another process" if rank else "holds a training that differs"):
        train_sap(settings)


def test_the_first_process_writes_what_all_have_learned(place: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    torchrun(train, 2, sap_settings(place, output, max_steps=4))
    assert json.loads((output / "run.json").read_text(encoding="utf-8"))["machine"]["processes"] == 2
    lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert not same(weights(output), load_file(place / "base" / "model.safetensors"))


@pytest.mark.large
def test_what_several_processes_were_stopped_in_they_go_on_with(place: Path, tmp_path: Path) -> None:
    held_out = {"dev": HeldOutCorpus(corpus=str(place / "processed_dev"), dictionary=str(place / "vocab"))}
    settings = sap_settings(place, tmp_path / "parts", max_steps=5, evaluation=held_out, evaluate_every=2)
    whole = replace(settings, output=str(tmp_path / "whole"))
    torchrun(stop_after_three_steps, 2, settings)
    torchrun(train, 2, settings)
    torchrun(train, 2, whole)
    assert same(weights(tmp_path / "parts"), weights(tmp_path / "whole"))
    # One of them alone sees what is wrong, and the others end with it.
    torchrun(refused, 2, replace(settings, margin=0.1))


@pytest.mark.large
def test_a_process_that_dies_ends_the_others_and_the_training_goes_on(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "parts", max_steps=5, checkpoint_minutes=0)
    torchrun(die_at_step_three, 2, settings, killed=1)
    torchrun(train, 2, settings)
    whole = replace(settings, output=str(tmp_path / "whole"))
    torchrun(train, 2, whole)
    assert same(weights(tmp_path / "parts"), weights(tmp_path / "whole"))


@pytest.mark.large
def test_machines_with_other_files_are_refused(place: Path, tmp_path: Path) -> None:
    settings = sap_settings(place, tmp_path / "out", max_steps=5, checkpoint_minutes=0)
    vocabulary(("X:1", "fever", "en", "exact"), ("X:1", "pyrexia", "en", "exact")).save(tmp_path / "other")
    torchrun(with_another_vocabulary, 2, settings, str(tmp_path / "other"))
    torchrun(stop_after_three_steps, 2, settings)
    torchrun(without_the_output, 2, settings, str(tmp_path / "elsewhere"))


def test_a_process_that_falls_silent_ends_the_others(capfd: pytest.CaptureFixture[str]) -> None:
    fork = multiprocessing.get_context("fork")
    port = free_port()
    waiting, silent = (fork.Process(target=fall_silent, args=(rank, port)) for rank in (0, 1))
    waiting.start()
    silent.start()
    waiting.join(30)
    silent.kill()
    silent.join()
    assert waiting.exitcode == 2
    said = capfd.readouterr().err
    assert said.count("Error: process 1 of this training has been silent for 1 seconds") == 1
    assert "give the same command on every machine again" in said


def test_processes_that_end_well_are_not_missed() -> None:
    store = dist.HashStore()
    with heartbeat(store, 1, 2, every=0.01, silent=0.2):
        pass
    with heartbeat(store, 0, 2, every=0.01, silent=0.2):
        time.sleep(0.5)


def test_processes_wait_for_hours_while_the_first_one_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(dist, "init_process_group", lambda _, **named: given.update(named))
    monkeypatch.setattr("nymlink.train.engine.distributed.rendezvous", lambda _: iter([(dist.HashStore(), 1, 2)]))
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    with process_group(CPU) as processes:
        assert processes == Processes(1, 2)
    assert given["timeout"] >= timedelta(hours=12)


def test_without_torchrun_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with process_group(CPU) as processes:
        assert processes == SINGLE
        assert processes.first
        assert processes.from_first(3, CPU) == 3
        assert processes.any(True, CPU)
        vectors = torch.rand(2, 3, requires_grad=True)
        gathered = processes.gather(vectors, [2])
        assert torch.equal(gathered, vectors)
        assert not gathered.requires_grad
