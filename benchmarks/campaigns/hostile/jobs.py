"""Jobs with rows that nobody would write, workers and drivers that die, and folders that somebody changed.

Expected: no row is lost or doubled, a message names what is wrong, and the same command goes on to the same bytes
as a run that nothing disturbed. Workers of Ray are killed in ``tests/bulk/test_ray.py``.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.attempts import Attempt, rows_of
from nymlink.core.errors import NymlinkError, OutputError

_MOMENTS: Final = 20
"""At how many moments a driver is killed."""
_ROWS: Final = 60
_TEXTS: Final = [(str(number), f"a renal cyst of {number}") for number in range(_ROWS)]
_SHARD: Final = 6
_STREAMED: Final = 1200
"""Texts whose workers are killed: several hundred are annotated without others."""
_SIZES: Final = (0, 300, 700, 1500, 3000, 6000)
"""Bytes of the largest file, or of the disk, of a job without room."""


def run(folder: Path, *, long: bool) -> list[Row]:
    """Try all kinds.

    Args:
        folder: an empty folder.
        long: makes no difference.
    """
    del long
    from tests.annotation.toy import built_index

    built_index().save(folder / "index")
    return rows_of(attempts(folder / "index"), folder)


def attempts(index: Path) -> Iterator[Attempt]:
    """Make all attempts, those of a kind together.

    Args:
        index: folder of an index of phenotypes.
    """
    for task in ("link", "annotate", "encode"):
        for format in ("jsonl", "csv", "parquet", "pubtator"):
            yield Attempt(
                "rows that nobody would write", f"{task} {format}", partial(_poison, index, task, format)
            )
    yield Attempt("rows that nobody would write", "nymlink annotate", partial(_poison_annotate, index))
    yield Attempt("workers that are killed", "nymlink annotate", partial(_worker_killed, index))
    yield Attempt("workers that are killed", "a document that ends its process", _dies)
    for megabytes in (1, 40, 200):
        yield Attempt("workers without memory", f"{megabytes} MB", partial(_no_memory, megabytes))
    for command in ("bulk", "annotate"):
        for moment in range(_MOMENTS):
            name = f"{command}, moment {moment} of {_MOMENTS}"
            yield Attempt("drivers that are killed", name, partial(_driver_killed, index, command, moment))
    for command in ("bulk", "annotate"):
        for size in _SIZES:
            yield Attempt("full disks", f"{command}, files of {size}", partial(_small_files, index, command, size))
        for pages in (1, 3, 6, 10):
            yield Attempt("full disks", f"{command}, {pages} pages", partial(_small_disk, index, command, pages))
    for name in _DAMAGE:
        for finished in (True, False):
            at = f"{name}, {'finished' if finished else 'unfinished'}"
            yield Attempt("damaged parts", at, partial(_damaged, name, finished))
    for name in _FOREIGN:
        yield Attempt("folders of somebody else", name, partial(_foreign, name))
    for delay in (0.0, 0.2, 0.5, 0.8):
        for command in ("bulk", "annotate"):
            yield Attempt("two jobs at once", f"{command}, {delay} s", partial(_twice, index, command, delay))
    for format in ("jsonl", "csv", "parquet", "jsonl.gz", "pubtator"):
        for name in _CHANGES:
            at = f"{format}, {name}"
            yield Attempt("inputs that change while they are read", at, partial(_changing, format, name))
    for name in _LINKS:
        yield Attempt("links in the output", name, partial(_linked, name))
    for command in ("bulk", "annotate"):
        yield Attempt("a clock that was set back", command, partial(_clock, index, command))


# Jobs, and what they write.


def _written(format: str) -> bytes:
    from tests.bulk import files

    return {
        "jsonl": files.jsonl,
        "csv": files.delimited,
        "parquet": files.parquet,
        "pubtator": files.pubtator,
        "jsonl.gz": lambda texts: gzip.compress(files.jsonl(texts)),
    }[format](_TEXTS)


def _bulk(texts: Path, out: Path, task: Any = None, **options: Any) -> Any:
    from tests.bulk.toy import Reversing

    from nymlink.bulk.job import run_job

    options = {"shard_rows": _SHARD, **options}
    return run_job([texts], out, Reversing() if task is None else task, workers=0, **options)


def _annotate(index: Path, texts: Path, out: Path, processes: int = 1) -> None:
    from nymlink.cli.annotate import annotate

    arguments = [texts, "--index", index, "-o", out, "--format", "jsonl", "--processes", processes, "--resume"]
    annotate.main([str(each) for each in arguments], standalone_mode=False)


def _job(index: Path, command: str, place: Path) -> Callable[[Path], object]:
    """Write the input of a job; return what runs the job with an output."""
    texts = place / "texts.jsonl"
    # As many as are several shards of `annotate`.
    copies = 1 if command == "bulk" else 8
    rows = [(f"{copy}-{id}", text) for copy in range(copies) for id, text in _TEXTS]
    texts.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in rows), encoding="utf-8")
    return partial(_bulk, texts) if command == "bulk" else partial(_annotate, index, texts)


def _content(out: Path) -> object:
    from tests.bulk import files

    return files.content(out) if out.is_dir() else out.read_bytes()


def _whole(job: Callable[[Path], object], place: Path) -> object:
    job(place / "whole")
    return _content(place / "whole")


def _require_same(job: Callable[[Path], object], out: Path, whole: object) -> None:
    """Run a job again: its output must be that of one that was not disturbed, and nothing else be left."""
    job(out)
    assert _content(out) == whole, "the output is another"
    beside = [path.name for path in out.parent.iterdir() if path.name.startswith((f"{out.name}.", f".{out.name}"))]
    # A process that is killed leaves the lock file.
    assert not [name for name in beside if not name.endswith(".lock")], f"left: {beside}"


def _refused(act: Callable[[], object]) -> str:
    """Do what must be refused with a message."""
    try:
        act()
    except NymlinkError as error:
        return str(error)
    raise AssertionError("it was not refused")


def _forked(act: Callable[[], object], *, before: Callable[[], object] = lambda: None) -> int:
    """Do something in a copy of this process; return its exit status: 0, 2 where it was refused, -9."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            before()
            act()
            status = 0
        except NymlinkError as error:
            status = 2 if error.message else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# What is done to them.


