"""The training loop: steps, evaluations, checkpoints.

SIGINT and SIGTERM stop the loop. It finishes a step that has begun; an evaluation or other work ends at once.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from typing import Any, Final, Generic, TypeVar

import torch
from torch import nn
from torch.nn.utils import get_total_norm
from torch.optim import Optimizer

from nymlink.core.computing import prefetch
from nymlink.core.errors import NymlinkError, StoreError
from nymlink.train.engine import checkpoint
from nymlink.train.engine.distributed import SINGLE, LostProcessError, Processes
from nymlink.train.engine.optimiser import (
    LearningRate,
    OutOfMemoryError,
    Precision,
    densify_gradients,
    out_of_memory_advice,
)
from nymlink.train.engine.reporting import Reporter
from nymlink.train.engine.task import Figures, StatefulTask, StepEvaluation, Task, TrainingState
from nymlink.train.settings.common import BEST_METRIC, RunSettings

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopNowError(Exception):
    """A stop was requested within :meth:`StopRequest.stops_at_once`."""


class StopRequest:
    """Whether a signal has requested a stop."""

    requested = False
    _at_once = False

    def request(self) -> None:
        """Record that a stop is requested.

        Raises:
            StopNowError: within :meth:`stops_at_once`.
        """
        self.requested = True
        if self._at_once:
            raise StopNowError

    @contextlib.contextmanager
    def stops_at_once(self) -> Iterator[None]:
        """Let :meth:`request` raise :class:`StopNowError` until the block ends."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False


