"""The loop by itself, on a task of one weight: schedules, evaluation, stopping, and what goes wrong."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from nymlink.core.errors import InputError, NymlinkError, OutputError, StoreError
from nymlink.train.engine import checkpoint
from nymlink.train.engine.loop import Loop, StoppedError
from nymlink.train.engine.optimiser import LearningRate, Precision, find_device
from nymlink.train.engine.reporting import MetricsLog, Reporter
from nymlink.train.engine.task import BatchResult, Figures
from nymlink.train.settings.common import HeldOutCorpus, RunSettings

CPU = torch.device("cpu")
Batch = tuple[int, int]
Hook = Callable[[Batch], float | None]


class Towards:
    """Five batches an epoch, each a number that the weight is drawn to, with noise."""

    unit = "numbers"
    memory_setting = "log_every"

    def __init__(self, model: nn.Module, precision: Precision, hook: Hook) -> None:
        self.model = model
        self.precision = precision
        self.hook = hook
        self.started: list[int] = []
        self.seen: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return 5

    def start_epoch(self, epoch: int) -> None:
        self.started.append(epoch)

    def batch(self, epoch: int, number: int) -> tuple[int, int]:
        return epoch, number

    def backward(self, batch: tuple[int, int]) -> BatchResult:
        self.seen.append(batch)
        factor = self.hook(batch)
        target = torch.rand(1) + batch[1]
        loss = (self.model.weight - target).square().sum() * (1.0 if factor is None else factor)
        (loss * self.precision.scale).backward()
        return BatchResult(loss=loss.item(), size=2, figures={"half": 0.5})


def loop(
    folder: Path,
    hook: Hook = lambda _: None,
    *,
    precision: str = "float32",
    evaluate: Callable[[], Figures] | None = None,
    **changes: Any,
) -> tuple[Loop[Any], Towards, nn.Linear]:
    settings = RunSettings(**{"output": str(folder), "learning_rate": 0.1, "epochs": 2, "log_every": 1} | changes)
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    computed = Precision(precision, CPU)  # type: ignore[arg-type]
    task = Towards(model, computed, hook)
    made = Loop(
        task,
        model,
        torch.optim.AdamW(model.parameters(), lr=settings.learning_rate),
        settings=settings,
        precision=computed,
        folder=folder / "checkpoints",
        reporter=Reporter(
            MetricsLog(folder / "metrics.jsonl"),
            every=settings.log_every,
            batches=5,
            unit="numbers",
            progress=False,
        ),
        evaluate=evaluate or dict,
        identity={"settings": "these"},
    )
    return made, task, model


def metrics(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def test_all_batches_of_all_epochs_are_learned_from(tmp_path: Path) -> None:
    made, task, model = loop(tmp_path)
    assert made.run().step == made.steps == 10
    assert task.started == [0, 1]
    assert task.seen == [(epoch, number) for epoch in range(2) for number in range(5)]
    assert model.weight.item() > 0.5
    assert list(checkpoint.checkpoints(tmp_path / "checkpoints")) == [10]
    lines = metrics(tmp_path)
    assert [(line["step"], line["epoch"]) for line in lines] == [(at, 1 + (at - 1) // 5) for at in range(1, 11)]
    assert all(line["half"] == 0.5 and line["numbers_per_second"] > 0 for line in lines)


def test_lines_hold_means(tmp_path: Path) -> None:
    loop(tmp_path)[0].run()
    each = [line["loss"] for line in metrics(tmp_path)]
    other = tmp_path / "other"
    other.mkdir()
    loop(other, log_every=4)[0].run()
    means = [sum(each[:4]) / 4, sum(each[4:8]) / 4, sum(each[8:]) / 2]
    assert [line["loss"] for line in metrics(other)] == pytest.approx(means)
    assert [(line["step"], line["epoch"]) for line in metrics(other)] == [(4, 1), (8, 2), (10, 2)]


def test_what_was_not_yet_said_when_it_stops_is_said(tmp_path: Path) -> None:
    def interrupt(batch: Batch) -> None:
        if batch == (0, 2):
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StoppedError):
        loop(tmp_path, interrupt, log_every=10)[0].run()
    assert [line["step"] for line in metrics(tmp_path)] == [3]


def test_it_can_end_within_an_epoch(tmp_path: Path) -> None:
    made, task, _ = loop(tmp_path, max_steps=7)
    made.run()
    assert len(task.seen) == 7


@pytest.mark.parametrize("at", [1, 5, 9])
def test_a_resumed_training_makes_the_same_steps(tmp_path: Path, at: int) -> None:
    (tmp_path / "whole").mkdir()
    whole = loop(tmp_path / "whole", schedule="cosine", warm_up=0.3)
    whole[0].run()

    def interrupt(batch: Batch) -> None:
        if batch[0] * 5 + batch[1] + 1 == at:
            os.kill(os.getpid(), signal.SIGTERM)

    first, _, _ = loop(tmp_path, interrupt, schedule="cosine", warm_up=0.3)
    with pytest.raises(StoppedError, match=f"after step {at} of 10; the same command continues"):
        first.run()
    second, task, model = loop(tmp_path, schedule="cosine", warm_up=0.3)
    second.resume(at)
    second.run()
    assert len(task.seen) == 10 - at
    assert task.started == list(range(at // 5, 2))
    assert torch.equal(model.weight, whole[2].weight)


def test_a_second_interrupt_interrupts_at_once(tmp_path: Path) -> None:
    def interrupt(_: Batch) -> None:
        # In this thread: of two that another one gets late, only one is seen.
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    # What runs in the background of a shell ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop(tmp_path, interrupt)[0].run()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("at", [0, 4, 10])
def test_an_interrupt_breaks_an_evaluation_off_which_is_made_when_the_training_goes_on(
    tmp_path: Path, at: int
) -> None:
    evaluated = []
    settings: dict[str, Any] = {
        "evaluation": {"dev": HeldOutCorpus(corpus="c", dictionary="d")},
        "evaluate_every": 2,
    }

    def evaluate() -> Figures:
        if len(evaluated) == at // 2:
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the evaluation went on")
        evaluated.append(True)
        return {"dev": {"acc@1": 0.5}}

    def again() -> Figures:
        evaluated.append(True)
        return {"dev": {"acc@1": 0.5}}

    first, _, _ = loop(tmp_path, evaluate=evaluate, **settings)
    with pytest.raises(StoppedError, match=f"after step {at} of 10"):
        first.run()
    second, task, _ = loop(tmp_path, evaluate=again, **settings)
    second.resume(at)
    second.run()
    assert len(task.seen) == 10 - at
    assert len(evaluated) == 6


def test_the_best_checkpoint_is_kept_beside_the_last(tmp_path: Path) -> None:
    values = iter([0.0, 0.3, 0.8, 0.5, 0.8, 0.1])
    made, _, _ = loop(
        tmp_path,
        evaluate=lambda: {"dev": {"acc@1": next(values)}, "other": {"acc@1": 0.0}},
        evaluation={name: HeldOutCorpus(corpus="c", dictionary="d") for name in ("dev", "other")},
        evaluate_every=2,
        best="dev",
    )
    state = made.run()
    assert state.best is not None
    assert (state.best.step, state.best.figures["dev"]["acc@1"]) == (4, 0.8)
    assert state.last is not None
    assert state.last.step == 10
    assert list(checkpoint.checkpoints(tmp_path / "checkpoints")) == [4, 10]
    assert [line["step"] for line in metrics(tmp_path) if line.get("evaluation") == "dev"] == [0, 2, 4, 6, 8, 10]
    resumed, _, _ = loop(tmp_path)
    resumed.resume(10)
    assert resumed.state == state


def test_what_was_there_to_begin_with_can_be_the_best(tmp_path: Path) -> None:
    values = iter([0.9, 0.5, 0.4])
    made, _, _ = loop(
        tmp_path,
        evaluate=lambda: {"dev": {"acc@1": next(values)}},
        evaluation={"dev": HeldOutCorpus(corpus="c", dictionary="d")},
        evaluate_every=5,
        best="dev",
    )
    state = made.run()
    assert state.best is not None
    assert state.best.step == 0
    assert list(checkpoint.checkpoints(tmp_path / "checkpoints")) == [0, 10]


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    made, _, _ = loop(tmp_path)
    made.run()
    made._identity["settings"] = "those"
    with pytest.raises(StoreError, match="of another training"):
        made.resume(10)


@pytest.mark.parametrize(
    "changes", [{"precision": []}, {"precision": {"scale": "x"}}, {"last": 5}, {"best": {"step": 1, "more": 2}}]
)
def test_a_checkpoint_with_another_state_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    made, _, model = loop(tmp_path)
    state = {"settings": "these", "precision": made._precision.state(), "last": None, "best": None}
    checkpoint.save(tmp_path / "checkpoints", 3, model, made._optimiser, state | changes)
    with pytest.raises(StoreError, match=r"step-000000003: damaged"):
        made.resume(3)


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("factor", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_before_the_weights_are_spoilt(
    tmp_path: Path, factor: float, precision: str
) -> None:
    made, _, model = loop(
        tmp_path, lambda batch: factor if batch == (1, 2) else None, precision=precision, checkpoint_minutes=0
    )
    with pytest.raises(NymlinkError) as caught:
        made.run()
    assert str(caught.value).startswith(f"step 8 ((1, 2)): the loss is {factor}")
    assert f"The last checkpoint is {tmp_path / 'checkpoints' / 'step-000000007'}" in str(caught.value)
    assert torch.isfinite(model.weight).all()
    assert list(checkpoint.checkpoints(tmp_path / "checkpoints")) == [7]


def test_gradients_that_overflow_float16_only_lower_the_scale(tmp_path: Path) -> None:
    made, _, model = loop(tmp_path, lambda batch: 1e36 if batch == (0, 0) else None, precision="float16")
    made.run()
    assert torch.isfinite(model.weight).all()
    assert 0.5 < model.weight.item() < 0.9  # nine of ten steps of at most 0.1
    resumed, _, _ = loop(tmp_path, precision="float16")
    resumed.resume(10)
    assert resumed._precision.scale == 65536 / 2


def test_gradients_that_overflow_whatever_the_scale_stop_it(tmp_path: Path) -> None:
    made, _, model = loop(tmp_path, precision="float16", epochs=9)
    model.weight.register_hook(lambda gradient: gradient * math.inf)
    message = r"^step 17 .*: the loss is .* and its gradients are not finite numbers"
    with pytest.raises(NymlinkError, match=message):
        made.run()
    assert made._precision.scale == 1


@pytest.mark.parametrize("max_steps", [1, 2])
def test_weights_that_are_not_finite_are_not_kept(tmp_path: Path, max_steps: int) -> None:
    made, task, model = loop(tmp_path, checkpoint_minutes=0, max_steps=max_steps)
    original = made._optimiser.step

    def step() -> None:
        original()
        if len(task.seen) == max_steps:
            model.weight.data.fill_(math.inf)

    made._optimiser.step = step  # type: ignore[method-assign, assignment]
    with pytest.raises(NymlinkError, match=f"^after step {max_steps}: the weights are no longer finite") as caught:
        made.run()
    assert str(caught.value).endswith("Lower the learning rate")
    assert list(checkpoint.checkpoints(tmp_path / "checkpoints")) == [max_steps - 1]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_of_too_little_memory_it_says_what_to_lower(tmp_path: Path, error: Exception) -> None:
    def fail(_: Batch) -> None:
        raise error

    with pytest.raises(NymlinkError, match=r"step 1 .* out of memory: lower log_every \(now 1\)\. No checkpoint"):
        loop(tmp_path, fail)[0].run()


def test_evaluations_and_optimisers_need_memory_too(tmp_path: Path) -> None:
    def fail() -> Figures:
        raise MemoryError

    corpora = {"dev": HeldOutCorpus(corpus="c", dictionary="d")}
    with pytest.raises(NymlinkError, match=r"^evaluation after step 0: out of memory: lower log_every \(now 1\)"):
        loop(tmp_path, evaluate=fail, evaluation=corpora)[0].run()
    made, _, _ = loop(tmp_path)
    made._optimiser.step = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(
        NymlinkError, match=r"^step 1 .*: out of memory: the optimiser's state .* \(tuning\)"
    ) as caught:
        made.run()
    assert "lower" not in str(caught.value)


def test_other_errors_are_not_hidden(tmp_path: Path) -> None:
    def fail(_: Batch) -> None:
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError, match="a mistake"):
        loop(tmp_path, fail)[0].run()


def test_a_checkpoint_that_cannot_be_written_ends_it(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("in the way", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        loop(tmp_path)[0].run()


def test_rates_rise_and_fall() -> None:
    optimiser = torch.optim.AdamW([{"params": [nn.Parameter(torch.zeros(1))], "lr": rate} for rate in (1.0, 10.0)])

    def rates(schedule: Any) -> list[float]:
        made = LearningRate(optimiser, schedule, steps=10, warm_up=0.2)
        found = [made.factor(step) for step in range(10)]
        assert made.set(1) == 1.0
        assert [group["lr"] for group in optimiser.param_groups] == [1.0, 10.0]
        return found

    assert rates("constant") == [0.5] + [1.0] * 9
    assert rates("linear") == pytest.approx([0.5, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])
    assert rates("cosine")[2:] == pytest.approx([(1 + math.cos(math.pi * at / 8)) / 2 for at in range(8)])


def test_a_gpu_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto") == CPU
    with pytest.raises(InputError, match="no GPU that torch can use: set device to cpu"):
        find_device("cuda")


def test_the_fastest_precision_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for able, expected in (
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
        ({"arm_bf16": True}, "bfloat16"),
        ({}, "float32"),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able)
        assert Precision.of("auto", CPU).name == expected