def _cells() -> list[Any]:
    """Cells that nobody would write."""
    deep: Any = "x"
    for _ in range(500):
        deep = [deep]
    return [
        *(
            None,
            True,
            False,
            0,
            -1,
            1.5,
            float("nan"),
            float("inf"),
            10**30,
            2**63,
            "",
            " ",
            "\0",
            "a\0b",
            "\ud800",
        ),
        *("renal cyst\udfff", "\ufeff", "\u202e", "\u0300" * 5000, {}, {"a": {"b": []}}, [], ["renal cyst"], deep),
        *("renal cyst " * 1_000_000, "x" * 10_000_000, "(" * 100_000, '"' * 999, "a,b\tc|d", "\r\n\x85\u2028"),
        *("7|t|x", "=1+1", "{", "[1", "NaN", "null"),
    ]


def _poison(index: Path, task: str, format: str, place: Path) -> None:
    """Do rows of which every second one is as it should be: each of these is answered, once."""
    from tests.bulk import files

    from nymlink.bulk.tasks import AnnotateTask, EncodeTask, LinkTask

    texts, cells = place / f"texts.{format}", _cells()
    rows = [value for cell in cells for value in (cell, "renal cyst")]
    good = [f"good-{number}" for number in range(len(cells))]
    ids = [id for number in range(len(cells)) for id in (number, good[number])]
    if format == "jsonl":
        lines = [json.dumps({"id": id, "text": text}) for id, text in zip(ids, rows, strict=True)]
        texts.write_text("\n".join([*lines, "{", "\0", "[]", "\ud800"]), encoding="utf-8", errors="surrogatepass")
    elif format == "csv":
        plain = [(str(id), str(text)[:200_000]) for id, text in zip(ids, rows, strict=True)]
        content = files.delimited([(id, text.encode("utf-8", "replace").decode()) for id, text in plain])
        texts.write_bytes(content + b'1\r\n1,2,3,4\r\n\xff\xfe,\0\r\n"never closed,\r\n')
    elif format == "parquet":
        binary = [None if text is None else str(text).encode("utf-8", "surrogatepass") for text in rows]
        pq.write_table(pa.table({"id": list(map(str, ids)), "text": pa.array(binary, pa.binary())}), texts)
    else:
        plain = [(str(id), " ".join(str(text).split())[:200_000]) for id, text in zip(ids, rows, strict=True)]
        texts.write_bytes(
            "".join(f"{id}|t|{text}\n{id}|a|\n{id}\t1\t2\t\x00\tX\n\n" for id, text in plain).encode(
                "utf-8", "replace"
            )
        )
    column, named = (None, format) if format == "pubtator" else ("text", None)
    done = {
        "link": LinkTask(index=str(index)),
        "annotate": AnnotateTask(index=str(index)),
        "encode": EncodeTask(),
    }[task]
    _bulk(texts, place / "out", done, column=column, format=named, shard_rows=16)
    written = files.output(place / "out")
    id = "id" if task == "encode" else "document_id"
    answered = [row[id] for row in written if row["error"] is None and row[id] in good]
    if format == "pubtator" and task != "annotate":
        # Its mentions are what somebody marked, and it has no names.
        answered = [row[id] for row in written if row[id] in good]
    assert sorted(answered) == sorted(good), f"{len(answered)} of {len(good)} rows"
    again = _bulk(texts, place / "out", done, column=column, format=named, shard_rows=16)
    assert again.done_before == again.shards


