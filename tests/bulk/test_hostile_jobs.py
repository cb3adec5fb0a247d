"""Jobs whose output somebody changed, whose input changes, and whose workers die."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nymlink.bulk.job import run_job
from nymlink.core.errors import InputError, NymlinkError, OutputError
from nymlink.jobs.engine import WorkerEndedError
from nymlink.jobs.processes import Processes
from tests.bulk import files
from tests.bulk.toy import Reversing

TEXTS = [(str(number), f"text {number}") for number in range(30)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(files.jsonl(TEXTS))
    return path


def run(texts: Path, output: Path, task: Any = None, **options: Any) -> Any:
    return run_job([texts], output, Reversing() if task is None else task, workers=0, shard_rows=6, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting(Reversing):
    """Turns texts round, and does something before the shard with a text."""

    at: str
    act: Callable[[], object]

    def open(self) -> Any:
        return _Acted(self)


class _Acted:
    def __init__(self, task: Acting) -> None:
        self._task = task
        self._work = Reversing().open()
        self.schema, self.identity = self._work.schema, self._work.identity

    def answers(self, rows: Any) -> Iterator[Any]:
        if any(row.text == self._task.at for row in rows):
            self._task.act()
        return self._work.answers(rows)


def end() -> None:
    raise OutputError("ended")


def unfinished(texts: Path, output: Path) -> None:
    """Run a job that ends before its last shard is done."""
    with pytest.raises(NymlinkError, match="ended"):
        run(texts, output, Acting(at="text 29", act=end))


def flip(path: Path) -> None:
    """Change a bit of the texts in a part, whose footer stays whole."""
    content = bytearray(path.read_bytes())
    content[content.index(b"txet") if b"txet" in content else 40] ^= 1
    path.write_bytes(content)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": flip,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "empty": lambda path: path.write_bytes(b""),
    "another part": lambda path: shutil.copyfile(path.with_name("part-000000.parquet"), path),
    "another table": lambda path: pq.write_table(pa.table({"x": [1]}), path),
}


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_done_again(texts: Path, tmp_path: Path, damage: str, finished: bool) -> None:
    run(texts, tmp_path / "whole")
    output = tmp_path / "out"
    if finished:
        run(texts, output)
    else:
        unfinished(texts, output)
    DAMAGE[damage](output / "parts" / "part-000002.parquet")
    report = run(texts, output)
    assert (report.done_before, report.workers[0].counts.rows) == ((4, 6) if finished else (3, 12))
    assert files.content(output) == files.content(tmp_path / "whole")


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("name", ["parts", "parts/part-000001.parquet", "job.json", "done.jsonl", "manifest.json"])
def test_nothing_is_written_through_a_link(texts: Path, tmp_path: Path, name: str, restart: bool) -> None:
    output, mine = tmp_path / "out", tmp_path / "mine"
    unfinished(texts, output)
    mine.mkdir()
    (mine / "part-000001.parquet").write_text("mine", encoding="utf-8")
    link = output / name
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(mine if name == "parts" else mine / "part-000001.parquet")
    with pytest.raises(OutputError, match=f"{name}: this is a link"):
        run(texts, output, restart=restart)
    assert (mine / "part-000001.parquet").read_text(encoding="utf-8") == "mine"
    assert len(list(mine.iterdir())) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes there")
def test_a_pipe_among_the_parts_keeps_nobody_waiting(texts: Path, tmp_path: Path) -> None:
    unfinished(texts, tmp_path / "out")
    os.mkfifo(tmp_path / "out" / "parts" / "part-000004.parquet")
    with pytest.raises(OutputError, match="a pipe or something else"):
        run(texts, tmp_path / "out")


JOURNALS = {
    "nested": b"[" * 100_000 + b"\n",
    "noise": bytes(range(256)) * 9 + b"\n",
    "endless numbers": b'{"shard": ' + b"1" * 9000 + b"}\n",
    "no records": b'{"job": 1}\n[]\n7\nnull\n',
}


@pytest.mark.parametrize("journal", JOURNALS)
def test_lines_of_a_journal_that_cannot_be_read_count_for_nothing(
    texts: Path, tmp_path: Path, journal: str
) -> None:
    run(texts, tmp_path / "whole")
    output = tmp_path / "out"
    unfinished(texts, output)
    kept = (output / "done.jsonl").read_bytes()
    # The last line was cut short by a kill.
    (output / "done.jsonl").write_bytes(JOURNALS[journal] + kept[:-20])
    assert run(texts, output).done_before == 3
    assert files.content(output) == files.content(tmp_path / "whole")


def test_a_record_of_other_values_counts_for_nothing(texts: Path, tmp_path: Path) -> None:
    run(texts, tmp_path / "whole")
    output = tmp_path / "out"
    for facts in ({}, {"rows": "6"}, {"rows": 6, "more": 1}):
        unfinished(texts, output)
        lines = [json.loads(line) for line in (output / "done.jsonl").read_text(encoding="utf-8").splitlines()]
        changed = [json.dumps({**line, "facts": facts if line["shard"] == 1 else line["facts"]}) for line in lines]
        (output / "done.jsonl").write_text("\n".join(changed), encoding="utf-8")
        report = run(texts, output)
        assert report.done_before == 3
        assert files.content(output) == files.content(tmp_path / "whole")
        shutil.rmtree(output)


@pytest.mark.parametrize("job", [b"[" * 100_000, b"[]", b"1" * 9000, b"\xff", b""])
def test_a_folder_that_does_not_say_its_job_is_left_alone(texts: Path, tmp_path: Path, job: bytes) -> None:
    output = tmp_path / "out"
    unfinished(texts, output)
    (output / "job.json").write_bytes(job)
    before = files.content(output)
    with pytest.raises(OutputError, match="holds something other than a bulk job"):
        run(texts, output, restart=True)
    assert files.content(output) == before


def test_a_manifest_that_was_changed_is_not_believed(texts: Path, tmp_path: Path) -> None:
    run(texts, tmp_path / "whole")
    output = tmp_path / "out"
    for changed in (
        {"files": {"parts/part-000000.parquet": 7}},
        {"files": {f"parts/part-{'9' * 6000}.parquet": {}}},
    ):
        run(texts, output)
        manifest = json.loads((output / "manifest.json").read_text(encoding="utf-8"))
        (output / "manifest.json").write_text(json.dumps({**manifest, **changed}), encoding="utf-8")
        assert run(texts, output).done_before == 0
        assert files.content(output) == files.content(tmp_path / "whole")


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes there")
@pytest.mark.parametrize("kind", ["pipe", "folder", "nothing", "shorter"])
def test_an_input_that_becomes_something_else_is_named(texts: Path, tmp_path: Path, kind: str) -> None:
    run(texts, tmp_path / "whole")

    def change() -> None:
        if kind == "shorter":
            os.truncate(texts, 400)
            return
        texts.unlink()
        if kind == "pipe":
            os.mkfifo(texts)
        if kind == "folder":
            texts.mkdir()

    with pytest.raises(NymlinkError, match=r"texts.jsonl: .*What is done is kept"):
        run(texts, tmp_path / "out", Acting(at="text 7", act=change))
    if texts.is_dir():
        texts.rmdir()
    texts.unlink(missing_ok=True)
    texts.write_bytes(files.jsonl(TEXTS))
    assert run(texts, tmp_path / "out").done_before == 2
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_job_goes_on_when_there_is_room_again(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(texts, tmp_path / "whole")
    written = []
    write_table = pq.write_table

    def without_room(table: Any, path: Any, **options: Any) -> None:
        written.append(path)
        if len(written) > 3:
            path.write_bytes(b"PAR1")
            raise OSError(errno.ENOSPC, "No space left on device")
        write_table(table, path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", without_room)
        with pytest.raises(NymlinkError, match=r"no space left on the disk.*What is done is kept"):
            run(texts, tmp_path / "out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would write cut bytecode, which the next process cannot read.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(NymlinkError, match=r"cannot write: "):
            run(texts, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert run(texts, tmp_path / "out").done_before == 3
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")


def test_a_clock_that_was_set_back_makes_no_difference(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(texts, tmp_path / "whole")
    unfinished(texts, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        os.utime(path, (4e9, 4e9))
    monkeypatch.setattr(time, "time", lambda: 1e6)
    monkeypatch.setattr(time, "time_ns", lambda: 10**15)
    assert run(texts, tmp_path / "out").done_before == 4
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A shard, its report, and the order and the worker of such.

    Attributes:
        number: of the shard.
        killed: a file: its worker is killed with shard 5 while it is not there; ``""``: always.
    """

    number: int
    killed: str = ""

    @property
    def shard(self) -> int:
        return self.number

    def open(self) -> Numbered:
        return self

    def do(self, shard: Numbered) -> Numbered:
        if shard.number == 5 and not (self.killed and Path(self.killed).exists()):
            if self.killed:
                Path(self.killed).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(shard, killed=str(os.getpid()))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.usefixtures("quick_workers")
def test_shards_of_a_killed_process_are_done_again_in_order(tmp_path: Path) -> None:
    order = Numbered(0, str(tmp_path / "killed"))
    with Processes(2).started(order, order) as workers:
        reports = list(workers.do(map(Numbered, range(20))))
    assert [report.shard for report in reports] == list(range(20))
    assert str(os.getpid()) not in {report.killed for report in reports}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.usefixtures("quick_workers")
def test_a_shard_that_ends_its_process_each_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.jobs.processes.TRIES", 2)
    done = []
    with Processes(2).started(Numbered(0), Numbered(0)) as workers, pytest.raises(WorkerEndedError) as ended:
        done.extend(report.shard for report in workers.do(map(Numbered, range(20))))
    assert (ended.value.shard, ended.value.tries) == (5, 2)


def test_an_input_that_is_another_now_is_refused(texts: Path, tmp_path: Path) -> None:
    unfinished(texts, tmp_path / "out")
    texts.write_bytes(files.jsonl(TEXTS[:20]))
    with pytest.raises(InputError, match="differs in its input"):
        run(texts, tmp_path / "out")
