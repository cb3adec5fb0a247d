"""Jobs done in one process: answers, rows that fail, jobs that are killed and gone on with."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.annotation.annotator import Annotator
from nymlink.bulk.job import run_job
from nymlink.bulk.report import Counts
from nymlink.bulk.sources import cut_sources
from nymlink.bulk.tasks import AnnotateTask, EncodeTask, LinkTask
from nymlink.core.errors import InputError, NymlinkError, OutputError
from nymlink.core.problems import Problems
from nymlink.core.store.manifest import find_damage
from nymlink.encode.encoder import Encoder
from nymlink.jobs import job_folder
from nymlink.linking.linker import Linker
from nymlink.tables.shards import Shard
from tests.annotation.toy import built_index
from tests.bulk import files
from tests.bulk.toy import Reversing

# Not forked: threads of Arrow, which may hold locks, would be missing in the copy.
SPAWN = multiprocessing.get_context("spawn")
TEXTS = [(str(number), f"text {number}") for number in range(30)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with an index of phenotypes."""
    folder = tmp_path_factory.mktemp("bulk") / "index"
    built_index().save(folder)
    return str(folder)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(files.jsonl(TEXTS))
    return path


def run(inputs: Path, output: Path, task: Any = None, **options: Any) -> Any:
    return run_job([inputs], output, Reversing() if task is None else task, workers=0, **options)


def test_mentions_of_tables_are_linked_as_by_a_linker(index: str, tmp_path: Path) -> None:
    mentions = ["Renal cyst", "cyst of kidney", "seizures", "nothing like it", ""]
    path = tmp_path / "mentions.csv"
    path.write_bytes(files.delimited([(f"m{place}", mention) for place, mention in enumerate(mentions)]))
    report = run(path, tmp_path / "out", LinkTask(index=index, top_k=2), column="text", shard_rows=2)
    linker = Linker.load(index, top_k=2)
    links = [linker.link(mention) for mention in mentions]
    expected = [
        (f"m{place}", mention or None, None if link.nil else candidate.concept_id)
        for place, (mention, link) in enumerate(zip(mentions, links, strict=True))
        for candidate in (link.candidates[:2] if not link.nil else [None])
    ]
    written = files.output(tmp_path / "out")
    assert [(row["document_id"], row["mention"], row["concept_id"]) for row in written] == expected
    assert {row["source"] for row in written} == {str(path)}
    assert [row["row"] for row in written] == [int(row["document_id"][1:]) + 2 for row in written]
    nil = sum(link.nil for link in links)
    assert report.counts == Counts(rows=5, rejected=0, mentions=5, nil=nil, written=len(expected))
    assert nil >= 1


def test_mentions_are_found_in_texts_of_any_format_as_by_an_annotator(index: str, tmp_path: Path) -> None:
    texts = [("a", "No seizures, a renal cyst."), ("b", "Nothing."), ("c", "Short and broad thumb.")]
    annotator = Annotator.load(index)
    expected = [
        (id, link.mention.text, link.mention.start, link.context.flags["negated"])
        for id, text in texts
        for link in annotator.annotate(text)
        if link.context is not None
    ]
    assert len(expected) >= 4
    for name, content in (
        ("texts.jsonl", files.jsonl(texts)),
        ("texts.tsv", files.delimited(texts, "\t")),
        ("texts.parquet", files.parquet(texts)),
        ("texts.pubtator.gz", gzip.compress(files.pubtator(texts))),
    ):
        (tmp_path / name).write_bytes(content)
        run(tmp_path / name, tmp_path / f"{name}-out", AnnotateTask(index=index), shard_rows=1)
        written = files.output(tmp_path / f"{name}-out")
        assert [(row["document_id"], row["mention"], row["start"], row["negated"]) for row in written] == expected


