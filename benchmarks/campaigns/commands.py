"""Run commands of nymlink in children of this process, which has imported what they need."""

from __future__ import annotations

import hashlib
import io
import os
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

import psutil

from nymlink.cli import main as command_line

_MODULES: Final = (
    *("nymlink.cli.link.link", "nymlink.encode.onnx_backend", "onnxruntime"),
    *("nymlink.cli.pairs", "nymlink.cli.vocab", "nymlink.cli.vocab_merge", "nymlink.cli.vocab"),
    *("nymlink.cli.vocab", "nymlink.cli.index", "nymlink.cli.encoder", "nymlink.cli.verify"),
    *("nymlink.cli.project", "nymlink.cli.project", "nymlink.cli.project_decisions", "nymlink.cli.bulk"),
    *("nymlink.cli.project_decisions", "nymlink.cli.annotate", "pyarrow.parquet"),
    *("nymlink.cli.serve", "nymlink.serve.app", "nymlink.serve.server"),
)
_TORCH: Final = (
    *("torch", "transformers", "nymlink.cli.train", "nymlink.encode.torch_backend"),
    *("nymlink.rerank.cross_encoder", "nymlink.rerank.dual_encoder"),
)
_PORT: Final = re.compile(r"(?<=127\.0\.0\.1:)\d+")


@dataclass(frozen=True)
class Result:
    """Result of a command: its exit status (negative for a signal), and digests of its output and messages."""

    status: int
    written: str
    said: str

    @property
    def is_traceback(self) -> bool:
        """Whether it ended with an error that is not nymlink's own."""
        return "Traceback" in self.said or self.status not in (0, 1, 2)


def prepare(*, torch: bool = False) -> None:
    """Import what commands need, before children are made, each of which would need a second for it."""
    for module in (*_MODULES, *(_TORCH if torch else ())):
        import_module(module)


class Child:
    """A command that runs in a child of this process.

    Args:
        arguments: of the command.
        streams: where its standard output and standard error are written, with the endings ``.stdout`` and
            ``.stderr``.
        processes: how many train together, of a training.
        largest_file: bytes that each file that it writes may have.
    """

    def __init__(
        self, arguments: list[str], streams: Path, *, processes: int = 1, largest_file: int | None = None
    ) -> None:
        self._streams = [streams.with_suffix(".stdout"), streams.with_suffix(".stderr")]
        for path in self._streams:
            # What it has said is read while it runs.
            path.write_bytes(b"")
        self._child = os.fork()
        if self._child == 0:
            self._redirect()
            if largest_file is not None:
                sys.dont_write_bytecode = True
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
            if processes > 1:
                _become_many(arguments, processes)
            _become(arguments)

    def kill(self) -> None:
        """End it at once, with all processes that it started: workers of a job, processes of a training."""
        process = psutil.Process(self._child)
        # Suspended, they start no more while others are listed. They need not be in its group.
        stopped: set[psutil.Process] = set()
        while new := {process, *process.children(recursive=True)} - stopped:
            for each in new:
                with suppress(psutil.NoSuchProcess):
                    each.suspend()
            stopped |= new
        for each in stopped:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        # The child itself is waited for by `wait`.
        psutil.wait_procs(stopped - {process}, timeout=10)

    def terminate(self) -> None:
        """Ask it to end."""
        os.kill(self._child, signal.SIGTERM)

    @property
    def said(self) -> str:
        """What it has written on standard error until now."""
        return self._streams[1].read_text(encoding="utf-8", errors="replace")

    def wait(self, out: Path) -> Result:
        """Wait for its end; the digest of what is written includes the files in a folder."""
        ended = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        written = hashlib.sha256(self._streams[0].read_bytes())
        for file in sorted(out.rglob("*")):
            # A manifest repeats what it was made of, word for word; what that changes in a table is in the table.
            if file.is_file() and file.name != "manifest.json":
                written.update(file.name.encode() + file.read_bytes())
        return Result(ended, written.hexdigest(), self.said)

    def _redirect(self) -> None:
        for stream, path in enumerate(self._streams, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(at, "wb", closefd=False), encoding="utf-8") for at in (1, 2)
        )


def _become(arguments: list[str]) -> None:
    """Run the command, and end this process with its status."""
    sys.argv = ["nymlink", *arguments]
    status = 70
    try:
        command_line()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        # Whatever happens, the child must not go on as its parent.
        try:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):
                    stream.flush()
        finally:
            os._exit(status)


def _become_many(arguments: list[str], processes: int) -> None:
    """Run a training in so many processes in place of this one."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "--no-python"]
    os.execv(sys.executable, [sys.executable, *launcher, sys.executable, "-m", "nymlink", *arguments])


def run(arguments: list[str], out: Path) -> Result:
    """Run a command whose output goes to an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return Child(arguments, out).wait(out)


def run_all(commands: Iterable[list[str]], scratch: Path) -> None:
    """Run commands one after the other, all of which must succeed."""
    for command in commands:
        result = Child(command, scratch / "before").wait(scratch / "nothing")
        if result.status:
            raise SystemExit(f"{' '.join(command[:2])} fails undisturbed: {result.said}")


def comparable(said: str, folder: str) -> str:
    """Remove from a message what differs from run to run: the folder of the campaign, and ports."""
    return _PORT.sub("PORT", said.replace(folder, ""))


def timed(arguments: list[str], streams: Path) -> tuple[Result, float]:
    """Run a command, and measure its seconds."""
    began = time.perf_counter()
    result = Child(arguments, streams).wait(streams.with_suffix(".nothing"))
    return result, time.perf_counter() - began
