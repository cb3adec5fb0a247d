"""Figures of one peer, kept in a file step by step, so that a run goes on where it was interrupted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apart
import report
from peers.roster import Peer, weights
from peers.scoring import linked


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
        self.done = json.loads(self.file.read_text("utf-8")) if self.file.exists() else {}

    @property
    def file(self) -> Path:
        """Where the figures are kept."""
        return self.room / "figures" / f"{self.peer.key}.json"

    def missing(self, names: list[str]) -> list[str]:
        """List those of some steps that are not done; what has failed is tried again."""
        return [name for name in names if "failed" in self.done.get(name, {"failed": ""})]

    def keep(self, name: str, figures: dict[str, Any]) -> None:
        """Keep the figures of a step."""
        self.done[name] = figures
        self.file.parent.mkdir(exist_ok=True)
        report.save(self.file, self.done)

    def measure(self, name: str, folder: Path, python: str, *, patience: float | None = None) -> None:
        """Measure the peer on the dictionary of a folder, and keep the figures; what fails is told and kept."""
        index = self.room / "indexes" / f"{self.peer.key}-{name}"
        shutil.rmtree(index, ignore_errors=True)
        try:
            figures = self._measured(folder, index, python, patience)
            if self.peer.lends and name.isdigit():
                apart.run("peers.vectors:copy", folder=str(folder), store=str(folder / "store"))
        except subprocess.TimeoutExpired:
            figures = {"stopped": f"after {patience or 0:.0f} s"}
        except subprocess.CalledProcessError as error:
            figures = {"failed": f"exit status {error.returncode}"}
            print(f"{self.peer.label}, {name}: {figures['failed']}", file=sys.stderr)
        shutil.rmtree(index, ignore_errors=True)
        self.keep(name, figures)

    def _measured(self, folder: Path, index: Path, python: str, patience: float | None) -> dict[str, Any]:
        settings = dict(self.peer.settings)
        if self.peer.encoder is not None:
            store = folder / "store" if (folder / "store").is_dir() else self.room / "vectors"
            settings = {"store": str(store), "encoder": self.peer.encoder, "weights": weights(self.peer.encoder)}
        asked = {
            "module": f"peers.{self.kind}.{self.peer.module}",
            "folder": str(folder),
            "index": str(index),
            "settings": settings,
        }
        figures: dict[str, Any] = {}
        if self.peer.builds:
            built = apart.run(
                "peers.measuring:build", interpreter=python, patience=patience, **asked, began=time.monotonic()
            )
            figures |= {**built, "build_peak_mb": built.pop("peak_mb")}
        function = "search" if self.kind == "linkers" else "annotate"
        figures |= apart.run(
            f"peers.measuring:{function}", interpreter=python, patience=patience, **asked, began=time.monotonic()
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
