"""Run commands that write to a disk with too little room, and check their messages and the files that remain.

There is room for a share of what a command writes, from none to nearly all: on a disk in memory or, where none can
be mounted, in each file. Of every second run there is an output already, which it replaces. A trial counts as

- said: it ended with status 2 and a message, what was there before is as it was, nothing half-written is beside
  it, and with more room the same command succeeds;
- enough: it succeeded (it writes less than was thought), with the right output;
- traceback, another status: it ended otherwise;
- unnamed: its message does not name the file and that there is no room;
- damaged: what was there before was changed, temporary files are left, what goes on from there is not whole, or
  the next run with more room failed or wrote something else.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.campaigns.commands import Child, Result, comparable, prepare, run_all
from benchmarks.campaigns.killed import DAMAGED, again, leftovers, written
from benchmarks.campaigns.little_room import SmallDisk, SmallFiles, little_room
from benchmarks.campaigns.world import WRITERS, Writer, emptied, make_world

OUTCOMES: Final = ("said", "enough")
FAILURES: Final = ("traceback", "another status", "unnamed", "damaged")
_NO_ROOM: Final = re.compile(r"no space left|disk is full|disk may be full|file too large|room on the disk", re.I)


@dataclass(frozen=True)
class Campaign:
    """Runs commands with little room.

    Attributes:
        place: the world of the campaigns.
        scratch: a folder with room.
        out: a folder with little room.
        room: how that is done.
    """

    place: Path
    scratch: Path
    out: Path
    room: SmallDisk | SmallFiles

    def trial(self, writer: Writer, share: float, *, replaces: bool) -> tuple[str, str]:
        """Run a command with room for a share of what it writes; return the outcome, and what was said."""
        command = writer.command(self.place, self.out)
        self._prepare(writer)
        self.room.begin()
        if self._run(command).status:
            raise SystemExit(f"{writer.name} fails with enough room")
        sound, size = written(writer, self.out), self.room.written()
        # What goes on has nothing to write where all is there.
        if writer.goes_on or not replaces:
            self._prepare(writer)
        there = written(writer, self.out)
        self.room.restrict(int(share * size))
        result = self._run(command)
        self.room.free()
        if result.is_traceback:
            return "traceback", result.said
        if result.status == 0:
            is_sound = written(writer, self.out) == sound
            return ("enough", "") if is_sound else ("damaged", "exit 0 with another output")
        if result.status != 2:
            return "another status", f"exit {result.status}: {result.said}"
        if str(self.out) not in result.said or not _NO_ROOM.search(result.said):
            return "unnamed", result.said
        return self._left(writer, result.said, there, sound)

    def _left(self, writer: Writer, said: str, there: Any, sound: Any) -> tuple[str, str]:
        """Look at what is left, and run the command again, with enough room."""
        output = self.out / writer.output
        if not writer.goes_on and (written(writer, self.out) != there or leftovers(self.out)):
            return "damaged", f"changed, or beside it {leftovers(self.out)[:3]}: {said}"
        if output.exists() and (found := self._run(["verify", str(output)])).status == DAMAGED:
            return "damaged", f"{found.said} after {said}"
        if (later := self._run(again(writer, self.place, self.out))).status:
            return "damaged", f"with more room: {later.said}"
        if temporary := leftovers(self.out):
            return "damaged", f"leftovers {temporary[:3]}: {said}"
        if written(writer, self.out) != sound:
            return "damaged", f"another output later: {said}"
        return "said", said

    def _prepare(self, writer: Writer) -> None:
        self.room.free()
        emptied(self.out)
        run_all(writer.preparation(self.place, self.out), self.scratch)

    def _run(self, command: list[str]) -> Result:
        child = Child(command, self.scratch / "command", largest_file=self.room.largest_file)
        return child.wait(self.scratch / "nothing")


def measure(count: int, *, only: str = "") -> dict[str, Any]:
    """Run each command with so many sizes of the room, from none to nearly enough.

    Args:
        count: sizes.
        only: of commands whose name begins so.
    """
    rows, failures, said = [], [], set()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        os.environ["NYMLINK_CACHE"] = str(scratch / "own-cache")
        make_world(scratch / "world")
        prepare(torch=True)
        with little_room(scratch / "disk") as room:
            campaign = Campaign(scratch / "world", scratch, scratch / "disk" / "out", room)
            for writer in (each for each in WRITERS if each.name.startswith(only) and not each.is_slow):
                counts: Counter[str] = Counter()
                for number in range(count):
                    share = 0.99 * number / max(count - 1, 1)
                    became, text = campaign.trial(writer, share, replaces=number % 2 == 1)
                    counts[became] += 1
                    if became in FAILURES:
                        trial = {"command": writer.name, "share": round(share, 2), "outcome": became}
                        failures.append({**trial, "said": text[-900:]})
                    elif became == "said":
                        said.add(comparable(text.strip().splitlines()[-1], name))
                rows.append(
                    {"writes": writer.name, "room": room.kind, "sizes": count}
                    | {outcome: counts[outcome] for outcome in (*OUTCOMES, *FAILURES)}
                )
    return {"rows": rows, "failures": failures, "messages": sorted(said)}
