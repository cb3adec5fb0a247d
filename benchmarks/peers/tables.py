"""Tables of what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report
from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.steps import Steps

Row = dict[str, Any]

PARTS: Final = ("accuracy", "costs", "texts", "largest")


def tables(measured: Mapping[str, Sequence[Steps]], plan: Mapping[str, list[str]], room: Path) -> dict[str, Any]:
    """Make the tables, and ``figures``, which the picture is drawn of; without sizes, no tables of growth."""
    rates = _rates(room)
    bare, *_ = plan["linkers"]
    size = len(Dictionary(room / bare).names)
    figures = {
        steps.peer.key: {
            "label": steps.peer.label,
            "short": steps.peer.short,
            "kind": kind,
            "steps": {
                name: _complete(steps, one, int(name), rates)
                for name, one in steps.done.items()
                if name in plan["growth"]
            },
        }
        for kind, all_ in measured.items()
        for steps in all_
        if steps.peer.grows and steps.peer.module is not None
    }
    linkers = measured["linkers"]
    growth = {"largest": [_largest(one) for one in figures.values()], "figures": figures} if plan["growth"] else {}
    return {
        "accuracy": [_accuracy(steps, plan["linkers"]) for steps in linkers],
        "costs": [_costs(steps, bare, "linker", "mention", size, rates) for steps in linkers if steps.peer.module],
        "texts": [_texts(steps, *plan["annotators"]) for steps in measured["annotators"]],
        **growth,
    }


def text(made: Mapping[str, Any]) -> str:
    """Format the tables."""
    written = []
    for part in (part for part in PARTS if part in made):
        header = list(dict.fromkeys(key for row in made[part] for key in row))
        written.append(report.table(header, [[str(row.get(key, "")) for key in header] for row in made[part]]))
    return "\n\n".join(written)


def conditions(measured: Mapping[str, Sequence[Steps]]) -> str:
    """Say on how many cores was measured; an index may have been built on others."""
    found: dict[str, set[int]] = {}
    for steps in (one for all_ in measured.values() for one in all_):
        for name, figures in steps.done.items():
            if "cores" in figures:
                found.setdefault("growth" if name.isdigit() else "mentions and texts", set()).add(figures["cores"])
                if figures.get("build_cores", figures["cores"]) != figures["cores"]:
                    found.setdefault(f"index of {steps.peer.label}", set()).add(figures["build_cores"])
    return "; ".join(f"{what}: {' or '.join(map(str, sorted(of)))} core(s)" for what, of in found.items())


def seconds(figures: Mapping[str, Any]) -> float:
    """Add up the seconds from names to a first answer; infinite where there is none."""
    if "start_seconds" not in figures:
        return float("inf")
    return float(figures.get("build_seconds", 0.0) + figures["start_seconds"])


def _rates(room: Path) -> dict[str, float]:
    """Read how many names a second each encoder encoded."""
    found = {}
    for file in (room / "vectors").glob("* seconds.json"):
        made = json.loads(file.read_text(encoding="utf-8"))
        found[file.name.removesuffix(" seconds.json")] = made["encoded"] / made["seconds"]
    return found


def _complete(steps: Steps, figures: Mapping[str, Any], names: int, rates: Mapping[str, float]) -> Row:
    """Add the time of encoding, which was measured once, to that of building the index."""
    rate = rates.get(steps.peer.encoder or "")
    if rate is None or "build_seconds" not in figures:
        return dict(figures)
    return {**figures, "build_seconds": figures["build_seconds"] + names / rate}


def _failure(steps: Steps, names: Iterable[str]) -> str | None:
    """Say why a peer has no figures; ``None`` where it has."""
    failure = steps.done.get("environment", {}).get("failed")
    if failure:
        return f"not installed: {failure}"
    found = (steps.done.get(name, {"failed": "not measured"}) for name in names)
    return next((one["failed"] for one in found if "failed" in one), None)


def _accuracy(steps: Steps, names: Sequence[str]) -> Row:
    row: Row = {"linker": steps.peer.label}
    if failure := _failure(steps, names):
        return {"linker": f"{steps.peer.label}: {failure}"}
    scores = {task: one for name in names for task, one in steps.done[name]["scores"].items()}
    for task in sorted(scores, key=lambda task: ("NCBI" not in task, "bare" not in task)):
        for which, label in (("all", ""), ("unseen", ", unseen")):
            of = scores[task][which]
            row[f"{task}{label} ({of['n']:,})"] = _shares(of)
    return row


def _shares(figures: Mapping[str, float]) -> str:
    return "/".join(f"{100 * figures[name]:.1f}" for name in ("acc@1", "acc@5") if name in figures)


def _costs(steps: Steps, name: str, who: str, what: str, size: int, rates: Mapping[str, float]) -> Row:
    if failure := _failure(steps, (name,)):
        return {who: f"{steps.peer.label}: {failure}"}
    figures = _complete(steps, steps.done[name], size, rates)
    return {
        who: steps.peer.label,
        f"{what}s/s": _whole(figures["per_second"]),
        f"one {what}, ms": _short(figures["single_ms"]),
        "start, s": _short(figures["start_seconds"]),
        "index built, s": _short(figures["build_seconds"]) if "build_seconds" in figures else "",
        "index, MB": _whole(figures["disk_mb"]) if "disk_mb" in figures else "",
        "peak MB": _whole(figures["peak_mb"]),
    }


def _texts(steps: Steps, name: str) -> Row:
    if failure := _failure(steps, (name,)):
        return {"annotator": f"{steps.peer.label}: {failure}"}
    scores = steps.done[name]["scores"]
    costs = _costs(steps, name, "annotator", "abstract", 0, {})
    return {
        "annotator": costs.pop("annotator"),
        **{f"mentions {label}": _percent(scores["mentions"][key]) for label, key in _PRF.items()},
        "documents F1": _percent(scores["concepts"]["f1"]),
        **costs,
    }


_PRF: Final = {"P": "precision", "R": "recall", "F1": "f1"}


def _largest(one: Mapping[str, Any]) -> Row:
    """Show the largest size that a peer was measured at, and why no larger one."""
    reached = {int(name): figures for name, figures in one["steps"].items() if "start_seconds" in figures}
    if not reached:
        return {"peer": one["label"], "names": 0, "no more because": "not measured"}
    most = max(reached)
    figures = reached[most]
    ends = [
        why
        for name, later in one["steps"].items()
        if int(name) > most
        for why in (later.get("stopped") or later.get("failed"),)
    ]
    return {
        "peer": one["label"],
        "names": most,
        "first answer after, s": _short(seconds(figures)),
        "mentions or abstracts/s": _whole(figures["per_second"]),
        "peak MB": _whole(figures["peak_mb"]),
        "no more because": ends[0] if ends else "",
    }


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _whole(number: float) -> int | str:
    """Round to a whole number, where it is not too small for that."""
    return round(number) if number >= 10 else _short(number)


def _short(number: float) -> str:
    """Write a number with two digits, or as a whole one."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 1 else f"{number:.2g}"
