"""What a training says of itself: a progress bar where somebody watches, and ``metrics.jsonl``."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tqdm import tqdm

from nymlink.train.engine.metrics_log import MetricsLog
from nymlink.train.engine.task import Outcome


class Reporter:
    """Averages what steps report, and says it every few steps.

    Args:
        log: where lines are written; ``None`` in all processes but the first.
        every: steps between lines.
        batches: batches in an epoch.
        unit: what sizes are counted in.
        progress: whether to show a bar when standard error is a terminal.
    """

    def __init__(self, log: MetricsLog | None, *, every: int, batches: int, unit: str, progress: bool) -> None:
        self._log = log
        self._every = every
        self._batches = batches
        self._unit = unit
        self._progress = progress and log is not None
        self._bar = tqdm(disable=True)
        self._reset()

    @contextlib.contextmanager
    def shown(self, done: int, steps: int) -> Iterator[None]:
        """Within it, the bar is there; what was not yet said at its end is said then."""
        disable = None if self._progress else True
        with tqdm(total=steps, initial=done, unit="step", disable=disable, dynamic_ncols=True) as self._bar:
            self._reset()
            try:
                yield
            finally:
                self._say()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Within it, time does not count into the speed."""
        start = time.perf_counter()
        yield
        self._since += time.perf_counter() - start

    def epoch(self, epoch: int, figures: Mapping[str, float]) -> None:
        """An epoch (from 0) was started."""
        # A line of its first step: a training that begins the epoch again when it goes on says it again.
        self._write(epoch * self._batches + 1, epoch=epoch + 1, **figures)
        self._show(f"epoch {epoch + 1}", figures)

    def step(self, step: int, outcome: Outcome, **figures: float) -> None:
        """A step was made."""
        self._step = step
        self._steps += 1
        self._size += outcome.size
        for name, value in {"loss": outcome.loss, **outcome.figures, **figures}.items():
            self._sums[name] += value
        self._bar.update()
        if step % self._every == 0:
            self._say()

    def _say(self) -> None:
        """Write the means since the last time, if there was a step since."""
        if not self._steps:
            return
        means = {name: total / self._steps for name, total in self._sums.items()}
        speed = self._size / (time.perf_counter() - self._since)
        epoch = 1 + (self._step - 1) // self._batches
        self._write(self._step, epoch=epoch, **means, **{f"{self._unit}_per_second": speed})
        shown = {"loss": f"{means['loss']:.4f}", f"{self._unit}/s": f"{speed:,.0f}"}
        if "mined_negatives" in means:
            shown["negatives"] = f"{means['mined_negatives']:.2%}"
        self._bar.set_postfix(shown, refresh=False)
        self._reset()

    def evaluation(self, step: int, figures: Mapping[str, Mapping[str, float]]) -> None:
        """The model was measured on each of some corpora."""
        for name, values in figures.items():
            self._write(step, evaluation=name, **values)
            self._show(f"step {step:,}, {name}", values)

    def _show(self, what: str, figures: Mapping[str, float]) -> None:
        if not self._bar.disable:
            said = ", ".join(f"{figure} {value:.4f}" for figure, value in figures.items())
            self._bar.write(f"{what}: {said}")

    def _write(self, step: int, **values: float | str) -> None:
        if self._log is not None:
            self._log.write(step=step, **values)

    def _reset(self) -> None:
        self._step = self._steps = self._size = 0
        self._sums: dict[str, float] = defaultdict(float)
        self._since = time.perf_counter()
