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
    """Result of learning from one batch: its loss, its size in the task's unit, and other figures to report."""

    loss: float
    size: int
    figures: Mapping[str, float] = field(default_factory=dict)


class Task(Protocol[B]):
    """A recipe's part of a training: batches and their gradients.

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
        """Prepare an epoch (from 0), also when a training resumes within it; an exception may interrupt it.

        Returns:
            Values to report, if any.
        """
        ...

    def batch(self, epoch: int, number: int) -> B:
        """Make a batch of an epoch; called in another thread.

        The batch depends only on the arguments and on the start of the epoch; its ``str`` says where its content
        comes from, for messages.
        """
        ...

    def backward(self, batch: B) -> BatchResult:
        """Add the gradients of the batch's loss, times the precision's scale, to those of the weights.

        The loop seeds torch's random numbers before, and adds up gradients over all processes after.
        """
        ...


@runtime_checkable
class StatefulTask(Protocol):
    """A task with a state computed at the start of each epoch; checkpoints hold it."""

    def epoch_state(self) -> Mapping[str, Tensor]:
        """State of the current epoch."""
        ...

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the state of a checkpoint; called before :meth:`start_epoch` of this or the next epoch."""
        ...


@dataclass(frozen=True, slots=True)
class StepEvaluation:
    """Metrics after a number of steps."""

    step: int
    figures: Figures


@dataclass(slots=True)
class TrainingState:
    """The steps made, the last evaluation, and the best one if the settings name a corpus to choose it by."""

    step: int = 0
    last: StepEvaluation | None = None
    best: StepEvaluation | None = None
