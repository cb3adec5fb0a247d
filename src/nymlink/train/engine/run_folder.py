"""The output folder of a training: its record, metrics, checkpoints, and result."""

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
from typing import Any, Final, Protocol

import torch
from safetensors import SafetensorError

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_files import member
from nymlink.core.store.atomic import LOCK, atomic_directory, atomic_file, locked_folder, output_errors
from nymlink.core.store.output_checks import require_changeable, require_place
from nymlink.core.store.ownership import RECORD
from nymlink.core.toml_settings import differences, to_json, to_toml, weight_settings
from nymlink.train.engine.checkpoint import checkpoints, prune
from nymlink.train.engine.distributed import Processes
from nymlink.train.settings.recipes import RECIPE

FINISHED: Final = -1
"""The value that :meth:`RunFolder.open` returns instead of a step if the training is finished."""

_METRICS: Final = "metrics.jsonl"
_CHECKPOINTS: Final = "checkpoints"
_RECORD_TYPES: Final[Mapping[str, type[Any]]] = {"recipe": str, "settings": dict, "data": dict}
_FILE_NAME: Final = re.compile(r"\w[\w.-]*")
_PACKAGES: Final = ("nymlink", "torch", "transformers", "tokenizers", "peft", "numpy", "pyarrow")


class OutputSettings(Protocol):
    """Settings with an output folder."""

    @property
    def output(self) -> str: ...


class RunFolder:
    """A folder with ``run.json``, ``recipe.toml``, ``metrics.jsonl``, ``checkpoints/``, and at the end the model.

    Args:
        training: name of the training, for example ``"sap"``.
        settings: settings of the training; ``output`` is the folder.
        data: provenance of the data, as JSON values.

    Attributes:
        path: the folder.
        identity: the training's name, its settings that affect the weights, and its data. A training can only be
            resumed with the same identity.
    """

    def __init__(self, training: str, settings: OutputSettings, data: Mapping[str, Any]) -> None:
        self.path = Path(settings.output)
        self._settings = settings
        recorded = to_json(settings)
        self.identity: dict[str, Any] = {
            "recipe": training,
            "settings": weight_settings(type(settings), recorded),
            "data": dict(data),
        }
        self._record: dict[str, Any] = {**self.identity, "settings": recorded}

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.path / _CHECKPOINTS

    @property
    def metrics(self) -> Path:
        """The file of metrics."""
        return self.path / _METRICS

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, so that no other training uses it until the block ends or the process dies.

        Raises:
            OutputError: another training holds the lock, or the folder cannot be made.
        """
        with locked_folder(self.path, "training"):
            yield

    def open(self, processes: Processes, device: torch.device, *, restart: bool) -> int:
        """Begin or resume the training in the :meth:`locked` folder.

        Returns:
            Step of the checkpoint to resume from; 0 if there is no checkpoint; :data:`FINISHED` if the training is
            finished.

        Raises:
            OutputError: the folder does not hold a training, or cannot be written.
            InputError: it holds a training with other settings or data; the message lists the differences.
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
        # Write the record first: the next run would refuse a folder that has files but no record.
        self._write_record()
        with output_errors(self.path):
            self.checkpoints.mkdir(exist_ok=True)
        # Remove the model only now, when the record has no result: a record with a result needs a model beside it.
        self._remove_model()
        with atomic_file(self.path / RECIPE) as partial:
            partial.write_text(
                to_toml({"train": self._record["recipe"], **self._record["settings"]}), encoding="utf-8"
            )
        return max(checkpoints(self.checkpoints), default=0)

    def require_same(self) -> None:
        """Check that the folder is empty, or holds a training with the same name, settings and data.

        Only data that were given to this object are compared.

        Raises:
            OutputError: the folder does not hold a training.
            InputError: the training differs; the message lists the differences.
        """
        before = _record_in(self.path)
        if before is not None:
            self._check(before)

    @property
    def result(self) -> Mapping[str, Any]:
        """The result of a finished training, as JSON values."""
        return dict(self._record["result"])

    def finish(self, write: Callable[[Path], None], result: Mapping[str, Any]) -> None:
        """Write the trained model into the folder, and the result into its record.

        Args:
            write: writes the model's files into a directory.
            result: the result of the training, as JSON values.

        Raises:
            OutputError: it cannot be written.
        """
        written = self.checkpoints / "encoder"
        with atomic_directory(written) as partial:
            try:
                write(partial)
            except SafetensorError as error:
                raise OutputError(
                    f"cannot write: {error} (the disk may be full); run the same command again to write it",
                    path=self.path,
                ) from error
        # Write the list of files first: a training that replaces this one reads the list to remove the files.
        self._record["encoder"] = sorted(file.name for file in written.iterdir())
        self._write_record()
        with output_errors(self.path):
            self._remove_model()
            for file in written.iterdir():
                os.replace(file, self.path / file.name)
            written.rmdir()
        # Write the result last: it marks the training as finished.
        self._record["result"] = dict(result)
        self._write_record()

    def _remove_model(self) -> None:
        with output_errors(self.path):
            _remove_model(self.path, self._record)

    def _write_record(self) -> None:
        _write_record(self.path, self._record)

    def _check(self, before: Mapping[str, Any]) -> None:
        """Raise ``InputError`` if the training, settings or data in the folder differ."""
        now = self.identity
        differing = differences({"training": before["recipe"]}, {"training": now["recipe"]})
        differing += differences(weight_settings(type(self._settings), before["settings"]), now["settings"])
        if not differing:
            changed = (name for name, value in now["data"].items() if before["data"].get(name) != value)
            differing = [f"{name}: not the same data" for name in changed]
        if differing:
            raise InputError(
                "holds a training that differs from this one. Choose another output, or restart to replace it. "
                "Differences:\n  " + "\n  ".join(differing),
                path=self.path,
            )


