"""Tasks whose answers are known, for tests of what is around them; workers find them here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nymlink.bulk.row_formats import Row
from nymlink.bulk.tasks import Answer, Work
from nymlink.core.environment import thread_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversing:
    """Turns texts round; "boom" cannot be, "die" ends the process.

    Attributes:
        seconds: what a shard takes.
        pids: a folder in which each worker leaves its number, and how many threads it was told to use.
        needed: a path that every node must see.
        together: number of processes that must have left their numbers before a shard is done.
    """

    seconds: float = 0.0
    pids: str = ""
    needed: str = ""
    together: int = 0

    command = "reverse"
    column = "text"
    unit = "texts"

    @property
    def folders(self) -> tuple[str, ...]:
        return (self.needed,) if self.needed else ()

    def open(self) -> Work:
        if self.pids:
            (Path(self.pids) / str(os.getpid())).write_text(str(thread_limit()), encoding="utf-8")
        return _Turned(self)


class _Turned:
    def __init__(self, task: Reversing) -> None:
        self._task = task
        self.schema = pa.schema([("id", pa.string()), ("reversed", pa.string())])
        self.identity: Mapping[str, Any] = {"settings": {}}

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        time.sleep(self._task.seconds)
        while self._task.together and len(list(Path(self._task.pids).iterdir())) < self._task.together:
            time.sleep(0.01)
        for row in rows:
            if row.text == "boom":
                raise ZeroDivisionError("boom goes nowhere")
            if row.text == "die":
                os._exit(9)
            yield Answer([(row.id, row.text[::-1])], 1, int(not row.text))
