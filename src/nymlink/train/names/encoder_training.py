"""From settings to an encoder: what all recipes have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import normalize
from torch.optim import Optimizer

from nymlink.core.problems import Problems
from nymlink.encode.model.adapter_files import weights_digest
from nymlink.encode.model.torch_model import TorchModel, attention_on
from nymlink.encode.truncation import Cuts
from nymlink.train.engine import checkpoint
from nymlink.train.engine.cached_gradient import encode_names
from nymlink.train.engine.distributed import SINGLE, Processes, joined, local_rank
from nymlink.train.engine.loop import Loop
from nymlink.train.engine.memory import fitting
from nymlink.train.engine.metrics_log import MetricsLog
from nymlink.train.engine.precision import Precision, find_device
from nymlink.train.engine.reporting import Reporter
from nymlink.train.engine.run_folder import FINISHED, RunFolder
from nymlink.train.engine.sparse_gradients import sparsify
from nymlink.train.engine.task import Figures, State, Task
from nymlink.train.names.encoder_evaluation import Encode, Evaluation, open_evaluations, remembering
from nymlink.train.names.trained_weights import add_tuning, write_tuned
from nymlink.train.settings.common import EncoderTrainingSettings, RunSettings
from nymlink.train.settings.recipes import AnnotatedSettings

B = TypeVar("B")


class EncoderTask(Task[B], Protocol):
    """The task of a recipe that encodes names."""

    def names_cut(self) -> tuple[int, int]:
        """How many names were cut, and how many were encoded: of all batches so far, in all processes."""
        ...


@dataclass(frozen=True, slots=True)
class Learner(Generic[B]):
    """What the loop makes steps with.

    Attributes:
        task: the recipe's part of a step.
        weights: holds all that is trained: the encoder, and what the recipe adds to it.
        optimiser: over these.
        result: what the recipe has to say of the weights that are kept, as JSON values.
    """

    task: EncoderTask[B]
    weights: nn.Module
    optimiser: Optimizer
    result: Callable[[], Mapping[str, Any]] = dict


@dataclass(frozen=True, slots=True)
class Material(Generic[B]):
    """What a recipe trains on.

    Attributes:
        origin: what it was made of, as JSON values; resuming with another origin is refused.
        learner: how an encoder learns from it, by which processes.
    """

    origin: Mapping[str, Any]
    learner: Callable[[TorchModel, Precision, Processes], Learner[B]]


def train(
    recipe: str,
    settings: EncoderTrainingSettings,
    material: Callable[[Path, Problems], Material[B]],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder, or go on with a training that was stopped; a finished one is left as it is.

    Args:
        recipe: its name, for the record.
        settings: its settings.
        material: opens what is trained on, given a folder for files of its own and a place to report broken input.
        restart: replace a training in the output folder instead of going on with it.
        progress: whether to show progress when standard error is a terminal.
        problems: gets broken input.

    Returns:
        What became of it: how many steps were made, the step whose weights were kept, its figures, and what the
        recipe says; nothing in processes other than the first.

    Raises:
        InputError: the input cannot be used, or the output folder holds a training that differs.
        OutputError: the output folder is something else, cannot be written, or another training is at work there.
        StoreError: the checkpoint to go on from is damaged.
        StoppedError: the training was told to stop.
        NymlinkError: it diverged, or ran out of memory.
    """
    device = find_device(settings.device, local_rank=local_rank())
    with (
        joined(device) as processes,
        tempfile.TemporaryDirectory(prefix="nymlink-") as scratch,
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        ExitStack() as until_done,
    ):
        if problems is None or not processes.first:
            problems = Problems()
        precision = Precision.of(settings.precision, device)
        # As they turn out to be: what "auto" stands for is part of what is recorded.
        settings = replace(settings, device="cuda" if device.type == "cuda" else "cpu", precision=precision.name)
        with processes.as_one(device):
            model = _load(settings, device)
            found = material(Path(scratch), problems)
            # The first process alone measures and writes.
            evaluations = open_evaluations(
                settings.evaluation if processes.first else {},
                types=settings.types if isinstance(settings, AnnotatedSettings) else (),
                problems=problems,
            )
            origin = {"base": weights_digest(model.transformer.state_dict()), **found.origin}
            origin |= {f"evaluation.{name}": one.describe() for name, one in evaluations.items()}
            folder = RunFolder(recipe, settings, origin)
            _prepare(model, settings, device)
            start = 0
            if processes.first:
                until_done.enter_context(folder.held())
                start = folder.open(processes, device, restart=restart)
        start = processes.agree(start, device)
        if start == FINISHED:
            return folder.result if processes.first else {}

        learner = found.learner(model, precision, processes)
        state = run(
            learner.task,
            learner.weights,
            learner.optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, evaluations, _encoder(model, precision, settings)),
            processes=processes,
            progress=progress,
        )
        cut, encoded = learner.task.names_cut()
        if not processes.first:
            return {}
        restore_best(folder, learner.weights, state)
        result = finish(folder, lambda target: write_tuned(model.cpu(), settings, target), state, learner.result())
        Cuts(cut, encoded, model.settings.max_length).say(stacklevel=4)
        return result


