"""The figures of all stages, each measured once and kept beside what it was measured on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from nymlink.core.store.atomic import atomic_file

_FOLDER: Final = "figures"


def keep(folder: Path, name: str, measure: Callable[[], Any]) -> None:
    """Measure something and keep it, unless it is kept."""
    path = folder / _FOLDER / f"{name}.json"
    if not path.exists():
        measured = measure()
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as partial:
            partial.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, Any]:
    """Read all figures, in the order in which they were measured, and the learning curves of the trainings."""
    paths = sorted((folder / _FOLDER).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    curves = {path.parent.name: learning_curve(path) for path in sorted(folder.glob("*/metrics.jsonl"))}
    return {**kept, "learning_curves": curves}


def learning_curve(metrics: Path) -> list[dict[str, float]]:
    """Read the evaluations in the metrics of a training: Acc@1 of each corpus, by step."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    steps: dict[int, dict[str, float]] = {}
    for line in lines:
        if "evaluation" in line:
            steps.setdefault(line["step"], {})[line["evaluation"]] = line["acc@1"]
    return [{"step": step, **values} for step, values in sorted(steps.items())]
