"""``metrics.jsonl``: the metrics of a training, with one JSON object on each line."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nymlink.core.json_files import member
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.core.terminal import no_bar
from nymlink.train.engine.task import BatchResult


class MetricsLog:
    """Appends lines to the file of metrics.

    Args:
        path: the file.
        step: step of the checkpoint to resume from. Lines of later steps are removed. ``None`` begins a new file.

    Raises:
        OutputError: the file cannot be written.
    """

    def __init__(self, path: Path, *, step: int | None = None) -> None:
        self._path = path
        kept: list[str] = []
        if step is not None and path.exists():
            kept = [line for line in path.read_text(encoding="utf-8").splitlines() if _step(line) <= step]
        with atomic_file(path) as partial:
            partial.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def write(self, **values: Any) -> None:
        """Append a line. Infinities and NaN are written as ``null``, since JSON has no such numbers.

        Raises:
            OutputError: the file cannot be written.
        """
        with output_errors(self._path), open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({name: _finite(value) for name, value in values.items()}) + "\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _step(line: str) -> float:
    """Read the step of a line. An incomplete line has the step infinity, so that it is removed."""
    try:
        return member(json.loads(line), "step", int)
    except ValueError:
        return float("inf")


class Reporter:
    """Averages the metrics of steps, and reports them every few steps.

    Args:
        log: the log of metrics; ``None`` in all processes but the first.
        every: steps between lines.
        batches: batches in an epoch.
        unit: the unit of batch sizes, for example ``"pairs"``.
        progress: show a progress bar if standard error is a terminal.
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
        """Show the progress bar until the block ends; then report the remaining steps."""
        disable = no_bar(shown=self._progress)
        with tqdm(total=steps, initial=done, unit="step", disable=disable, dynamic_ncols=True) as self._bar:
            self._reset()
            try:
                yield
            finally:
                self._report()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time of the block for the reported speed."""
        start = time.perf_counter()
        yield
        self._since += time.perf_counter() - start

    def epoch(self, epoch: int, figures: Mapping[str, float]) -> None:
        """Report that an epoch (from 0) has started, with the task's figures."""
        # The line has the number of the epoch's first step. A training that resumes before this step removes the
        # line and writes it again.
        self._write(epoch * self._batches + 1, epoch=epoch + 1, **figures)
        self._show(f"epoch {epoch + 1}", figures)

    def step(self, step: int, result: BatchResult, **figures: float) -> None:
        """Report that a step was made."""
        self._step = step
        self._steps += 1
        self._size += result.size
        for name, value in {"loss": result.loss, **result.figures, **figures}.items():
            self._sums[name] += value
        self._bar.update()
        if step % self._every == 0:
            self._report()

    def _report(self) -> None:
        """Write the means of the steps since the last report."""
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
        """Report an evaluation: the figures of each held-out corpus."""
        for name, values in figures.items():
            self._write(step, evaluation=name, **values)
            self._show(f"step {step:,}, {name}", values)

    def _show(self, label: str, figures: Mapping[str, float]) -> None:
        if not self._bar.disable:
            values = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
            self._bar.write(f"{label}: {values}")

    def _write(self, step: int, **values: float | str) -> None:
        if self._log is not None:
            self._log.write(step=step, **values)

    def _reset(self) -> None:
        self._step = self._steps = self._size = 0
        self._sums: dict[str, float] = defaultdict(float)
        self._since = time.perf_counter()