def run(
    task: Task[B],
    weights: nn.Module,
    optimiser: Optimizer,
    *,
    settings: RunSettings,
    precision: Precision,
    folder: RunFolder,
    start: int,
    evaluate: Callable[[], Figures],
    processes: Processes = SINGLE,
    progress: bool = False,
) -> State:
    """Make all steps of a training that are left.

    Args:
        task: the recipe's part of a step.
        weights: holds all that is trained.
        optimiser: over these.
        settings: how long, how fast, how often.
        precision: what the task computes in, and where.
        folder: of the training, opened.
        start: the step of the checkpoint to go on from; 0 for none.
        evaluate: measures the weights on all held-out corpora.
        processes: those that make each step together.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        StoreError, StoppedError, OutputError, NymlinkError: as :class:`~nymlink.train.engine.loop.Loop`.
    """
    loop = Loop(
        task,
        weights,
        optimiser,
        settings=settings,
        precision=precision,
        folder=folder.checkpoints,
        reporter=Reporter(
            MetricsLog(folder.metrics, step=start or None) if processes.first else None,
            every=settings.log_every,
            batches=len(task),
            unit=task.unit,
            progress=progress,
        ),
        evaluate=evaluate,
        identity=folder.identity,
        processes=processes,
    )
    if start:
        with processes.as_one(precision.device):
            loop.resume(start)
    return loop.run()


def restore_best(folder: RunFolder, weights: nn.Module, state: State) -> None:
    """Take up the weights that were the best; leave the last ones where none were to be."""
    if state.best is not None and state.best.step != state.step:
        checkpoint.restore(checkpoint.checkpoints(folder.checkpoints)[state.best.step], weights)


def finish(
    folder: RunFolder, write: Callable[[Path], None], state: State, result: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Write what was trained, and what became of the training; ``result`` is what the recipe says of it.

    Raises:
        OutputError: it cannot be written.
    """
    kept = state.best or state.last
    step = state.best.step if state.best else state.step
    said = {"steps": state.step, "weights_of_step": step, "figures": kept and kept.figures}
    folder.finish(write, {**said, **result})
    return folder.result


def _load(settings: EncoderTrainingSettings, device: torch.device) -> TorchModel:
    return TorchModel.load(
        settings.base,
        pooling=settings.pooling,
        max_length=settings.max_length,
        attention=attention_on(device.type),
    )


def _prepare(model: TorchModel, settings: EncoderTrainingSettings, device: torch.device) -> None:
    torch.manual_seed(settings.seed)
    add_tuning(model, settings)
    sparsify(model)
    with fitting(f"the model does not fit onto {device}: choose a smaller base, or the device cpu"):
        model.to(device).train()


def _encoder(model: TorchModel, precision: Precision, settings: EncoderTrainingSettings) -> Encode:
    """What measures a model as it then stands."""

    def encoded(names: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = encode_names(model, names, precision, at_once=settings.graph_tokens)
        unit: npt.NDArray[np.float32] = normalize(vectors).cpu().numpy()
        return unit

    return encoded


def _evaluate(evaluations: Mapping[str, Evaluation], encode: Encode) -> Figures:
    encode = remembering(encode)
    return {name: evaluation(encode) for name, evaluation in evaluations.items()}
