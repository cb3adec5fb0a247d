"""Writing so that nothing half-made is ever seen, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import platform
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from nymlink.core.errors import OutputError
from nymlink.core.store.atomic import atomic_directory, atomic_file, output_errors

HOST = platform.node()
FULL = Path("/dev/full")


def fill(target: Path, text: str) -> None:
    with atomic_directory(target) as partial:
        (partial / "file").write_text(text, encoding="utf-8")


def files(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8")
        for path in directory.rglob("*")
        if path.is_file()
    }


def run(code: str, *arguments: object) -> subprocess.Popen[str]:
    head = (
        "import sys, time\nfrom pathlib import Path\n"
        "from nymlink.core.store.atomic import atomic_directory, atomic_file\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, arguments)], stdout=-1, stderr=-1, encoding="utf-8"
    )


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_directory_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "place"
    with atomic_directory(target) as partial:
        (partial / "file").write_text("x", encoding="utf-8")
        assert not target.exists()
    assert files(tmp_path) == {"new/place/file": "x"}


def test_a_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    fill(tmp_path / "x", "old")
    (tmp_path / "x" / "more").write_text("", encoding="utf-8")
    fill(tmp_path / "x", "new")
    assert files(tmp_path) == {"x/file": "new"}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", ["", "old"])
def test_an_error_inside_changes_nothing(tmp_path: Path, error: type[BaseException], before: str) -> None:
    if before:
        fill(tmp_path / "x", before)
        (tmp_path / "y").write_text(before, encoding="utf-8")
    left = files(tmp_path)

    def break_off(target: Path) -> None:
        with atomic_directory(target) as partial:
            (partial / "sub").mkdir()
            (partial / "sub" / "file").write_text("half", encoding="utf-8")
            raise error

    def break_file_off(target: Path) -> None:
        with atomic_file(target) as part:
            part.write_text("half", encoding="utf-8")
            raise error

    with pytest.raises(error):
        break_off(tmp_path / "x")
    with pytest.raises(error):
        break_file_off(tmp_path / "y")
    assert files(tmp_path) == left
    assert len(list(tmp_path.iterdir())) == len(left)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_and_changes_nothing(tmp_path: Path) -> None:
    def fill_the_disk(target: Path) -> None:
        with atomic_directory(target) as partial:
            (partial / "file").symlink_to(FULL)
            (partial / "file").write_text("new", encoding="utf-8")

    fill(tmp_path / "x", "old")
    with pytest.raises(OutputError, match=r"x: cannot write: no space left.*nothing was changed"):
        fill_the_disk(tmp_path / "x")
    assert files(tmp_path) == {"x/file": "old"}
    with pytest.raises(OutputError, match="no space left"), atomic_file(FULL) as device:
        device.write_text("x", encoding="utf-8")
    assert stat.S_ISCHR(FULL.stat().st_mode)


def test_a_directory_within_one_that_cannot_be_written_is_not_named_by_its_temporary_path(tmp_path: Path) -> None:
    target = tmp_path / "index"

    def write(inner: Path) -> None:
        with atomic_directory(inner):
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OutputError, match="no space left") as caught, atomic_directory(target) as partial:
        write(partial / "vocabulary")
    assert caught.value.path == str(target)
    assert ".partial" not in str(caught.value)
    with pytest.raises(OutputError, match="no space left") as caught, atomic_directory(target):
        write(tmp_path / "elsewhere")
    assert caught.value.path == str(tmp_path / "elsewhere")


def test_an_error_that_names_no_reason_is_passed_on(tmp_path: Path) -> None:
    # This is what NumPy says of a full disk.
    with (
        pytest.raises(OutputError, match=r"300 requested and 8 written \(the disk may be full\)"),
        output_errors(tmp_path),
    ):
        raise OSError("300 requested and 8 written")


def test_a_build_that_hits_a_file_size_limit_leaves_nothing(tmp_path: Path) -> None:
    code = """
