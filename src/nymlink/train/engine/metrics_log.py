"""``metrics.jsonl``: the metrics of a training, one JSON object a line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nymlink.core.json_objects import member
from nymlink.core.store.atomic import atomic_file, output_errors


class MetricsLog:
    """Appends lines to the file of metrics.

    Args:
        path: the file.
        step: the step that a stopped training resumes from: lines of later steps, made after its last checkpoint,
            are removed. ``None`` to begin the file anew.

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
        """Append a line; numbers that are not finite, which JSON does not have, become null.

        Raises:
            OutputError: the file cannot be written.
        """
        with output_errors(self._path), open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({name: _finite(value) for name, value in values.items()}) + "\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _step(line: str) -> float:
    """Read the step of a line; infinity for a line cut off while it was written, which is then removed."""
    try:
        return member(json.loads(line), "step", int)
    except ValueError:
        return float("inf")