def _poison_annotate(index: Path, place: Path) -> None:
    texts = place / "texts.jsonl"
    lines = [json.dumps({"id": str(number), "text": cell}) for number, cell in enumerate(_cells())]
    good = [json.dumps({"id": f"good-{number}", "text": "renal cyst"}) for number in range(len(lines))]
    mixed = [line for both in zip(lines, good, strict=True) for line in both]
    texts.write_text("\n".join([*mixed, "{", "\0"]), encoding="utf-8")
    _annotate(index, texts, place / "out")
    found = [json.loads(line)["document_id"] for line in (place / "out").read_text(encoding="utf-8").splitlines()]
    assert sorted(id for id in found if id.startswith("good")) == sorted(f"good-{n}" for n in range(len(lines)))


def _worker_killed(index: Path, place: Path) -> None:
    """Kill a worker while it works."""
    import psutil

    texts, out = place / "texts.jsonl", place / "out"
    rows = [json.dumps({"id": str(number), "text": f"a renal cyst of {number}"}) for number in range(_STREAMED)]
    texts.write_text("\n".join(rows), encoding="utf-8")
    arguments = ["annotate", texts, "--index", index, "-o", out, "--processes", 2, "--format", "jsonl"]
    driver = subprocess.Popen([sys.executable, "-m", "nymlink", *map(str, arguments)], stderr=subprocess.PIPE)
    killed = False
    while driver.poll() is None and not killed:
        time.sleep(0.05)
        # One may end while it is looked at.
        with suppress(psutil.Error):
            children = psutil.Process(driver.pid).children(recursive=True)
            workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
            if workers and any(place.glob("out.partial/parts/part-*")):
                workers[-1].kill()
                killed = True
    said = driver.communicate()[1].decode()
    assert driver.returncode == 0, said[-500:]
    assert "Traceback" not in said, said[-500:]
    assert killed, "no worker was killed"
    ids = [json.loads(line)["document_id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert ids == [str(number) for number in range(_STREAMED)]


@dataclass(frozen=True, slots=True)
class _Ending:
    """A shard or a report with a number; the worker of number 5 ends."""

    number: int

    @property
    def shard(self) -> int:
        return self.number

    def open(self) -> _Ending:
        return self

    def do(self, shard: _Ending) -> _Ending:
        if shard.number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return shard


def _dies(_: Path) -> None:
    """Have a shard end its worker each time: it is named, and those before it are done."""
    from nymlink.jobs.engine import WorkerEndedError
    from nymlink.jobs.processes import Processes

    done = []
    try:
        with Processes(2).started(_Ending(0), _Ending(0)) as workers:
            done.extend(report.shard for report in workers.do(map(_Ending, range(9))))
    except WorkerEndedError as error:
        if (error.shard, done) == (5, [0, 1, 2, 3, 4]):
            return
    raise AssertionError(f"not named, or not after the others: {done}")


def _no_memory(megabytes: int, place: Path) -> None:
    """Do long rows with little memory; with more of it the job goes on."""
    from tests.bulk import files

    from nymlink.bulk.tasks import EncodeTask

    texts = place / "texts.jsonl"
    texts.write_bytes(files.jsonl([(str(number), "renal cyst " * 60_000) for number in range(12)]))
    job = partial(_bulk, texts, task=EncodeTask(), column="text")

    def little() -> None:
        from nymlink.encode.encoder import Encoder

        # With so little memory the trace of a library that aborts takes for ever.
        os.environ["RUST_BACKTRACE"] = "0"
        Encoder.load("nymlink-mini").encode(["renal cyst"])
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), most))

    status = _forked(lambda: job(place / "out"), before=little)
    # A library that aborts takes its process with it.
    assert status in (0, 2, -signal.SIGABRT), f"status {status}"
    _require_same(job, place / "out", _whole(job, place))