import resource
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
with atomic_directory(Path(sys.argv[1])) as partial:
    (partial / "file").write_text("x" * 2000)
"""
    process = run(code, tmp_path / "x")
    assert "OutputError" in process.communicate(timeout=60)[1]
    assert list(tmp_path.iterdir()) == []


def kill_while_building(target: Path) -> None:
    code = """
with atomic_directory(Path(sys.argv[1])) as partial, atomic_file(Path(sys.argv[1] + ".txt")) as part:
    (partial / "file").write_text("half")
    part.write_text("half")
    print("ready", flush=True)
    time.sleep(60)
"""
    process = run(code, target)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


# Characters that mean something in a pattern must not keep the rests from being found.
@pytest.mark.parametrize("name", ["plain", "odd [1]*"])
def test_a_killed_build_leaves_the_old_and_the_next_one_clears_up(tmp_path: Path, name: str) -> None:
    target, file = tmp_path / name, tmp_path / f"{name}.txt"
    fill(target, "old")
    file.write_text("old", encoding="utf-8")
    kill_while_building(target)
    assert (files(target), file.read_text(encoding="utf-8")) == ({"file": "old"}, "old")
    assert len(list(tmp_path.iterdir())) == 4
    fill(target, "new")
    with atomic_file(file) as part:
        part.write_text("new", encoding="utf-8")
    assert files(tmp_path) == {f"{name}/file": "new", f"{name}.txt": "new"}
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_living_or_another_build_needs_is_not_cleared(tmp_path: Path) -> None:
    dead = dead_process()
    kept = [
        f".x.{os.getppid()}-0a@{HOST}.partial",  # alive
        f".x.{os.getpid()}-0a@{HOST}.partial",  # of another thread
        f".x.{dead}-0a@elsewhere.partial",  # on another host, which shares the folder
        f".x.{os.getppid()}.{dead}-0a@{HOST}.partial",  # of a target called x.<number>
        f".x.{dead}-0a@{HOST}.partial.txt",
    ]
    for name in [*kept, f".x.{dead}-0a@{HOST}.partial"]:
        (tmp_path / name).mkdir()
    fill(tmp_path / "x", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "x"])


@pytest.mark.parametrize("ending", ["partial", "retired"])
def test_what_was_left_within_the_temporary_directory_of_a_killed_build_is_cleared(
    tmp_path: Path, ending: str
) -> None:
    dead = dead_process()
    outer = f".x.{dead}-0a@{HOST}.partial"
    kept = f".{outer}.{os.getppid()}-0b@{HOST}.partial"
    for name in (outer, f".{outer}.{dead}-0b@{HOST}.{ending}", kept):
        fill(tmp_path / name, "half")
    fill(tmp_path / "x", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([kept, "x"])


def test_of_files_that_are_never_written_again_any_other_clears_up(tmp_path: Path) -> None:
    dead = dead_process()
    left = tmp_path / f".x.npy.{dead}-0a@{HOST}.partial"
    kept = [f".x.npy.{os.getppid()}-0a@{HOST}.partial", f".x.npy.{dead}-0a@elsewhere.partial", ".x.npy"]
    for path in (left, *(tmp_path / name for name in kept)):
        path.write_text("half", encoding="utf-8")
    fill(tmp_path / f".y.{dead}-0a@{HOST}.retired", "old")
    for sweep in (False, True):
        with atomic_file(tmp_path / "z.npy", sweep=sweep) as part:
            part.write_text("whole", encoding="utf-8")
        assert left.exists() is not sweep
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "y", "z.npy"])
    assert files(tmp_path / "y") == {"file": "old"}


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("done", [False, True])
def test_an_interrupt_between_the_renamings_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, done: bool
) -> None:
    fill(tmp_path / "x", "old")
    rename, calls = Path.rename, []

    def interrupted(path: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) != at:
            return rename(path, target)
        if done:
            rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "x", "new")
    assert files(tmp_path) == {"x/file": "new" if (at, done) == (2, True) else "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_what_a_build_had_put_aside_when_it_was_killed_is_put_back(tmp_path: Path) -> None:
    aside = tmp_path / f".x.{dead_process()}-0a@{HOST}.retired"
    fill(aside, "old")
    with pytest.raises(RuntimeError), atomic_directory(tmp_path / "x"):
        raise RuntimeError
    assert files(tmp_path) == {"x/file": "old"}


def test_two_builds_of_one_directory_at_once_both_end_well(tmp_path: Path) -> None:
    code = """
