"""The one training loop. A recipe says what its batches are and how one becomes gradients; the rest is here."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn
from torch.nn.utils import get_total_norm
from torch.optim import Optimizer

from nymlink.core.errors import NymlinkError, StoreError
from nymlink.core.prefetch import made_ahead
from nymlink.train.engine import checkpoint
from nymlink.train.engine.distributed import SINGLE, Processes
from nymlink.train.engine.interrupts import BrokenOffError, Stop, noticed_interrupts
from nymlink.train.engine.memory import OutOfMemoryError, fitting
from nymlink.train.engine.optimiser import LearningRate
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.reporting import Reporter
from nymlink.train.engine.sparse_gradients import densify
from nymlink.train.engine.task import Evaluated, Figures, Remembering, State, Task
from nymlink.train.settings.common import MEASURE, RunSettings

B = TypeVar("B")


class StoppedError(NymlinkError):
    """A training was told to stop, and can be gone on with."""


class Loop(Generic[B]):
    """Makes steps until there are no more, evaluates, and writes checkpoints.

    Args:
        task: the recipe's part.
        model: holds the weights that are trained.
        optimiser: over these weights.
        settings: how long, how fast, how often.
        precision: what the task computes in.
        folder: where checkpoints go.
        reporter: is told what happens.
        evaluate: measures the model on all held-out corpora.
        identity: what a resumed training must share with this one, as JSON values; the first process sees to it.
        processes: those that make each step together.
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
        self._trained = trained(model)
        self._optimiser = optimiser
        self._settings = settings
        self._precision = precision
        self._folder = folder
        self._reporter = reporter
        self._evaluate = evaluate
        self._identity = dict(identity)
        self._processes = processes
        self._written_at = time.monotonic()
        self.state = State()
        self.steps = min(settings.epochs * len(task), settings.max_steps or settings.epochs * len(task))
        self._rate = LearningRate(optimiser, settings.schedule, steps=self.steps, warm_up=settings.warm_up)

    def resume(self, step: int) -> None:
        """Take up the checkpoint of a step.

        Raises:
            StoreError: it is damaged, or of another model or training.
        """
        path = checkpoint.checkpoints(self._folder)[step]
        saved = checkpoint.restore(path, self._model, self._optimiser)
        if self._processes.first and any(saved.get(key) != value for key, value in self._identity.items()):
            raise StoreError("the checkpoint is of another training", path=path)
        self._precision.restore(saved["precision"])
        if isinstance(self._task, Remembering):
            self._task.recall(checkpoint.memory(path))
        last, best = (saved[key] and Evaluated(**saved[key]) for key in ("last", "best"))
        self.state = State(step, last, best)

    def run(self) -> State:
        """Make all steps that are left.

        Raises:
            StoppedError: it was told to (SIGINT, SIGTERM); a checkpoint is written.
            NymlinkError: the weights diverge, or memory does not suffice. The last checkpoint is left as it is.
            OutputError: a checkpoint cannot be written.
        """
        with noticed_interrupts() as stop, self._reporter.shown(self.state.step, self.steps):
            self._written_at = time.monotonic()
            # Before the first step too: what was there to begin with may turn out to be the best.
            self._settle(stop)
            for step, batch in self._batches(stop):
                with self._explained(f"step {step + 1:,} ({batch})", advice=", and look at this batch"):
                    self._make_step(step, batch)
                self._settle(stop)
        return self.state

    def _batches(self, stop: Stop) -> Iterator[tuple[int, B]]:
        """The batches that are left, each with the number of its step."""
        in_epoch = len(self._task)
        for epoch in range(self.state.step // in_epoch, -(-self.steps // in_epoch)):
            start = epoch * in_epoch
            numbers = range(max(self.state.step - start, 0), min(in_epoch, self.steps - start))
            self._start_epoch(epoch, stop)
            batches = made_ahead(partial(self._task.batch, epoch), numbers, ahead=2)
            for number, batch in zip(numbers, batches, strict=True):
                yield start + number, batch

    def _start_epoch(self, epoch: int, stop: Stop) -> None:
        """Start an epoch. That changes no weights: being told to stop breaks it off.

        Raises:
            StoppedError: it was told to stop.
        """
        # Where there are other processes, one that breaks off would leave them waiting.
        broken_off = stop.breaks_off() if self._processes.count == 1 else contextlib.nullcontext()
        try:
            with self._reporter.paused(), self._explained(f"at the start of epoch {epoch + 1}"), broken_off:
                figures = self._task.start_epoch(epoch)
        except BrokenOffError:
            self._settle(stop)
        else:
            if figures:
                self._reporter.epoch(epoch, figures)

    def _make_step(self, step: int, batch: B) -> None:
        # Random numbers are a matter of the step, so that there is no state of them to save.
        torch.manual_seed(_seed(self._settings.seed, step, self._processes.rank))
        outcome = self._task.backward(batch)
        densify(self._trained)
        self._processes.add_up(self._trained)
        gradients = [parameter.grad for parameter in self._trained if parameter.grad is not None]
        self._precision.unscale(gradients)
        norm = float(get_total_norm(gradients))
        finite = math.isfinite(norm)
        if not math.isfinite(outcome.loss) or not (finite or self._precision.forgiving):
            raise NymlinkError(f"the loss is {outcome.loss}, and its gradients are no finite numbers")
        self._precision.update(overflowed=not finite)
        rate = self._rate.set(step)
        if finite:
            with fitting("the optimiser's state does not fit: train fewer weights (tuning), or a smaller base"):
                self._optimiser.step()
        self._optimiser.zero_grad()
        self.state.step = step + 1
        self._reporter.step(step + 1, outcome, learning_rate=rate, gradient_norm=norm)

    def _settle(self, stop: Stop) -> None:
        """Evaluate, write a checkpoint, and stop, each if it is time to."""
        better = self._measure(stop)
        stopping = self._processes.any(stop.requested, self._precision.device)
        late = time.monotonic() - self._written_at >= 60 * self._settings.checkpoint_minutes
        due = self._processes.any(self._processes.first and (late or better), self._precision.device)
        if due or stopping or self.state.step == self.steps:
            with self._explained(f"after step {self.state.step:,}"):
                self._check_weights()
            if self._processes.first:
                self._write()
        if stopping:
            raise StoppedError(
                f"stopped after step {self.state.step:,} of {self.steps:,}; the same command goes on from there"
            )

    def _measure(self, stop: Stop) -> bool:
        """Evaluate if it is time to, and say whether it is the best so far."""
        step, last = self.state.step, self.state.last
        due = step == self.steps or step % self._settings.evaluate_every == 0
        # What a training that was stopped had evaluated is not evaluated again, and what it had not is.
        if not due or (last is not None and last.step == step):
            return False
        if not self._settings.evaluation or not self._processes.first or stop.requested:
            return False
        with self._reporter.paused():
            try:
                with self._explained(f"evaluation after step {step:,}"), stop.breaks_off():
                    figures = self._evaluate()
            except BrokenOffError:
                return False
        self._reporter.evaluation(self.state.step, figures)
        self.state.last = Evaluated(self.state.step, figures)
        by = self._settings.best
        if by is None:
            return False
        best = self.state.best
        if best is not None and figures[by][MEASURE] <= best.figures[by][MEASURE]:
            return False
        self.state.best = self.state.last
        return True

    def _check_weights(self) -> None:
        """See that what is to be written is worth it: finite gradients can make weights that are not."""
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
            memory = self._task.memory() if isinstance(self._task, Remembering) else {}
            checkpoint.save(self._folder, self.state.step, self._model, self._optimiser, state, memory)
            best = [] if self.state.best is None else [self.state.best.step]
            checkpoint.prune(self._folder, keep=[self.state.step, *best])
        self._written_at = time.monotonic()

    @contextlib.contextmanager
    def _explained(self, where: str, *, advice: str = "") -> Iterator[None]:
        """Say of an error where it came, and what can be done.

        Args:
            where: where it would come.
            advice: what else can be done about weights that diverge, after lowering the learning rate.
        """
        setting = self._task.memory_setting
        try:
            with fitting(f"lower {setting} (now {getattr(self._settings, setting):,})"):
                yield
        except OutOfMemoryError as error:
            raise NymlinkError(f"{where}: {error}. {self._kept()}") from error
        except NymlinkError as error:
            raise NymlinkError(f"{where}: {error}. {self._kept()} Lower the learning rate{advice}") from error

    def _kept(self) -> str:
        found = checkpoint.checkpoints(self._folder)
        if not found:
            return "No checkpoint was written yet."
        return f"The last checkpoint is {list(found.values())[-1]}."


def trained(model: nn.Module) -> list[nn.Parameter]:
    """The weights of a model that want a gradient."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def _seed(*parts: int) -> int:
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest()) >> 1