def _driver_killed(index: Path, command: str, moment: int, place: Path) -> None:
    """Kill a driver at one of its changes of files; run it again."""
    job, out, counted = _job(index, command, place), place / "out", place / "counted"

    def watched(last: int) -> None:
        count = 0

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal count
            if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir") and str(out) in str(
                arguments[0]
            ):
                count += 1
                if count == last:
                    os.kill(os.getpid(), signal.SIGKILL)
                if not last:
                    counted.write_text(str(count), encoding="utf-8") if count else None

        sys.addaudithook(watch)

    whole = _whole(job, place)
    # The first run counts the changes; it is in another process, like the killed one, and then removed.
    assert _forked(lambda: job(out), before=lambda: watched(0)) == 0
    changes = int(counted.read_text(encoding="utf-8"))
    shutil.rmtree(out) if out.is_dir() else out.unlink()
    at = 1 + round((changes - 1) * moment / (_MOMENTS - 1))
    assert _forked(lambda: job(out), before=lambda: watched(at)) == -signal.SIGKILL
    _require_same(job, out, whole)


def _small_files(index: Path, command: str, size: int, place: Path) -> None:
    job = _job(index, command, place)
    whole = _whole(job, place)

    def limit() -> None:
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    status = _forked(lambda: job(place / "out"), before=limit)
    assert status in (0, 2), f"status {status}"
    _require_same(job, place / "out", whole)


def _small_disk(index: Path, command: str, pages: int, place: Path) -> None:
    disk = place / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={pages * 4096}", "nymlink-campaign", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise OutputError("no disk can be mounted here")
    try:
        job = _job(index, command, place)
        whole = _whole(job, place)
        status = _forked(lambda: job(disk / "out"))
        assert status in (0, 2), f"status {status}"
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        _require_same(job, disk / "out", whole)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _flip(share: float, path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[int(share * (len(content) - 1))] ^= 1
    path.write_bytes(content)


def _cut(share: float, path: Path) -> None:
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


_DAMAGE: Final[Mapping[str, Callable[[Path], object]]] = {
    **{f"a bit at {share:.0%}": partial(_flip, share) for share in (0, 0.02, 0.1, 0.3, 0.5, 0.8, 0.97, 1)},
    **{f"cut to {share:.0%}": partial(_cut, share) for share in (0, 0.5, 0.99)},
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "gone": lambda path: path.unlink(),
    "another part": lambda path: shutil.copyfile(path.with_name("part-000000.parquet"), path),
    "a table of others": lambda path: pq.write_table(pa.table({"x": [1]}), path),
}


def _damaged(name: str, finished: bool, place: Path) -> None:
    """Damage a part: it is done again, and the others are not."""
    job = _job(place, "bulk", place)
    whole = _whole(job, place)
    out = place / "out"
    if finished:
        job(out)
    else:
        _end_late(place / "texts.jsonl", out)
    stamp = (out / "parts/part-000001.parquet").stat().st_mtime_ns
    _DAMAGE[name](out / "parts/part-000003.parquet")
    _require_same(job, out, whole)
    assert (out / "parts/part-000001.parquet").stat().st_mtime_ns == stamp, "a whole part was done again"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Acting:
    """Turns texts round, as the task of the other jobs, and does something else first when it comes to a text.

    Attributes:
        at: the text.
        act: what to do.
    """

    at: str
    act: Callable[[], object]

    command = "reverse"
    column = "text"
    unit = "texts"
    folders = ()

    def open(self) -> Any:
        from tests.bulk.toy import Reversing

        return _Turned(self, Reversing().open())


class _Turned:
    def __init__(self, task: _Acting, work: Any) -> None:
        self._task, self._work = task, work
        self.schema, self.identity = work.schema, work.identity

    def answers(self, rows: Any) -> Any:
        if any(row.text.strip() == self._task.at for row in rows):
            self._task.act()
        return self._work.answers(rows)


def _stop() -> None:
    raise OutputError("ended")


def _end_late(texts: Path, out: Path) -> None:
    """Run a job that ends with its last shard."""
    _refused(lambda: _bulk(texts, out, _Acting(at=_TEXTS[-1][1], act=_stop)))


def _foreign_manifest(**changed: Any) -> Callable[[Path], object]:
    def change(out: Path) -> None:
        path = out / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changed}), encoding="utf-8")

    return change


