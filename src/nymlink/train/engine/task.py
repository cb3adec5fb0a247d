"""The interface between a recipe and the training loop, and the state of a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

B = TypeVar("B")

Figures = Mapping[str, Mapping[str, float]]
"""Held-out corpus → metric → value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of learning from one batch.

    Attributes:
        loss: its loss.
        size: how much was learned from, in the task's unit.
        figures: whatever else is worth to be looked at.
    """

    loss: float
    size: int
    figures: Mapping[str, float] = field(default_factory=dict)


class Task(Protocol[B]):
    """A recipe's part of a training: its batches and their gradients.

    Attributes:
        unit: the unit of batch sizes, for example ``"pairs"``.
        memory_setting: the setting to lower when memory runs out.
    """

    unit: str
    memory_setting: str

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        ...

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Prepare an epoch (from 0), before its batches are made and again when a training resumes within it.

        An exception may interrupt it.

        Returns:
            Values to report, if there are any.
        """
        ...

    def batch(self, epoch: int, number: int) -> B:
        """Make a batch of an epoch; called in another thread.

        The batch depends only on the arguments and on the start of the epoch; ``str`` of it says where its content
        comes from, for messages.
        """
        ...

    def backward(self, batch: B) -> BatchResult:
        """Add the gradients of the batch's loss, times the precision's scale, to those of the weights.

        The loop then adds up the gradients over all processes. It seeds torch's random numbers before.
        """
        ...


@runtime_checkable
class StatefulTask(Protocol):
    """A task whose batches depend on a state computed at the start of their epoch; checkpoints hold it."""

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the state of the current epoch."""
        ...

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the state from a checkpoint; called before :meth:`start_epoch` of its epoch or of the next."""
        ...


@dataclass(frozen=True, slots=True)
class StepEvaluation:
    """The evaluation after a step.

    Attributes:
        step: the number of steps made before it.
        figures: its metrics.
    """

    step: int
    figures: Figures


@dataclass(slots=True)
class TrainingState:
    """The state of a training.

    Attributes:
        step: the number of steps made.
        last: the last evaluation.
        best: the best evaluation, where the settings name a corpus to choose it by.
    """

    step: int = 0
    last: StepEvaluation | None = None
    best: StepEvaluation | None = None