@contextlib.contextmanager
def catch_interrupts() -> Iterator[StopRequest]:
    """Turn the first SIGINT or SIGTERM within the block into a stop request. A second signal acts as usual.

    Outside the main thread, all signals act as usual: Python allows signal handlers in the main thread only.
    """
    stop = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def handle(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        stop.request()

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


B = TypeVar("B")


class StoppedError(NymlinkError):
    """A signal stopped the training; it can be resumed."""


class Loop(Generic[B]):
    """Makes all steps of a training, evaluates it, and writes checkpoints.

    Args:
        task: makes the training's batches and gradients.
        model: holds the trained weights.
        optimiser: updates these weights.
        settings: steps, learning rate, intervals of evaluations and checkpoints.
        precision: the precision of the task.
        folder: folder of the checkpoints.
        reporter: gets the metrics.
        evaluate: evaluates the model on all held-out corpora.
        identity: JSON values that a checkpoint must contain; the first process checks them before it resumes.
        processes: processes that share each step.

    Attributes:
        state: steps made, last and best evaluation.
        steps: number of steps of the whole training.
    """

    def __init__(
        self,
        task: Task[B],
        model: nn.Module,
        optimiser: Optimizer,
        *,
        settings: RunSettings,
        precision: Precision,
        folder: Path,
        reporter: Reporter,
        evaluate: Callable[[], Figures],
        identity: Mapping[str, Any],
        processes: Processes = SINGLE,
    ) -> None:
        self._task = task
        self._model = model
        self._trained = trainable_parameters(model)
        self._optimiser = optimiser
        self._settings = settings
        self._precision = precision
        self._folder = folder
        self._reporter = reporter
        self._evaluate = evaluate
        self._identity = dict(identity)
        self._processes = processes
        self._written_at = time.monotonic()
        self.state = TrainingState()
        self.steps = min(settings.epochs * len(task), settings.max_steps or settings.epochs * len(task))
        self._rate = LearningRate(optimiser, settings.schedule, steps=self.steps, warm_up=settings.warm_up)

    def resume(self, step: int) -> None:
        """Load the checkpoint of a step.

        Raises:
            StoreError: it is missing, damaged, or of another model or training.
        """
        path = checkpoint.checkpoints(self._folder).get(step)
        if path is None:
            raise StoreError(
                f"this machine lacks the checkpoint of step {step:,} of the first machine: put the output on "
                "storage that all machines share, or copy it there",
                path=self._folder,
            )
        saved = checkpoint.restore(path, self._model, self._optimiser)
        if self._processes.first and any(saved.get(key) != value for key, value in self._identity.items()):
            raise StoreError("the checkpoint is of another training", path=path)
        try:
            self._precision.restore(saved["precision"])
            last, best = (saved[key] and StepEvaluation(**saved[key]) for key in ("last", "best"))
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"damaged ({error}): remove it to continue from the previous one", path=path
            ) from error
        if isinstance(self._task, StatefulTask):
            self._task.restore_epoch_state(checkpoint.load_epoch_state(path))
        self.state = TrainingState(step, last, best)

    def run(self) -> TrainingState:
        """Make the remaining steps.

        Raises:
            StoppedError: a signal stopped the training; a checkpoint is written.
            NymlinkError: the weights diverged, or memory ran out; the last checkpoint is unchanged.
            OutputError: a checkpoint cannot be written.
        """
        with catch_interrupts() as stop, self._reporter.shown(self.state.step, self.steps):
            self._written_at = time.monotonic()
            # Evaluate also before the first step: the weights of the base may be the best.
            self._after_step(stop)
            for step, batch in self._batches(stop):
                with self._error_context(f"step {step + 1:,} ({batch})", advice=", and look at this batch"):
                    self._make_step(step, batch)
                self._after_step(stop)
        return self.state

    def _batches(self, stop: StopRequest) -> Iterator[tuple[int, B]]:
        """Make the remaining batches with the numbers of their steps."""
        per_epoch = len(self._task)
        for epoch in range(self.state.step // per_epoch, -(-self.steps // per_epoch)):
            start = epoch * per_epoch
            numbers = range(max(self.state.step - start, 0), min(per_epoch, self.steps - start))
            self._start_epoch(epoch, stop)
            batches = prefetch(partial(self._task.batch, epoch), numbers, ahead=2)
            for number, batch in zip(numbers, batches, strict=True):
                yield start + number, batch

    def _start_epoch(self, epoch: int, stop: StopRequest) -> None:
        """Start an epoch. A stop request ends the start at once, since no weights change in it."""
        # With several processes, one that stops at once would leave the others waiting.
        stopping = stop.stops_at_once() if self._processes.count == 1 else contextlib.nullcontext()
        try:
            with self._reporter.paused(), self._error_context(f"at the start of epoch {epoch + 1}"), stopping:
                figures = self._task.start_epoch(epoch)
        except StopNowError:
            self._after_step(stop)
        else:
            if figures:
                self._reporter.epoch(epoch, figures)

    def _make_step(self, step: int, batch: B) -> None:
        # Each step has its own seed, so that checkpoints need no state of the random number generators.
        torch.manual_seed(_seed(self._settings.seed, step, self._processes.rank))
        result = self._task.backward(batch)
        densify_gradients(self._trained)
        self._processes.sum_gradients(self._trained)
        gradients = [parameter.grad for parameter in self._trained if parameter.grad is not None]
        self._precision.unscale(gradients)
        norm = float(get_total_norm(gradients))
        finite = math.isfinite(norm)
        if not math.isfinite(result.loss) or not (finite or self._precision.can_overflow):
            raise NymlinkError(f"the loss is {result.loss}, and its gradients are not finite numbers")
        self._precision.update(overflowed=not finite)
        rate = self._rate.set(step)
        if finite:
            with out_of_memory_advice(
                "the optimiser's state does not fit: train fewer weights (tuning), or a smaller base"
            ):
                self._optimiser.step()
        self._optimiser.zero_grad()
        self.state.step = step + 1
        self._reporter.step(step + 1, result, learning_rate=rate, gradient_norm=norm)

    def _after_step(self, stop: StopRequest) -> None:
        """Evaluate if it is time, write a checkpoint if it is time, and stop if a stop is requested."""
        improved = self._evaluate_if_due(stop)
        stopping = self._processes.any(stop.requested, self._precision.device)
        late = time.monotonic() - self._written_at >= 60 * self._settings.checkpoint_minutes
        due = self._processes.any(self._processes.first and (late or improved), self._precision.device)
        if due or stopping or self.state.step == self.steps:
            with self._error_context(f"after step {self.state.step:,}"):
                self._check_weights()
            if self._processes.first:
                self._write()
        if stopping:
            raise StoppedError(
                f"stopped after step {self.state.step:,} of {self.steps:,}; the same command continues from there"
            )

    def _evaluate_if_due(self, stop: StopRequest) -> bool:
        """Evaluate if it is time, and return whether this evaluation is the best so far."""
        step, last = self.state.step, self.state.last
        due = step == self.steps or step % self._settings.evaluate_every == 0
        # A resumed training does not repeat the evaluation of its checkpoint.
        if not due or (last is not None and last.step == step):
            return False
        if not self._settings.evaluation or not self._processes.first or stop.requested:
            return False
        with self._reporter.paused():
            try:
                with self._error_context(f"evaluation after step {step:,}"), stop.stops_at_once():
                    figures = self._evaluate()
            except StopNowError:
                return False
        self._reporter.evaluation(self.state.step, figures)
        self.state.last = StepEvaluation(self.state.step, figures)
        corpus = self._settings.best
        if corpus is None:
            return False
        best = self.state.best
        if best is not None and figures[corpus][BEST_METRIC] <= best.figures[corpus][BEST_METRIC]:
            return False
        self.state.best = self.state.last
        return True

    def _check_weights(self) -> None:
        """Raise ``NymlinkError`` if a weight is not finite.

        Weights can overflow even if all gradients are finite.
        """
        largest = get_total_norm([parameter.detach() for parameter in self._trained], norm_type=math.inf)
        if not math.isfinite(float(largest)):
            raise NymlinkError("the weights are no longer finite numbers")

    def _write(self) -> None:
        with self._reporter.paused():
            state = {
                **self._identity,
                "precision": self._precision.state(),
                "last": self.state.last and asdict(self.state.last),
                "best": self.state.best and asdict(self.state.best),
            }
            epoch_state = self._task.epoch_state() if isinstance(self._task, StatefulTask) else {}
            checkpoint.save(self._folder, self.state.step, self._model, self._optimiser, state, epoch_state)
            best = [] if self.state.best is None else [self.state.best.step]
            checkpoint.prune(self._folder, keep=[self.state.step, *best])
        self._written_at = time.monotonic()

    @contextlib.contextmanager
    def _error_context(self, where: str, *, advice: str = "") -> Iterator[None]:
        """Add to an error's message ``where`` (the part of the training) and ``advice`` on diverging weights."""
        setting = self._task.memory_setting
        try:
            with out_of_memory_advice(f"lower {setting} (now {getattr(self._settings, setting):,})"):
                yield
        except NymlinkError as error:
            message = f"{where}: {error}. {self._last_checkpoint()}"
            if isinstance(error, LostProcessError):
                raise LostProcessError(message) from error
            if not isinstance(error, OutOfMemoryError):
                message += f" Lower the learning rate{advice}"
            raise NymlinkError(message) from error

    def _last_checkpoint(self) -> str:
        written = list(checkpoint.checkpoints(self._folder).values())
        return f"The last checkpoint is {written[-1]}." if written else "No checkpoint was written yet."


def trainable_parameters(model: nn.Module) -> list[nn.Parameter]:
    """List the parameters with ``requires_grad``."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def _seed(*parts: int) -> int:
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest()) >> 1