_DEEP: Final = "[" * 100_000
_FOREIGN: Final[Mapping[str, Callable[[Path], object]]] = {
    "manifest of an index": _foreign_manifest(kind="index"),
    "manifest, kind a list": _foreign_manifest(kind=[]),
    "manifest, files outside": _foreign_manifest(files={"../texts.jsonl": {"size": 1}}),
    "manifest, files a list": _foreign_manifest(files=[]),
    "manifest, records no objects": _foreign_manifest(files={f"parts/part-{n:06d}.parquet": 7 for n in range(10)}),
    "manifest, endless numbers": _foreign_manifest(files={f"parts/part-{'9' * 6000}.parquet": {}}),
    "manifest, other settings": _foreign_manifest(settings={"a": 1}),
    "manifest of a web page": lambda out: (out / "manifest.json").write_text('{"name": "page"}', encoding="utf-8"),
    "manifest nested": lambda out: (out / "manifest.json").write_text(_DEEP, encoding="utf-8"),
    "manifest empty": lambda out: (out / "manifest.json").write_text("", encoding="utf-8"),
    "job nested": lambda out: _unfinished(out, "job.json", _DEEP),
    "job a list": lambda out: _unfinished(out, "job.json", "[]"),
    "job a number": lambda out: _unfinished(out, "job.json", "1" * 10_000),
    "job not UTF-8": lambda out: _unfinished(out, "job.json", "\udcff"),
    "job a pipe": lambda out: (_unfinished(out, "job.json", None), os.mkfifo(out / "job.json")),
    "journal nested": lambda out: _unfinished(out, "done.jsonl", _DEEP + "\n{}\n[]\n7\n"),
    "journal of noise": lambda out: _unfinished(out, "done.jsonl", Random(0).randbytes(5000).decode("latin-1")),
    "journal, endless numbers": lambda out: _unfinished(out, "done.jsonl", '{"shard":' + "1" * 5000 + "}\n"),
    "journal a pipe": lambda out: (_unfinished(out, "done.jsonl", None), os.mkfifo(out / "done.jsonl")),
    "journal a folder": lambda out: (_unfinished(out, "done.jsonl", None), (out / "done.jsonl").mkdir()),
    "a file beside the parts": lambda out: (out / "parts/notes.txt").write_text("mine", encoding="utf-8"),
    "a part that is a pipe": lambda out: _instead(out, os.mkfifo),
    "a part that is a folder": lambda out: _instead(out, os.mkdir),
}


def _instead(out: Path, make: Callable[[Path], object]) -> None:
    (out / "parts/part-000002.parquet").unlink()
    make(out / "parts/part-000002.parquet")


def _unfinished(out: Path, name: str, text: str | None) -> None:
    """Make a finished job one that is not, with a file as given."""
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    about = {key: value for key, value in manifest.items() if key not in ("files", "digest", "counts", "format")}
    (out / "job.json").write_text(json.dumps(about), encoding="utf-8")
    (out / "manifest.json").unlink()
    (out / name).unlink(missing_ok=True)
    if text is not None:
        (out / name).write_text(text, encoding="utf-8", errors="surrogateescape")


def _foreign(name: str, place: Path) -> None:
    """Change what a folder says of its job: this is refused and nothing is changed, or the output is right."""
    job = _job(place, "bulk", place)
    whole = _whole(job, place)
    out = place / "out"
    job(out)
    _FOREIGN[name](out)
    before = _listed(out)
    try:
        job(out)
    except NymlinkError:
        assert _listed(out) == before, "something was changed"
        return
    assert _content(out) == whole, "the output is another"


def _listed(out: Path) -> object:
    return sorted(
        (str(path), path.read_bytes() if path.is_file() else b"")
        for path in out.rglob("*")
        if path.name != ".lock"
    )


def _twice(index: Path, command: str, delay: float, place: Path) -> None:
    """Start a job twice: one is refused, or comes after the other."""
    job = _job(index, command, place)
    whole = _whole(job, place)
    out = place / "out"
    first = os.fork()
    if first == 0:
        os._exit(_status(job, out))
    time.sleep(delay / 10)
    statuses = [_status(job, out), os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])]
    assert sorted(statuses) in ([0, 0], [0, 2]), f"{statuses}"
    _require_same(job, out, whole)


