"""The interface between a training and the training loop, and the state of a training."""

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
    """The loss of a batch, its size in the task's unit, and further figures."""

    loss: float
    size: int
    figures: Mapping[str, float] = field(default_factory=dict)


class Task(Protocol[B]):
    """The batches of a training and their gradients.

    Attributes:
        unit: unit of batch sizes, for example ``"pairs"``.
        memory_setting: setting to lower if memory runs out.
    """

    unit: str
    memory_setting: str

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        ...

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Prepare an epoch (from 0), also to resume within it; return figures to report, if any.

        An exception may interrupt this.
        """
        ...

    def batch(self, epoch: int, number: int) -> B:
        """Make a batch of an epoch, in another thread.

        It depends only on the arguments and the start of the epoch. Messages show ``str(batch)``, its place in the
        data.
        """
        ...

    def backward(self, batch: B) -> BatchResult:
        """Add the gradients of the batch's loss, times the precision's scale, to those of the weights.

        The loop seeds torch's random numbers before, and adds up the gradients of all processes after.
        """
        ...


@runtime_checkable
class StatefulTask(Protocol):
    """A task with a state computed at the start of each epoch; checkpoints hold the state."""

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the state of the current epoch."""
        ...

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the state from a checkpoint, before :meth:`start_epoch` of its epoch or of the next."""
        ...


@dataclass(frozen=True, slots=True)
class StepEvaluation:
    """The figures of an evaluation after a number of steps."""

    step: int
    figures: Figures


@dataclass(slots=True)
class TrainingState:
    """Steps made, the last evaluation, and the best one by the settings' corpus, if they name one."""

    step: int = 0
    last: StepEvaluation | None = None
    best: StepEvaluation | None = None
