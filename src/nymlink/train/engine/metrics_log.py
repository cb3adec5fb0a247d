"""``metrics.jsonl``: what happened in a training, a JSON object a line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nymlink.core.json_objects import member
from nymlink.core.store.atomic import atomic_file, output_errors


class MetricsLog:
    """Appends to a file.

    Args:
        path: the file.
        step: where a stopped training is gone on with: lines of later steps, which it made after its last
            checkpoint, are removed. ``None`` begins the file anew.

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
        """Append a line; a number that is not finite, which JSON does not have, is null.

        Raises:
            OutputError: the file cannot be written.
        """
        with output_errors(self._path), open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({name: _finite(value) for name, value in values.items()}) + "\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _step(line: str) -> float:
    """The step of a line; a line that was cut off in the middle of writing is of none and goes."""
    try:
        return member(json.loads(line), "step", int)
    except ValueError:
        return float("inf")
