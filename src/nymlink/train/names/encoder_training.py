"""Training of encoders of names: what the recipes ``sap``, ``finetune`` and ``biosyn`` have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
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
from nymlink.encode.truncation import TruncationCounts
from nymlink.train.engine.distributed import Processes, local_rank, process_group
from nymlink.train.engine.gradient_cache import encode_names
from nymlink.train.engine.precision import Precision, find_device
from nymlink.train.engine.run_folder import FINISHED, RunFolder
from nymlink.train.engine.task import Figures, Task
from nymlink.train.engine.training_run import (
    finish_training,
    prepare_model,
    resolve_device,
    restore_best,
    run_training,
)
from nymlink.train.names.encoder_evaluation import Encode, EncoderEvaluation, memoised, open_evaluations
from nymlink.train.names.tuning import add_tuning, write_tuned
from nymlink.train.settings.common import CorpusSettings, EncoderTrainingSettings

B = TypeVar("B")
S = TypeVar("S", bound=EncoderTrainingSettings)


class EncoderTask(Task[B], Protocol):
    """The task of a recipe that encodes names."""

    def names_cut(self) -> tuple[int, int]:
        """Count the truncated and the encoded names of all batches so far, in all processes."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingSetup(Generic[B]):
    """The recipe's objects for the training loop.

    Attributes:
        task: makes batches and gradients.
        weights: the module that holds all trained weights: the encoder's, and those that the recipe adds.
        optimiser: the optimiser of these weights.
        result: returns the recipe's part of the result, for the weights that are kept, as JSON values.
    """

    task: EncoderTask[B]
    weights: nn.Module
    optimiser: Optimizer
    result: Callable[[], Mapping[str, Any]] = dict


@dataclass(frozen=True, slots=True)
class TrainingData(Generic[B]):
    """The data of a training.

    Attributes:
        provenance: what the data were made from, as JSON values; a training with other data is not resumed.
        setup: makes task and optimiser of an encoder on these data.
    """

    provenance: Mapping[str, Any]
    setup: Callable[[TorchModel, Precision, Processes], TrainingSetup[B]]


def train_encoder(
    recipe: str,
    settings: EncoderTrainingSettings,
    open_data: Callable[[Path, Problems], TrainingData[B]],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training; a finished training is not changed.

    Args:
        recipe: the name of the recipe, for the record.
        settings: the settings.
        open_data: opens the data, given a temporary folder and the collector of broken input.
        restart: replace a training in the output folder instead of resuming it.
        progress: whether to show progress when standard error is a terminal.
        problems: collects broken input.

    Returns:
        The result: ``steps`` made, ``weights_of_step``, the step whose weights are kept, its ``figures``, and the
        recipe's own values; empty in processes other than the first.

    Raises:
        InputError: the input cannot be used, or the output folder holds a training that differs.
        OutputError: the output folder holds something else, cannot be written, or another training writes to it.
        StoreError: the checkpoint to resume from is damaged.
        StoppedError: a signal stopped the training.
        NymlinkError: the training diverged, or ran out of memory.
    """
    device = find_device(settings.device, local_rank=local_rank())
    with (
        process_group(device) as processes,
        tempfile.TemporaryDirectory(prefix="nymlink-") as scratch,
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        ExitStack() as until_done,
    ):
        if problems is None or not processes.first:
            problems = Problems()
        settings = resolve_device(settings)
        precision = Precision.of(settings.precision, device)
        with processes.fail_together(device):
            model = _load(settings, device)
            data = open_data(Path(scratch), problems)
            # Only the first process evaluates and writes.
            evaluations = open_evaluations(
                settings.evaluation if processes.first else {},
                types=settings.types if isinstance(settings, CorpusSettings) else (),
                problems=problems,
            )
            provenance = {"base": weights_digest(model.transformer.state_dict()), **data.provenance}
            provenance |= {f"evaluation.{name}": corpus.describe() for name, corpus in evaluations.items()}
            folder = RunFolder(recipe, settings, provenance)
            _prepare(model, settings, device)
            start = 0
            if processes.first:
                until_done.enter_context(folder.locked())
                start = folder.open(processes, device, restart=restart)
        own = {"base": provenance["base"], "data": dict(data.provenance), "version of nymlink": version("nymlink")}
        processes.require_same(own, device)
        start = processes.from_first(start, device)
        if start == FINISHED:
            return folder.result if processes.first else {}

        setup = data.setup(model, precision, processes)
        state = run_training(
            setup.task,
            setup.weights,
            setup.optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, evaluations, _encoder(model, precision, settings)),
            processes=processes,
            progress=progress,
        )
        cut, encoded = setup.task.names_cut()
        if not processes.first:
            return {}
        restore_best(folder, setup.weights, state)
        result = finish_training(
            folder, lambda target: write_tuned(model.cpu(), settings, target), state, setup.result()
        )
        TruncationCounts(cut, encoded, model.settings.max_length).warn(stacklevel=4)
        return result


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
    prepare_model(model, device)


def _encoder(model: TorchModel, precision: Precision, settings: EncoderTrainingSettings) -> Encode:
    """Make the function that encodes names with the current weights, for evaluation."""

    def encode(names: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = encode_names(model, names, precision, at_once=settings.graph_tokens)
        unit_vectors: npt.NDArray[np.float32] = normalize(vectors).cpu().numpy()
        return unit_vectors

    return encode


def _evaluate(evaluations: Mapping[str, EncoderEvaluation], encode: Encode) -> Figures:
    encode = memoised(encode)
    return {name: evaluation(encode) for name, evaluation in evaluations.items()}
