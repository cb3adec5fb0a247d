"""Run commands that write on a disk that is too small, and see what they say and what is left.

A disk in memory (tmpfs) has room for a share of what a command writes; what it replaces lies there, too. A trial
counts as

- said: it ended with status 2 and a message, what was there before is as it was, and with more room the same
  command succeeds;
- enough: it succeeded (it writes less than was thought), with the right output;
- traceback, another status: it ended otherwise;
- damaged: what was there before was changed, or the next run with more room failed or wrote something else.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.campaigns.commands import Child, Result, prepare
from benchmarks.campaigns.killed import again, content
from benchmarks.campaigns.world import WRITERS, Writer, emptied, make_world

_LARGE: Final = 256 << 20
_PAGE: Final = 4096
OUTCOMES: Final = ("said", "enough")
FAILURES: Final = ("traceback", "another status", "damaged")


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk in memory until the block ends.

    Raises:
        OSError: it cannot be mounted here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_LARGE}", "nymlink-campaign", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        raise OSError(mounted.stderr.strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _resize(folder: Path, size: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)


def _used(folder: Path) -> int:
    state = os.statvfs(folder)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def trial(writer: Writer, place: Path, disk: Path, scratch: Path, share: float) -> tuple[str, str]:
    """Run a command with room for a share of what it writes; return the outcome, and what was said."""
    _resize(disk, _LARGE)
    out = emptied(disk / "out")

    def run(arguments: list[str]) -> Result:
        return Child(arguments, scratch / "command").wait(scratch / "nothing")

    for command in writer.preparation(place, out):
        Child(command, scratch / "before").wait(scratch / "nothing")
    before = _used(disk)
    if run(writer.command(place, out)).status:
        raise SystemExit(f"{writer.name} fails with a large disk")
    sound, written = content(out / writer.output), _used(disk) - before
    if writer.goes_on:
        # Its output, finished, is not written again.
        out = emptied(disk / "out")
        for command in writer.preparation(place, out):
            Child(command, scratch / "before").wait(scratch / "nothing")
    there = content(out / writer.output)
    _resize(disk, (_used(disk) + int(share * written)) // _PAGE * _PAGE or _PAGE)
    result = run(writer.command(place, out))
    if result.is_traceback:
        return "traceback", result.said
    left = content(out / writer.output)
    if result.status == 0:
        return ("enough", "") if left == sound else ("damaged", "exit 0 with another output")
    if result.status != 2:
        return "another status", f"exit {result.status}: {result.said}"
    if not writer.goes_on and left != there:
        return "damaged", result.said
    _resize(disk, _LARGE)
    if (later := run(again(writer, place, out))).status:
        return "damaged", f"with more room: {later.said}"
    return ("said", result.said) if content(out / writer.output) == sound else ("damaged", "another output later")


def measure(count: int, *, only: str = "") -> dict[str, Any]:
    """Run each command with so many sizes of the disk, from nearly none to nearly enough.

    Args:
        count: sizes.
        only: of commands whose name begins so.
    """
    rows, failures, said = [], [], []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        os.environ["NYMLINK_CACHE"] = str(scratch / "own-cache")
        try:
            with small_disk(scratch / "disk"):
                make_world(scratch / "world")
                prepare(torch=True)
                for writer in (each for each in WRITERS if each.name.startswith(only) and not each.is_slow):
                    counts: Counter[str] = Counter()
                    for number in range(count):
                        share = number / count
                        became, text = trial(writer, scratch / "world", scratch / "disk", scratch, share)
                        counts[became] += 1
                        if became in FAILURES:
                            failures.append(
                                {"command": writer.name, "share": round(share, 2), "said": text[-900:]}
                            )
                        elif became == "said":
                            said.append(text.strip().splitlines()[-1].replace(name, ""))
                    rows.append(
                        {"writes": writer.name, "sizes": count}
                        | {outcome: counts[outcome] for outcome in (*OUTCOMES, *FAILURES)}
                    )
        except OSError as error:
            return {"skipped": f"no disk can be mounted here ({error})", "rows": [], "failures": []}
    return {"rows": rows, "failures": failures, "messages": sorted(set(said))}
