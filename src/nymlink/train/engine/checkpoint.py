"""Checkpoints: a training that resumes from one ends with the same weights, bit for bit.

A checkpoint is a directory. Safetensors files hold the trained weights, the optimiser's state and the task's epoch
state; a JSON file holds the rest. The step number determines the next batch and its random numbers.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from nymlink.core.errors import OutputError, StoreError
from nymlink.core.json_files import member
from nymlink.core.store.manifest import read_manifest, require_files, write_directory

_KIND: Final = "checkpoint"
_VERSION: Final = 2
_WEIGHTS: Final = "weights.safetensors"
_OPTIMISER: Final = "optimiser.safetensors"
_EPOCH_STATE: Final = "memory.safetensors"
_NAME: Final = re.compile(r"step-(\d+)")


def save(
    folder: Path,
    step: int,
    model: nn.Module,
    optimiser: Optimizer,
    state: Mapping[str, Any],
    epoch_state: Mapping[str, Tensor] | None = None,
) -> Path:
    """Write the checkpoint of a step, atomically.

    Args:
        folder: folder of all checkpoints of a training.
        step: number of steps made.
        model: only its parameters with ``requires_grad`` are written.
        optimiser: updates these parameters.
        state: other state, as JSON values.
        epoch_state: epoch state of a :class:`~nymlink.train.engine.task.StatefulTask`.

    Returns:
        The directory written.

    Raises:
        OutputError: it cannot be written; earlier checkpoints are unchanged.
    """
    target = folder / f"step-{step:09d}"
    body: dict[str, Any] = {"step": step, "state": dict(state)}
    tensors = {_WEIGHTS: _detached(_trainable(model)), _OPTIMISER: _optimiser_state(model, optimiser)}
    if epoch_state:
        tensors[_EPOCH_STATE] = _detached(epoch_state)
    with write_directory(target, kind=_KIND, version=_VERSION, body=body) as partial:
        for name, named in tensors.items():
            try:
                save_file(named, partial / name)
            except SafetensorError as error:
                raise OutputError(
                    f"cannot write: {error} (the disk may be full); earlier checkpoints are unchanged",
                    path=target / name,
                ) from error
    return target


def restore(checkpoint: Path, model: nn.Module, optimiser: Optimizer | None = None) -> dict[str, Any]:
    """Load the weights and, if given, the optimiser's state of a checkpoint.

    Returns:
        The other state of :func:`save`.

    Raises:
        StoreError: the checkpoint is damaged, or belongs to another model.
    """
    manifest = read_manifest(checkpoint, kind=_KIND, version=_VERSION)
    weights = _load(checkpoint, _WEIGHTS, manifest)
    expected = _trainable(model)
    if _shapes(weights) != _shapes(expected):
        raise StoreError(
            "the checkpoint is of another model: names or shapes of its weights differ", path=checkpoint
        )
    with torch.no_grad():
        for name, parameter in expected.items():
            parameter.copy_(weights[name])
    if optimiser is not None:
        _restore_optimiser(model, optimiser, _load(checkpoint, _OPTIMISER, manifest))
    try:
        state: dict[str, Any] = member(manifest, "state", dict)
    except ValueError as error:
        raise StoreError(
            f"damaged ({error}): remove it to continue from the previous one", path=checkpoint
        ) from error
    return state


def load_epoch_state(checkpoint: Path) -> dict[str, Tensor]:
    """Read the epoch state of a checkpoint. The result is empty if the task has no epoch state.

    Raises:
        StoreError: the checkpoint is damaged.
    """
    manifest = read_manifest(checkpoint, kind=_KIND, version=_VERSION)
    return _load(checkpoint, _EPOCH_STATE, manifest) if _EPOCH_STATE in manifest["files"] else {}


def _load(checkpoint: Path, name: str, manifest: dict[str, Any]) -> dict[str, Tensor]:
    try:
        require_files(manifest, [name])
        return load_file(checkpoint / name)
    except (OSError, ValueError, SafetensorError) as error:
        raise StoreError(
            f"the checkpoint is damaged ({error}): remove its directory to continue from an earlier one",
            path=checkpoint,
        ) from error


def checkpoints(folder: Path) -> dict[int, Path]:
    """List the checkpoints of a training: step → directory, in ascending order."""
    matches = ((path, _NAME.fullmatch(path.name)) for path in folder.glob("step-*"))
    return dict(sorted((int(match[1]), path) for path, match in matches if match))


def prune(folder: Path, *, keep: Collection[int]) -> None:
    """Remove all checkpoints except those of some steps."""
    for step, path in checkpoints(folder).items():
        if step not in keep:
            shutil.rmtree(path, ignore_errors=True)


def _trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def _detached(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().contiguous() for name, value in tensors.items()}


def _optimiser_state(model: nn.Module, optimiser: Optimizer) -> dict[str, Tensor]:
    """Flatten the optimiser's state to a mapping from ``parameter|key`` to tensor."""
    return _detached(
        {
            f"{name}|{key}": value
            for name, parameter in _trainable(model).items()
            for key, value in optimiser.state.get(parameter, {}).items()
        }
    )


def _restore_optimiser(model: nn.Module, optimiser: Optimizer, saved: Mapping[str, Tensor]) -> None:
    fused = any(group.get("fused") for group in optimiser.param_groups)
    parameters = _trainable(model)
    for entry, value in saved.items():
        name, _, key = entry.rpartition("|")
        parameter = parameters[name]
        # torch keeps step counts on the CPU, except for its fused optimisers.
        device = parameter.device if value.ndim or fused else torch.device("cpu")
        optimiser.state[parameter][key] = value.to(device)


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in tensors.items()}
