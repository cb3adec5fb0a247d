"""What a recipe has to say to the training loop, and where a training stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

B = TypeVar("B")

Figures = Mapping[str, Mapping[str, float]]
"""Corpus → figure → value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a batch.

    Attributes:
        loss: its loss.
        size: how much was learned from, in the task's unit.
        figures: whatever else is worth to be looked at.
    """

    loss: float
    size: int
    figures: Mapping[str, float] = field(default_factory=dict)


class Task(Protocol[B]):
    """What a recipe tells the loop.

    Attributes:
        unit: what batches are counted in, for example ``"pairs"``.
        memory_setting: the setting to lower where memory does not suffice.
    """

    unit: str
    memory_setting: str

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        ...

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Called before the batches of an epoch (from 0) are made; of the first one also after a resumption.

        Returns what is worth to be looked at, if anything is. It may be broken off, by an exception.
        """
        ...

    def batch(self, epoch: int, number: int) -> B:
        """Make a batch, in a thread of its own; it depends on nothing but the arguments (and the epoch's start).

        ``str`` of it says where it comes from.
        """
        ...

    def backward(self, batch: B) -> Outcome:
        """Add the gradients of the batch's loss, times the precision's scale, to those of the weights.

        The weights' gradients are then added up over all processes. Random numbers are torch's.
        """
        ...


@runtime_checkable
class Remembering(Protocol):
    """A task that within an epoch needs what was computed at its start: checkpoints hold it."""

    def memory(self) -> Mapping[str, Tensor]:
        """What there is to be remembered."""
        ...

    def recall(self, memory: Mapping[str, Tensor]) -> None:
        """Take up what a checkpoint holds, before the epoch that it is of (or the next one) is started."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation after a step."""

    step: int
    figures: Figures


@dataclass(slots=True)
class State:
    """Where a training stands.

    Attributes:
        step: how many steps were made.
        last: the last evaluation.
        best: the best one, where the settings say by which corpus.
    """

    step: int = 0
    last: Evaluated | None = None
    best: Evaluated | None = None