target, text, end = Path(sys.argv[1]), sys.argv[2], time.time() + 1.5
done = 0
while time.time() < end:
    with atomic_directory(target) as partial:
        for name in "abc":
            (partial / name).write_text(text)
    done += 1
print(done)
"""
    builds = [run(code, tmp_path / "x", text) for text in ("one", "two")]
    for build in builds:
        output, errors = build.communicate(timeout=60)
        assert errors == ""
        assert int(output) > 10
    found = files(tmp_path)
    assert set(found) == {"x/a", "x/b", "x/c"}
    assert len(set(found.values())) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_two_threads_that_write_one_target_at_once_both_end_well(tmp_path: Path) -> None:
    inside = Barrier(2, timeout=30)

    def build(text: str) -> None:
        for _ in range(20):
            inside.wait()
            with atomic_directory(tmp_path / "x") as partial, atomic_file(tmp_path / "y") as part:
                inside.wait()
                (partial / "a").write_text(text, encoding="utf-8")
                part.write_text(text, encoding="utf-8")
                inside.wait()
                (partial / "b").write_text(text, encoding="utf-8")

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(build, text) for text in ("one", "two")]:
            done.result()
    found = files(tmp_path)
    assert set(found) == {"x/a", "x/b", "y"}
    assert found["x/a"] == found["x/b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y"]


def test_a_link_goes_on_pointing_where_it_did(tmp_path: Path) -> None:
    fill(tmp_path / "v1", "old")
    (tmp_path / "current").symlink_to("v1")
    fill(tmp_path / "current", "new")
    (tmp_path / "latest.txt").symlink_to("v1.txt")
    with atomic_file(tmp_path / "latest.txt") as part:
        part.write_text("text", encoding="utf-8")
    assert (tmp_path / "current").is_symlink()
    assert (tmp_path / "latest.txt").is_symlink()
    assert files(tmp_path / "v1") == {"file": "new"}
    assert (tmp_path / "v1.txt").read_text(encoding="utf-8") == "text"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = 'with atomic_file(Path(sys.argv[1])) as part:\n    part.write_text("x")'
    process = run(code, pipe)
    assert pipe.read_text(encoding="utf-8") == "x"
    assert process.wait(timeout=60) == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("target", ["file/x", "x" * 300, "file/x/y"])
def test_where_nothing_can_be_written_is_an_output_error(tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        fill(tmp_path / target, "")
    with pytest.raises(OutputError, match="cannot write"), atomic_file(tmp_path / target) as part:
        part.write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot write"), atomic_file(tmp_path) as part:
        part.write_text("", encoding="utf-8")
    assert files(tmp_path) == {"file": ""}


def test_a_file_needs_the_directory_it_goes_to(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file"), atomic_file(tmp_path / "no" / "x") as part:
        part.write_text("", encoding="utf-8")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_parent_is_an_output_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="Permission denied"):
            fill(tmp_path / "x", "")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("code", [5, 32])
def test_what_windows_holds_open_is_said(tmp_path: Path, code: int) -> None:
    denied = PermissionError(13, "Access is denied")
    denied.winerror = code  # type: ignore[attr-defined]
    with pytest.raises(OutputError, match="a program probably has one of its files open"), output_errors(tmp_path):
        raise denied
