"""A training in its folder: the loop, the best weights, the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn
from torch.optim import Optimizer

from nymlink.train.engine import checkpoint
from nymlink.train.engine.distributed import SINGLE, Processes, local_rank
from nymlink.train.engine.loop import Loop
from nymlink.train.engine.optimiser import (
    Precision,
    find_device,
    out_of_memory_advice,
    use_sparse_embedding_gradients,
)
from nymlink.train.engine.reporting import MetricsLog, Reporter
from nymlink.train.engine.run_folder import RunFolder
from nymlink.train.engine.task import Figures, Task, TrainingState
from nymlink.train.settings.common import RunSettings

B = TypeVar("B")
S = TypeVar("S", bound=RunSettings)


def resolve_device(settings: S) -> S:
    """Replace ``auto`` in the settings by the device and the precision that are used, for the training's record.

    Raises:
        InputError: there is no such device.
    """
    device = find_device(settings.device, local_rank=local_rank())
    precision = Precision.of(settings.precision, device)
    return replace(settings, device="cuda" if device.type == "cuda" else "cpu", precision=precision.name)


def prepare_model(model: nn.Module, device: torch.device) -> None:
    """Put a model onto its device, in training mode. Raise ``NymlinkError`` if the model does not fit."""
    use_sparse_embedding_gradients(model)
    with out_of_memory_advice(f"the model does not fit onto {device}: choose a smaller base, or the device cpu"):
        model.to(device).train()


def run_training(
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
) -> TrainingState:
    """Make the remaining steps of a training. Errors are those of :meth:`nymlink.train.engine.loop.Loop.run`.

    Args:
        task: makes the training's batches and gradients.
        weights: holds all trained weights.
        optimiser: updates these weights.
        settings: steps, learning rate, intervals of evaluations and checkpoints.
        precision: precision and device of the task.
        folder: the opened folder of the training.
        start: step of the checkpoint to resume from; 0 to start from the beginning.
        evaluate: evaluates the weights on all held-out corpora.
        processes: processes that share each step.
        progress: show progress if standard error is a terminal.
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
        with processes.fail_together(precision.device):
            loop.resume(start)
    return loop.run()


def restore_best(folder: RunFolder, weights: nn.Module, state: TrainingState) -> None:
    """Load the weights with the best evaluation, if the settings name a corpus to choose them by."""
    if state.best is not None and state.best.step != state.step:
        checkpoint.restore(checkpoint.checkpoints(folder.checkpoints)[state.best.step], weights)


def finish_training(
    folder: RunFolder, write: Callable[[Path], None], state: TrainingState, result: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Write the trained model and the result of the training.

    Args:
        folder: folder of the training.
        write: writes the model's files into a directory.
        state: state after the last step.
        result: the training's part of the result, as JSON values.

    Returns:
        The whole result.

    Raises:
        OutputError: the folder cannot be written.
    """
    kept = state.best or state.last
    step = state.best.step if state.best else state.step
    common = {"steps": state.step, "weights_of_step": step, "figures": kept and kept.figures}
    folder.finish(write, {**common, **result})
    return folder.result
