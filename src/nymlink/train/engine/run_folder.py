"""The folder of a training: what says all that is needed to repeat it, and what it has come to so far."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_objects import member
from nymlink.core.store.atomic import atomic_directory, atomic_file, output_errors
from nymlink.core.store.belongings import RECORD
from nymlink.core.store.outputs import require_changeable, require_place
from nymlink.train.engine.checkpoint import checkpoints, prune
from nymlink.train.engine.distributed import Processes
from nymlink.train.settings.common import RunSettings
from nymlink.train.settings.fields import differences, essence, to_json
from nymlink.train.settings.toml_files import to_toml

FINISHED: Final = -1
"""Instead of a step: nothing is left to be done."""

_LOCK: Final = ".lock"
"""The file by which others are kept out; a process that is killed leaves it, and no longer holds it."""

_SHAPE: Final[Mapping[str, type[Any]]] = {"recipe": str, "settings": dict, "data": dict}
_FILE: Final = re.compile(r"\w[\w.-]*")
_PACKAGES: Final = ("nymlink", "torch", "transformers", "tokenizers", "peft", "numpy", "pyarrow")


class RunFolder:
    """``run.json``, ``config.toml``, ``metrics.jsonl`` and ``checkpoints/``, and at the end an encoder.

    Args:
        recipe: what is done, for example ``"sap"``.
        settings: with which settings; where ``output`` says.
        data: what it is done with, as JSON values: other data, other training.

    Attributes:
        path: the folder.
        identity: the recipe, the settings that matter, and the data: what a resumed training must share.
    """

    def __init__(self, recipe: str, settings: RunSettings, data: Mapping[str, Any]) -> None:
        self.path = Path(settings.output)
        self._settings = settings
        said = to_json(settings)
        self.identity: dict[str, Any] = {
            "recipe": recipe,
            "settings": essence(type(settings), said),
            "data": dict(data),
        }
        self._record: dict[str, Any] = {**self.identity, "settings": said}

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints go."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """The file of metrics."""
        return self.path / "metrics.jsonl"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from training here until the block ends; the system lets go when a process dies.

        Raises:
            OutputError: another training is at work here, or the folder cannot be made.
        """
        lock = FileLock(self.path / _LOCK)
        with output_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise OutputError(
                "another training is at work here: wait for it, or choose another output", path=self.path
            ) from error
        except OSError:
            pass  # A file system that cannot lock: as good as alone.
        try:
            yield
        finally:
            with suppress(OSError):
                # Windows removes it only once nobody holds it, and filelock does that there.
                (self.path / _LOCK).unlink()
            lock.release()

    def open(self, processes: Processes, device: torch.device, *, restart: bool) -> int:
        """Begin a training in the folder, which is :meth:`held`, or go on with the one that is there.

        Args:
            processes: those that do it.
            device: what on.
            restart: replace the training that is there.

        Returns:
            The step of the checkpoint to go on from, 0 where there is none, or :data:`FINISHED`.

        Raises:
            OutputError: the folder is not a training's, or cannot be written.
            InputError: it holds a training with other settings or other data; the message says which.
        """
        before = _record_in(self.path)
        if before is not None and not restart:
            self._check(before)
            if before.get("result"):
                self._record = before
                return FINISHED
        self._record["encoder"] = before.get("encoder", []) if before else []
        with output_errors(self.path):
            if restart:
                prune(self.checkpoints, keep=())
                self.metrics.unlink(missing_ok=True)
        self._record |= {
            "versions": {"python": platform.python_version(), **_versions()},
            "machine": _machine(processes, device),
        }
        # The first: a folder without a record is no training's, and not to be written to again.
        self._write_record()
        with output_errors(self.path):
            self.checkpoints.mkdir(exist_ok=True)
        # Not before: a record with a result says that the encoder is there.
        self._remove_encoder()
        with atomic_file(self.path / "config.toml") as partial:
            partial.write_text(to_toml(self._record["settings"]), encoding="utf-8")
        return max(checkpoints(self.checkpoints), default=0)

    @property
    def result(self) -> Mapping[str, Any]:
        """What became of a finished training."""
        return dict(self._record["result"])

    def finish(self, write: Callable[[Path], None], result: Mapping[str, Any]) -> None:
        """Put the encoder into the folder, and the result into its record.

        Args:
            write: writes the encoder's files into a directory.
            result: what became of the training, as JSON values.

        Raises:
            OutputError: it cannot be written.
        """
        made = self.checkpoints / "encoder"
        with atomic_directory(made) as partial:
            try:
                write(partial)
            except SafetensorError as error:
                raise OutputError(
                    f"cannot write: {error} (the disk may be full); the same command tries again", path=self.path
                ) from error
        # First: what is there must be known, so that a training that replaces this one leaves nothing of it.
        self._record["encoder"] = sorted(file.name for file in made.iterdir())
        self._write_record()
        with output_errors(self.path):
            self._remove_encoder()
            for file in made.iterdir():
                os.replace(file, self.path / file.name)
            made.rmdir()
        # Last: only a training with a result is finished.
        self._record["result"] = dict(result)
        self._write_record()

    def _remove_encoder(self) -> None:
        """Remove those files and folders that the record says are an encoder's."""
        with output_errors(self.path):
            for name in self._record["encoder"]:
                target = self.path / Path(name).name
                if target.is_dir():
                    shutil.rmtree(target)
                else:
                    target.unlink(missing_ok=True)

    def _write_record(self) -> None:
        with atomic_file(self.path / RECORD) as partial:
            partial.write_text(json.dumps(self._record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _check(self, before: Mapping[str, Any]) -> None:
        """See that the training in the folder is this one."""
        now = self.identity
        differing = differences({"recipe": before["recipe"]}, {"recipe": now["recipe"]})
        differing += differences(essence(type(self._settings), before["settings"]), now["settings"])
        if not differing:
            changed = (name for name, value in now["data"].items() if before["data"].get(name) != value)
            differing = [f"{name}: not the same data" for name in changed]
        if differing:
            raise InputError(
                "holds a training that differs from this one. Choose another output, or restart to replace it. "
                "What differs:\n  " + "\n  ".join(differing),
                path=self.path,
            )


def require_run_folder(path: Path) -> None:
    """See that a training can be in a folder, before anything is read for it.

    Raises:
        OutputError: it cannot be made or written, or holds something else.
    """
    require_place(path)
    if _record_in(path) is not None:
        require_changeable(path)


def _record_in(path: Path) -> dict[str, Any] | None:
    """The record of the training that is in a folder, if anything is."""
    with output_errors(path):
        if not path.exists() or (path.is_dir() and all(file.name == _LOCK for file in path.iterdir())):
            return None
    try:
        record = json.loads((path / RECORD).read_text(encoding="utf-8"))
        for key, kind in _SHAPE.items():
            member(record, key, kind)
        if not all(isinstance(name, str) and _FILE.fullmatch(name) for name in record.get("encoder", [])):
            raise ValueError("it lists files that no encoder has")
    except (OSError, ValueError) as error:
        raise OutputError(
            f"exists and is not the folder of a training ({RECORD}: {error}): choose another output", path=path
        ) from error
    found: dict[str, Any] = record
    return found


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _machine(processes: Processes, device: torch.device) -> dict[str, Any]:
    """What kind of machine it is: enough to judge speeds and the last bits of numbers by."""
    kind = torch.cuda.get_device_name(device) if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()
    return {
        "architecture": platform.machine(),
        "device": device.type,
        "kind": kind,
        "threads": torch.get_num_threads(),
        "processes": processes.count,
    }