def test_mentions_of_documents_are_linked(index: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(
        "7|t|A renal cyst.\n7|a|\n7\t2\t12\trenal cyst\tDisease\tX:1\n\n8|t|No\n8|a|\n", encoding="utf-8"
    )
    run(path, tmp_path / "out", LinkTask(index=index))
    [row] = files.output(tmp_path / "out")
    assert (row["document_id"], row["start"], row["end"], row["concept_id"]) == ("7", 2, 12, "P:16")
    with pytest.raises(InputError, match="no columns: leave --column out"):
        run(path, tmp_path / "other", LinkTask(index=index), column="text")


def test_names_are_encoded_as_by_an_encoder(tmp_path: Path) -> None:
    names = ["heart attack", "seizure", "", "heart attack"]
    path = tmp_path / "names.parquet"
    path.write_bytes(files.parquet([(str(place), name) for place, name in enumerate(names)]))
    report = run(path, tmp_path / "out", EncodeTask(), column="text")
    written = files.output(tmp_path / "out")
    assert [row["name"] for row in written] == names
    assert np.array_equal(
        np.array([row["vector"] for row in written], np.float32), Encoder.load("nymlink-mini").encode(names)
    )
    assert report.counts == Counts(rows=4, mentions=4, nil=1, written=4)
    (tmp_path / "notes.txt").write_bytes(files.pubtator([("1", "Seizure")]))
    refused = run(tmp_path / "notes.txt", tmp_path / "refused", EncodeTask())
    assert refused.counts.rejected == 1
    assert "encode a table of names" in files.output(tmp_path / "refused")[0]["error"]


def test_a_row_that_fails_says_why_and_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    bad = {3: "boom", 4: "boom", 11: "boom"}
    lines = [json.dumps({"id": place, "text": bad.get(place, f"text {place}")}) for place in range(16)]
    lines[7] = "{broken"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    problems = Problems()
    report = run(path, tmp_path / "out", shard_rows=10, problems=problems)
    written = files.output(tmp_path / "out")
    assert [row["row"] for row in written] == list(range(1, 17))
    errors = {row["row"] - 1: row["error"] for row in written if row["error"]}
    assert errors == {7: "not a JSON object"} | dict.fromkeys(bad, "ZeroDivisionError: boom goes nowhere")
    assert [row["reversed"] for row in written if not row["error"]] == [
        f"text {place}"[::-1] for place in range(16) if place not in errors
    ]
    assert {row["id"] for row in written if row["error"]} == {"3", "4", "11", None}
    assert report.counts == Counts(rows=16, rejected=4, mentions=12, nil=0, written=16)
    assert sorted(problem.line or 0 for problem in problems.first) == [4, 5, 8, 12]


@pytest.mark.usefixtures("quick_workers")
def test_a_job_that_is_killed_again_and_again_ends_with_the_same_bytes(texts: Path, tmp_path: Path) -> None:
    run(texts, tmp_path / "whole", shard_rows=2)
    chance, kills = random.Random(1), 0
    while not (tmp_path / "out" / "manifest.json").exists():
        seconds = 0.2 if kills < 3 else 0.0
        process = multiprocessing.get_context("spawn").Process(
            target=run, args=(texts, tmp_path / "out", Reversing(seconds=seconds)), kwargs={"shard_rows": 2}
        )
        process.start()
        wanted = len(list(tmp_path.glob("out/parts/part-*"))) + chance.randint(1, 4)
        while process.is_alive() and len(list(tmp_path.glob("out/parts/part-*"))) < wanted:
            time.sleep(0.002)
        if process.is_alive() and kills < 3:
            os.kill(process.pid or 0, signal.SIGKILL)
            kills += 1
        process.join()
    assert kills >= 3
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")
    _, damage = find_damage(tmp_path / "out")
    assert damage == []


@dataclass(frozen=True, slots=True)
class Counting:
    """Turns texts round, and notes them."""

    done: list[str]

    command, column, unit, folders = "reverse", "text", "texts", ()

    def open(self) -> Any:
        return _Counted(self.done)


class _Counted:
    def __init__(self, done: list[str]) -> None:
        self._done, self._work = done, Reversing().open()
        self.schema, self.identity = self._work.schema, self._work.identity

    def answers(self, rows: Any) -> Any:
        self._done += [row.text.strip() for row in rows]
        return self._work.answers(rows)


class EndedError(BaseException):
    """In place of a kill."""


def end_before_each_change(
    output: Path, prepare: Callable[[], object], go: Callable[[], object]
) -> Iterator[None]:
    """End a job before the first change of its folder, let it go on, and yield; before the second; and so on."""
    left = [0]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        changed = event in ("open", "os.rename", "os.remove", "os.mkdir")
        if left[0] and changed and re.match(f"{re.escape(str(output))}(?!.*[.]lock$)", str(arguments[0])):
            left[0] -= 1
            if not left[0]:
                raise EndedError

    sys.addaudithook(watch)
    for number in count(1):
        shutil.rmtree(output, ignore_errors=True)
        prepare()
        left[0] = number
        try:
            go()
            ended = False
        except EndedError:
            go()
            ended = True
        left[0] = 0
        yield
        if not ended:
            break
    assert number > 20


@pytest.mark.parametrize("restart", [False, pytest.param(True, marks=pytest.mark.large)])
def test_a_job_that_ends_before_any_change_of_its_folder_goes_on(
    texts: Path, tmp_path: Path, restart: bool
) -> None:
    output = tmp_path / "out"
    run(texts, tmp_path / "whole", shard_rows=10)
    run(texts, tmp_path / "other", shard_rows=15)
    for _ in end_before_each_change(
        output,
        lambda: restart and shutil.copytree(tmp_path / "other", output),
        lambda: run(texts, output, shard_rows=10, restart=restart),
    ):
        assert files.content(output) == files.content(tmp_path / "whole")


def test_a_job_that_another_process_finished_meanwhile_is_kept(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    require_place = job_folder.require_place

    def meanwhile(path: Path) -> None:
        monkeypatch.undo()
        run(texts, output, shard_rows=15)
        require_place(path)

    monkeypatch.setattr(job_folder, "require_place", meanwhile)
    with pytest.raises(InputError, match="differs in its rows of a part"):
        run(texts, output, shard_rows=10)
    assert len(list((output / "parts").iterdir())) == 2


def test_only_what_is_not_done_is_done(texts: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run(texts, output, shard_rows=10)
    whole = files.content(output)
    assert sorted(whole) == ["manifest.json", *(f"parts/part-00000{number}.parquet" for number in range(3))]
    again = run(texts, output, shard_rows=10)
    assert (again.done_before, again.shards, again.workers) == (3, 3, ())
    assert again.counts == Counts(rows=30, mentions=30, written=30)
    stamps = {path.name: path.stat().st_mtime_ns for path in (output / "parts").iterdir()}
    # A part that was lost, one that another job wrote, what a killed worker left.
    (output / "parts" / "part-000001.parquet").unlink()
    other = tmp_path / "other"
    run(texts, other, shard_rows=15)
    (output / "parts" / "part-000002.parquet").write_bytes((other / "parts" / "part-000001.parquet").read_bytes())
    (output / "parts" / ".part-000001.parquet.1-0a@elsewhere.partial").touch()
    report = run(texts, output, shard_rows=10)
    assert (report.done_before, report.workers[0].counts.rows) == (1, 20)
    assert files.content(output) == whole
    assert (output / "parts" / "part-000000.parquet").stat().st_mtime_ns == stamps["part-000000.parquet"]


def test_another_job_is_refused_unless_it_is_to_be_replaced(texts: Path, index: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run(texts, output, shard_rows=10)
    before = files.content(output)
    with pytest.raises(InputError, match=r"differs in its rows of a part: .*--restart"):
        run(texts, output, shard_rows=11)
    with pytest.raises(InputError, match="differs in its command, "):
        run(texts, output, AnnotateTask(index=index), shard_rows=10)
    texts.write_bytes(files.jsonl([*TEXTS[:-1], ("29", "changed")]))
    with pytest.raises(InputError, match=r"differs in its input \(.*texts.jsonl, row 21\): choose"):
        run(texts, output, shard_rows=10)
    assert files.content(output) == before
    run(texts, output, shard_rows=15, restart=True)
    assert sorted(path.name for path in (output / "parts").iterdir()) == [
        "part-000000.parquet",
        "part-000001.parquet",
    ]


GROWTHS: dict[str, dict[str, list[int]]] = {
    "rows at the end": {"b": [0, 25], "d": [30, 40]},
    "a file between": {"b": [0, 25], "c": [50, 58], "d": [30, 40]},
    "files before and behind": {"a": [60, 71], "b": [0, 25], "d": [30, 40], "e": [72, 75]},
    "rows of the first file": {"b": [0, 29], "d": [30, 40]},
}
"""Files with numbers of texts, in place of texts 0 to 24 in b and 30 to 36 in d."""


@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("format", ["jsonl", "table", "pubtator"])
def test_a_job_whose_input_has_grown_does_only_what_is_new(growth: str, format: str, tmp_path: Path) -> None:
    write = {"jsonl": files.jsonl, "table": files.delimited, "pubtator": files.pubtator}[format]
    before: dict[str, list[int]] = {"b": [0, 25], "d": [30, 37]}
    grown, done = tmp_path / "input", []

    def put(ranges: dict[str, list[int]]) -> None:
        grown.mkdir(exist_ok=True)
        for name, (start, stop) in ranges.items():
            (grown / name).write_bytes(write([(str(each), f"text {each}") for each in range(start, stop)]))

    put(before)
    run(grown, tmp_path / "out", shard_rows=5)
    put(GROWTHS[growth])
    task = Counting(done)
    report = run(grown, tmp_path / "out", task, shard_rows=5)
    texts = [each for start, stop in GROWTHS[growth].values() for each in range(start, stop)]
    old = [each for start, stop in before.values() for each in range(start, stop)]
    assert (report.counts.rows, report.new_rows) == (len(texts), len(texts) - len(old))
    # Of the old rows only those of a last part that was short are linked again.
    again = {int(text.removeprefix("text ")) for text in done} & set(old)
    assert again <= {35, 36}
    assert {f"text {each}" for each in set(texts) - set(old)} <= set(done)
    run(grown, tmp_path / "whole", shard_rows=5)
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")
    assert run(grown, tmp_path / "out", shard_rows=5).workers == ()


def test_a_grown_job_that_ends_before_any_change_of_its_folder_goes_on(tmp_path: Path) -> None:
    first, last = tmp_path / "input" / "a.jsonl", tmp_path / "input" / "c.jsonl"
    last.parent.mkdir()
    last.write_bytes(files.jsonl(TEXTS[20:]))
    run(last.parent, tmp_path / "before", shard_rows=5)
    first.write_bytes(files.jsonl(TEXTS[:7]))
    run(last.parent, tmp_path / "whole", shard_rows=5)
    output = tmp_path / "out"
    for _ in end_before_each_change(
        output,
        lambda: shutil.copytree(tmp_path / "before", output),
        lambda: run(last.parent, output, shard_rows=5),
    ):
        assert files.content(output) == files.content(tmp_path / "whole")


@pytest.mark.parametrize("change", ["a row", "a header", "fewer rows", "no file", "Parquet"])
def test_input_that_lacks_what_it_had_is_refused(change: str, tmp_path: Path) -> None:
    table, other = tmp_path / "input" / "a", tmp_path / "input" / "b"
    table.parent.mkdir()
    write = files.parquet if change == "Parquet" else files.delimited
    table.write_bytes(write(TEXTS[:8]))
    other.write_bytes(files.jsonl(TEXTS[8:]))
    run(table.parent, tmp_path / "out", shard_rows=5)
    before = files.content(tmp_path / "out")
    if change == "a row":
        table.write_bytes(files.delimited([*TEXTS[:7], ("7", "texts"), *TEXTS[:3]]))
    if change == "a header":
        table.write_bytes(table.read_bytes().replace(b"id,text", b"ix,text"))
    if change == "fewer rows":
        table.write_bytes(files.delimited(TEXTS[:7]))
    if change == "no file":
        table.unlink()
    if change == "Parquet":
        table.write_bytes(files.parquet([*TEXTS[:8], *TEXTS[:3]]))
    with pytest.raises(InputError, match=r"differs in its input \(.*input.a, row \d\): choose .*--restart"):
        run(table.parent, tmp_path / "out", shard_rows=5)
    assert files.content(tmp_path / "out") == before


def test_processes_of_this_machine_write_what_one_writes(texts: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    run(texts, tmp_path / "whole", shard_rows=4)
    # This process opens the task, too.
    task = Reversing(pids=str(pids), together=3)
    report = run_job([texts], tmp_path / "out", task, workers=2, shard_rows=4)
    assert files.content(tmp_path / "out") == files.content(tmp_path / "whole")
    assert len(report.workers) == 2
    threads = {path.read_text(encoding="utf-8") for path in pids.iterdir() if path.name != str(os.getpid())}
    assert threads == {"1"}


@pytest.mark.usefixtures("quick_workers")
def test_a_row_that_ends_its_process_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.jobs.processes.TRIES", 1)
    path = tmp_path / "texts.jsonl"
    path.write_bytes(files.jsonl([*TEXTS[:5], ("x", "die"), *TEXTS[5:10]]))
    with pytest.raises(NymlinkError, match=r"the worker of shard 2 \(.*texts.jsonl, row 5\) ended early 1 times"):
        run_job([path], tmp_path / "out", Reversing(), workers=1, shard_rows=2)


def test_a_share_of_a_gpu_needs_ray(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give an address"):
        run_job([texts], tmp_path / "out", Reversing(), gpus=1)


def test_input_that_changes_under_a_job_is_said(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = tmp_path / "texts.parquet"
    parquet.write_bytes(files.parquet(TEXTS))
    for path, changed in ((texts, files.jsonl([("0", "other")])), (parquet, files.parquet(TEXTS[1:]))):
        content = path.read_bytes()

        def cut(sources: Any, rows: int, path: Path = path, changed: bytes = changed) -> list[Shard]:
            shards = list(cut_sources(sources, rows))
            path.write_bytes(changed)
            return shards

        monkeypatch.setattr("nymlink.bulk.job.cut_sources", cut)
        with pytest.raises(NymlinkError, match=r"has changed since the job began.* the same command goes on once"):
            run(path, tmp_path / path.suffix)
        monkeypatch.undo()
        path.write_bytes(content)
        assert run(path, tmp_path / path.suffix).counts.rows == 30


def test_folders_with_anything_else_are_left_alone(texts: Path, index: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", encoding="utf-8")
    for restart in (False, True):
        with pytest.raises(OutputError, match=r"holds something other than a bulk job \(thesis.tex\)"):
            run(texts, tmp_path / "mine", restart=restart)
        with pytest.raises(OutputError, match="something other than a bulk job"):
            run(texts, Path(index), restart=restart)
        with pytest.raises(OutputError, match="this is a file"):
            run(texts, tmp_path / "mine" / "thesis.tex", restart=restart)
    run(texts, tmp_path / "out")
    (tmp_path / "out" / "parts" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"\(parts/notes.txt\)"):
        run(texts, tmp_path / "out", restart=True)
    assert (tmp_path / "out" / "parts" / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_an_output_within_the_input_is_refused(texts: Path, tmp_path: Path) -> None:
    for output in (texts.parent, texts.parent / "out", texts):
        with pytest.raises(OutputError, match="is in the input"):
            run(texts.parent if output != texts else texts, output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.jsonl"]


def test_parts_of_another_version_are_not_gone_on_with(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(texts, tmp_path / "out")
    monkeypatch.setattr("nymlink.bulk.job.version", lambda _: "99.0")
    with pytest.raises(InputError, match="differs in its version of nymlink: choose"):
        run(texts, tmp_path / "out")


def test_two_jobs_do_not_write_to_one_folder(texts: Path, tmp_path: Path) -> None:
    process = SPAWN.Process(
        target=run, args=(texts, tmp_path / "out", Reversing(seconds=60)), kwargs={"shard_rows": 10}
    )
    process.start()
    while not (tmp_path / "out" / "job.json").exists():
        time.sleep(0.01)
    with pytest.raises(OutputError, match="another bulk job is writing to this folder"):
        run(texts, tmp_path / "out", shard_rows=10)
    process.kill()
    process.join()
    assert run(texts, tmp_path / "out", shard_rows=10).counts.rows == 30


def test_an_index_that_is_not_there_is_said_before_anything_is_written(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(NymlinkError, match="no such index"):
        run(texts, tmp_path / "out", LinkTask(index=str(tmp_path / "nowhere")), column="text")
    assert not (tmp_path / "out").exists()


def test_names_that_are_cut_are_warned_of_once(tmp_path: Path) -> None:
    (tmp_path / "names.jsonl").write_bytes(files.jsonl([(str(n), f"very long name {n} " * 99) for n in range(4)]))
    with pytest.warns(UserWarning, match="4 of 4 names are longer than") as warned:
        run(tmp_path / "names.jsonl", tmp_path / "out", EncodeTask(), column="text", shard_rows=2)
    assert len(warned) == 1
