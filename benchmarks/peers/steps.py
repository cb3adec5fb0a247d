"""Figures of one peer, kept in a file step by step, so that a run goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.peers.roster import Peer, weights
from benchmarks.peers.scoring import linked

LONG: Final = 60.0
"""Seconds of a build whose index is kept, so that its peer can be measured again without it."""


@dataclass(slots=True)
class Steps:
    """Steps of a peer.

    Attributes:
        peer: whose.
        kind: ``linkers`` or ``annotators``.
        room: folder of dictionaries, vectors and figures.
        done: name of a step → its figures; ``stopped`` is why there are none.
    """

    peer: Peer
    kind: str
    room: Path
    done: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        files = (self._file(name) for name in ("dictionary", "0"))
        self.done = {}
        for file in files:
            self.done |= json.loads(file.read_text("utf-8")) if file.exists() else {}

    def missing(self, names: list[str]) -> list[str]:
        """List those of some steps that are not done; what has failed is tried again."""
        return [name for name in names if "failed" in self.done.get(name, {"failed": ""})]

    def keep(self, name: str, figures: dict[str, Any]) -> None:
        """Keep the figures of a step."""
        self.done[name] = figures
        file = self._file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        report.save(file, {one: own for one, own in self.done.items() if one.isdigit() == name.isdigit()})

    def measure(self, name: str, folder: Path, python: str, *, patience: float | None = None) -> None:
        """Measure the peer on the dictionary of a folder, and keep the figures; what fails is told and kept."""
        index = self.room / "indexes" / f"{self.peer.key}-{name}"
        start = time.monotonic()
        try:
            figures = self._measured(folder, index, python, patience)
            if self.peer.lends and name.isdigit():
                apart.run("peers.vectors:copy", folder=str(folder), store=str(folder / "store"))
        except subprocess.TimeoutExpired:
            figures = {"stopped": f"after {patience or 0:.0f} s"}
        except subprocess.CalledProcessError as error:
            figures = {"failed": f"exit status {error.returncode}"}
            print(f"{self.peer.label}, {name}: {figures['failed']}", file=sys.stderr)
        if name.isdigit() or figures.get("build_seconds", 0.0) < LONG:
            shutil.rmtree(index, ignore_errors=True)
        self.keep(name, {**figures, "seconds": time.monotonic() - start, "cores": len(os.sched_getaffinity(0))})

    def _file(self, name: str) -> Path:
        """Return where the figures of a step are kept: those of growing dictionaries apart."""
        return self.room / "figures" / ("growth" if name.isdigit() else "dictionaries") / f"{self.peer.key}.json"

    def _measured(self, folder: Path, index: Path, python: str, patience: float | None) -> dict[str, Any]:
        settings = dict(self.peer.settings)
        if self.peer.encoder is not None:
            store = folder / "store" if (folder / "store").is_dir() else self.room / "vectors"
            settings = {"store": str(store), "encoder": self.peer.encoder, "weights": weights(self.peer.encoder)}
        asked = {
            "module": f"benchmarks.peers.{self.kind}.{self.peer.module}",
            "folder": str(folder),
            "index": str(index),
            "settings": settings,
        }
        figures: dict[str, Any] = {}
        kept = index / "built.json"
        if kept.exists():
            figures = json.loads(kept.read_text(encoding="utf-8"))
        elif self.peer.builds:
            shutil.rmtree(index, ignore_errors=True)
            built = apart.run(
                "peers.measuring:build", interpreter=python, patience=patience, **asked, began=time.monotonic()
            )
            figures = {**built, "build_peak_mb": built.pop("peak_mb"), "build_cores": len(os.sched_getaffinity(0))}
            report.save(kept, figures)
        else:
            index.mkdir(parents=True, exist_ok=True)
        function = "search" if self.kind == "linkers" else "annotate"
        figures |= apart.run(
            f"peers.measuring:{function}",
            interpreter=python,
            patience=patience,
            **asked,
            block=self.peer.block,
            began=time.monotonic(),
        )
        return figures | self._scores(folder, figures.pop("found"))

    def _scores(self, folder: Path, found: list[Any]) -> dict[str, Any]:
        """Score what was found, where there is gold: growing dictionaries have none."""
        if self.kind == "linkers":
            return {"scores": linked(str(folder), found)} if (folder / "mentions.json").exists() else {}
        if not (folder / "hp.obo").exists():
            return {}
        file = self.room / "found.json"
        file.write_text(json.dumps(found), encoding="utf-8")
        return {"scores": apart.run("peers.scoring:annotated", folder=str(folder), found=str(file))}
