"""Attempts in processes of their own, with limits of time and memory: what becomes of each is one word."""

from __future__ import annotations

import os
import resource
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.hosted import row
from nymlink.core.errors import NymlinkError

_LONGEST: Final = 20.0
"""Seconds after which an attempt counts as endless."""
_ADDRESSES: Final = 6 << 30
"""Bytes of address space, of which libraries reserve two to three."""
_GROWTH: Final = 1 << 30
"""Bytes by which the memory of a process may grow."""
_LONGEST_MESSAGE: Final = 2000
_PRELOADED: Final = (
    *(__name__, "nymlink.index.index", "nymlink.linking.linker", "nymlink.rerank.cross_encoder"),
    *("nymlink.rerank.dual_encoder", "nymlink.train.engine.checkpoint", "nymlink.encode.torch_backend"),
    *("nymlink.encode.onnx_backend", "transformers.models.bert.modeling_bert", "torch.optim"),
)


class Attempt(NamedTuple):
    """One hostile thing.

    Attributes:
        kind: of what kind it is.
        name: what it is.
        act: makes it in an empty folder and reads it; a function of a module, or a partial of one.
        refused: whether reading it without an error is a failure.
    """

    kind: str
    name: str
    act: Callable[[Path], object]
    refused: bool = False


class Outcome(NamedTuple):
    """What became of an attempt: ``held`` or ``fell``, and what was said or seen."""

    attempt: Attempt
    became: str
    said: str


def outcomes(attempts: Iterable[Attempt], folder: Path) -> Iterator[Outcome]:
    """Make attempts, two at a time, in their order."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))

    def one(attempt: Attempt) -> Outcome:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(attempt, Path(place), there))
            process.start()
            there.close()
            try:
                said = here.recv() if here.poll(_LONGEST) else "endless"
            except EOFError:
                process.join()
                said = f"crash: exit {process.exitcode}"
            process.kill()
            process.join()
            here.close()
        fell = not said.startswith(("refused", "read")) or (attempt.refused and said.startswith("read"))
        return Outcome(attempt, "fell" if fell else "held", said)

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(one, attempts)


def rows_of(attempts: Iterable[Attempt], folder: Path) -> list[Row]:
    """Make attempts; return a row for each kind."""
    rows = []
    for kind, found in groupby(outcomes(attempts, folder), key=lambda outcome: outcome.attempt.kind):
        each = list(found)
        fallen = [f"{one.attempt.name}: {one.said}" for one in each if one.became == "fell"]
        refused = sum(one.said.startswith("refused") for one in each)
        rows.append(
            row(kind, len(each), fallen, f"{refused} refused, {len(each) - refused - len(fallen)} harmless")
        )
    return rows


def _work(attempt: Attempt, place: Path, said: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    os.environ["NYMLINK_CACHE"] = str(place / "cache")
    warnings.simplefilter("ignore")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        attempt.act(place)
        word = "read"
    except NymlinkError as error:
        word = f"refused: {error}"
        if len(word) > _LONGEST_MESSAGE:
            word = f"a message of {len(word):,} characters: {word[:200]}"
    except BaseException:
        word = f"traceback: {traceback.format_exc()[-1500:]}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    said.send(f"memory: {grown >> 20} MB; {word[:300]}" if grown > _GROWTH else word)
