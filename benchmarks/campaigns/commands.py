"""Run commands of nymlink in children of this process, which has imported what they need."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from nymlink.cli import main as command_line

_MODULES: Final = (
    *(
        "nymlink.cli.link.link",
        "nymlink.encode.backends.onnx",
        "onnxruntime",
        "scipy.sparse",
        "scipy.sparse.csgraph",
    ),
    *("nymlink.cli.pairs", "nymlink.cli.vocab.build", "nymlink.cli.vocab.merge", "nymlink.cli.vocab.subset"),
    *("nymlink.cli.vocab.search", "nymlink.cli.index", "nymlink.cli.encoder", "nymlink.cli.verify"),
    *("nymlink.cli.project.new", "nymlink.cli.project.add", "nymlink.cli.project.export", "nymlink.cli.bulk.link"),
    *("nymlink.cli.project.import_decisions", "nymlink.cli.annotate.annotate", "pyarrow.parquet"),
)
_TORCH: Final = (
    *("torch", "transformers", "nymlink.cli.train", "nymlink.encode.backends.torch"),
    *("nymlink.rerank.cross.cross_encoder", "nymlink.rerank.dual.dual_encoder"),
)


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
    """

    def __init__(self, arguments: list[str], streams: Path) -> None:
        self._streams = [streams.with_suffix(".stdout"), streams.with_suffix(".stderr")]
        self._child = os.fork()
        if self._child == 0:
            self._become(arguments)

    def kill(self) -> None:
        """End it at once."""
        os.kill(self._child, signal.SIGKILL)

    def wait(self, out: Path) -> Result:
        """Wait for its end; the digest of what is written includes the files in a folder."""
        ended = os.waitstatus_to_exitcode(os.waitpid(self._child, 0)[1])
        written = hashlib.sha256(self._streams[0].read_bytes())
        for file in sorted(out.rglob("*")):
            # A manifest repeats what it was made of, word for word; what that changes in a table is in the table.
            if file.is_file() and file.name != "manifest.json":
                written.update(file.name.encode() + file.read_bytes())
        said = self._streams[1].read_text(encoding="utf-8", errors="replace")
        return Result(ended, written.hexdigest(), said)

    def _become(self, arguments: list[str]) -> None:
        for stream, path in enumerate(self._streams, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(at, "wb", closefd=False)) for at in (1, 2))
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
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(status)


def run(arguments: list[str], out: Path) -> Result:
    """Run a command whose output goes to an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    return Child(arguments, out).wait(out)


def timed(arguments: list[str], streams: Path) -> tuple[Result, float]:
    """Run a command, and measure its seconds."""
    began = time.perf_counter()
    result = Child(arguments, streams).wait(streams.with_suffix(".nothing"))
    return result, time.perf_counter() - began