def require_run_folder(path: Path) -> None:
    """Check that a training can write to a folder. A training calls this before it reads any input.

    Raises:
        OutputError: the folder cannot be made or written, or does not hold a training.
    """
    require_place(path)
    if _record_in(path) is not None:
        require_changeable(path)


def remove_training(path: Path) -> None:
    """Remove the training in a folder. Remove the folder too if nothing else is in it.

    Raises:
        OutputError: the folder does not hold a training, or cannot be changed.
    """
    record = _record_in(path)
    if record is None:
        return
    # Remove the result first: a record with a result needs a model beside it.
    record.pop("result", None)
    _write_record(path, record)
    with output_errors(path):
        _remove_model(path, record)
        prune(path / _CHECKPOINTS, keep=())
        for name in (RECIPE, _METRICS, RECORD):
            (path / name).unlink(missing_ok=True)
        for folder in (path / _CHECKPOINTS, path):
            with suppress(OSError):  # not empty
                folder.rmdir()


def _remove_model(path: Path, record: Mapping[str, Any]) -> None:
    """Remove the files and folders of the model that the record lists."""
    for name in record.get("encoder", []):
        target = path / Path(name).name
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


def _write_record(path: Path, record: Mapping[str, Any]) -> None:
    with atomic_file(path / RECORD) as partial:
        partial.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _record_in(path: Path) -> dict[str, Any] | None:
    """Read the record of the training in a folder; ``None`` if the folder is missing or empty."""
    with output_errors(path):
        if not path.exists() or (path.is_dir() and all(file.name == LOCK for file in path.iterdir())):
            return None
    try:
        record = json.loads((path / RECORD).read_text(encoding="utf-8"))
        for key, kind in _RECORD_TYPES.items():
            member(record, key, kind)
        if not all(isinstance(name, str) and _FILE_NAME.fullmatch(name) for name in record.get("encoder", [])):
            raise ValueError("it lists files that no encoder has")
    except (OSError, ValueError) as error:
        raise OutputError(
            f"exists and is not the folder of a training ({RECORD}: {error}): choose another output", path=path
        ) from error
    checked: dict[str, Any] = record
    return checked


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _machine(processes: Processes, device: torch.device) -> dict[str, Any]:
    """Describe the machine, because speeds and the last bits of numbers depend on it."""
    kind = torch.cuda.get_device_name(device) if device.type == "cuda" else torch.backends.cpu.get_cpu_capability()
    return {
        "architecture": platform.machine(),
        "device": device.type,
        "kind": kind,
        "threads": torch.get_num_threads(),
        "processes": processes.count,
    }
