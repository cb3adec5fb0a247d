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
    """The loss of a batch, the batch's size in the task's unit, and further figures to report."""

    loss: float
    size: int
    figures: Mapping[str, float] = field(default_factory=dict)


class Task(Protocol[B]):
    """The batches of a training and their gradients.

    Attributes:
        unit: unit of batch sizes, for example ``"pairs"``.
        memory_setting: name of the setting that a user should lower if memory runs out.
    """

    unit: str
    memory_setting: str

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        ...

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Prepare an epoch (numbered from 0), and return figures to report, if there are any.

        The loop also calls this to resume a training within the epoch. A stop request may interrupt the call with
        an exception.
        """
        ...

    def batch(self, epoch: int, number: int) -> B:
        """Make a batch of an epoch, in another thread.

        The batch depends only on the arguments and on the state at the start of the epoch. ``str(batch)`` names
        the batch's place in the data, for messages.
        """
        ...

    def backward(self, batch: B) -> BatchResult:
        """Add the gradients of the batch's loss, times the precision's scale, to the gradients of the weights.

        Before the call, the loop seeds torch's random numbers. After the call, it adds up the gradients of all
        processes.
        """
        ...


@runtime_checkable
class StatefulTask(Protocol):
    """A task that computes a state at the start of each epoch. Checkpoints contain this state."""

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the state of the current epoch."""
        ...

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the state from a checkpoint.

        The loop calls :meth:`start_epoch` afterwards, for the epoch of the state or for the next epoch.
        """
        ...


@dataclass(frozen=True, slots=True)
class StepEvaluation:
    """The figures of an evaluation after a number of steps."""

    step: int
    figures: Figures


@dataclass(slots=True)
class TrainingState:
    """The number of steps made, the last evaluation and the best evaluation.

    ``best`` stays ``None`` unless the settings name a corpus to choose the best weights by.
    """

    step: int = 0
    last: StepEvaluation | None = None
    best: StepEvaluation | None = None