def _status(job: Callable[[Path], object], out: Path) -> int:
    try:
        job(out)
    except NymlinkError as error:
        return 2 if "another" in error.message else 3
    except BaseException:
        return 1
    return 0


def _shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _replace(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"cyst", b"cost") + b" ")


def _become(make: Callable[[Path], object], path: Path) -> None:
    path.unlink()
    make(path)


_CHANGES: Final[Mapping[str, Callable[[Path], object]]] = {
    "shrinks": _shrink,
    "is emptied": lambda path: os.truncate(path, 0),
    "vanishes": Path.unlink,
    "changes": _replace,
    "becomes a folder": partial(_become, Path.mkdir),
    "may not be read": lambda path: path.chmod(0),
    "becomes a pipe": partial(_become, os.mkfifo),
    "is nothing but zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
}


def _changing(format: str, name: str, place: Path) -> None:
    """Change an input while it is read: this is said, and with the former one the job goes on."""
    texts, out = place / f"texts.{format}", place / "out"
    content = _written(format)
    texts.write_bytes(content)
    whole = _whole(partial(_bulk, texts), place)
    try:
        _bulk(texts, out, _Acting(at=_TEXTS[20][1], act=partial(_CHANGES[name], texts)))
        said = None
    except NymlinkError as error:
        said = str(error)
    if said is None:
        # It was read before the change; root reads everything.
        assert _content(out) == whole, "the output is another"
    else:
        assert texts.name in said, f"not named: {said}"
    if texts.is_dir():
        texts.rmdir()
    elif not texts.is_file():
        texts.unlink(missing_ok=True)
    texts.write_bytes(content)
    _require_same(partial(_bulk, texts), out, whole)


_MINE: Final = "mine"
_LINKS: Final[Mapping[str, Callable[[Path, Path], object]]] = {
    "the parts": lambda out, mine: (shutil.rmtree(out / "parts"), (out / "parts").symlink_to(mine)),
    "a part": lambda out, mine: _link(out / "parts/part-000002.parquet", mine / "part-000000.parquet"),
    "a part, to nothing": lambda out, mine: _link(out / "parts/part-000002.parquet", mine / "new"),
    "the job": lambda out, mine: _link(out / "job.json", mine / "part-000000.parquet"),
    "the journal": lambda out, mine: _link(out / "done.jsonl", mine / "part-000000.parquet"),
    "the manifest": lambda out, mine: _link(out / "manifest.json", mine / "part-000000.parquet"),
    "the manifest, to nothing": lambda out, mine: _link(out / "manifest.json", mine / "new"),
    "the lock": lambda out, mine: _link(out / ".lock", mine / "part-000000.parquet"),
    "the lock, to nothing": lambda out, mine: _link(out / ".lock", mine / "new"),
    "the output": lambda out, mine: (shutil.rmtree(out), out.symlink_to(mine)),
    "the output, to nothing": lambda out, mine: (shutil.rmtree(out), out.symlink_to(mine / "new/er")),
}


def _link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _linked(name: str, place: Path) -> None:
    """Put a link into the output: what it leads to stays as it is, also when the job is to be replaced."""
    job = _job(place, "bulk", place)
    for restart in (False, True):
        out, mine = place / f"out-{restart}", place / f"mine-{restart}"
        mine.mkdir()
        (mine / "part-000000.parquet").write_text(_MINE, encoding="utf-8")
        job(out)
        _LINKS[name](out, mine)
        with suppress(NymlinkError):
            _bulk(place / "texts.jsonl", out, restart=restart)
        left = {path.name: path.read_text(encoding="utf-8") for path in mine.iterdir() if path.is_file()}
        assert left == {"part-000000.parquet": _MINE}, f"{sorted(left)} after restart={restart}"


def _clock(index: Path, command: str, place: Path) -> None:
    """Set the clock back by years between a run that ends early and the one that goes on."""
    job = _job(index, command, place)
    whole = _whole(job, place)
    out, now = place / "out", time.time
    assert _forked(lambda: job(out), before=lambda: _kill_at_rename(out, 4)) == -signal.SIGKILL
    for path in out.parent.rglob("*"):
        os.utime(path, (4e9, 4e9), follow_symlinks=False)
    setattr(time, "time", lambda: now() - 1e8)  # noqa: B010 — a clock is replaced
    try:
        _require_same(job, out, whole)
    finally:
        setattr(time, "time", now)  # noqa: B010


def _kill_at_rename(out: Path, last: int) -> None:
    count = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event == "os.rename" and str(out) in str(arguments[0]):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
