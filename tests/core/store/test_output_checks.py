"""What may be written where: asked before any work, and never to what is not nymlink's or belongs together."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from nymlink.core.errors import OutputError
from nymlink.core.store.manifest import read_manifest, write_directory
from nymlink.core.store.output_checks import require_changeable, require_directory, require_file, require_place


def made(target: Path, *, kind: str = "thing") -> Path:
    with write_directory(target, kind=kind, version=1, body={}) as directory:
        (directory / "sub").mkdir()
        (directory / "sub" / "file").write_text("data", encoding="utf-8")
    return target


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_a_file_of_a_directory_is_not_replaced_by_another(tmp_path: Path) -> None:
    thing = made(tmp_path / "thing")
    (tmp_path / "link").symlink_to(thing)
    for name in ("thing/sub/file", "thing/manifest.json", "link/sub/file", "thing/sub/../sub/file"):
        with pytest.raises(OutputError, match=r"belongs to the thing in .*thing, which would be damaged"):
            require_file(tmp_path / name)
    for name in ("thing/sub", "link/sub"):
        with pytest.raises(OutputError, match="belongs to the thing"):
            require_directory(tmp_path / name, kind="thing")
    require_file(thing / "sub" / "mine")
    require_directory(thing / "mine", kind="thing")


def test_nor_is_what_a_training_wrote(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"recipe": "sap", "settings": {}, "data": {}}), encoding="utf-8")
    for name in ("run.json", "recipe.toml", "metrics.jsonl"):
        with pytest.raises(OutputError, match="belongs to the training"):
            require_file(tmp_path / name)
    require_file(tmp_path / "picture.png")
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    require_file(tmp_path / "run.json")


def test_foreign_files_are_neither_removed_nor_lost(tmp_path: Path) -> None:
    thing = made(tmp_path / "thing")
    for name in ("notes.txt", "sub/other", "inner/a", "inner/b"):
        (thing / name).parent.mkdir(exist_ok=True)
        (thing / name).write_text("years of work", encoding="utf-8")
    before = {path: path.read_bytes() for path in thing.rglob("*") if path.is_file()}
    for refuse in (lambda: require_directory(thing, kind="thing"), lambda: made(thing)):
        with pytest.raises(
            OutputError, match=r"other files than the thing's, .*: inner/a, inner/b, notes\.txt, …: move them"
        ):
            refuse()
    assert {path: path.read_bytes() for path in thing.rglob("*") if path.is_file()} == before


def test_what_is_put_there_meanwhile_is_not_lost(tmp_path: Path) -> None:
    thing = made(tmp_path / "thing")

    def build() -> None:
        with write_directory(thing, kind="thing", version=1, body={}) as directory:
            (directory / "file").write_text("new", encoding="utf-8")
            (thing / "notes.txt").write_text("just now", encoding="utf-8")

    with pytest.raises(OutputError, match=r"notes\.txt"):
        build()
    assert (thing / "notes.txt").read_text(encoding="utf-8") == "just now"
    assert (thing / "sub" / "file").read_text(encoding="utf-8") == "data"
    (thing / "notes.txt").unlink()
    read_manifest(thing, kind="thing", version=1)


def test_what_a_killed_process_of_ours_left_is_not_foreign(tmp_path: Path) -> None:
    thing = made(tmp_path / "thing")
    (thing / ".manifest.json.999999-abcd@host.partial").write_text("half", encoding="utf-8")
    require_directory(thing, kind="thing")


def test_what_is_read_is_not_written_to(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "folder"
    source.write_text("x", encoding="utf-8")
    folder.mkdir()
    (folder / "part").write_text("x", encoding="utf-8")
    for target, inputs in (
        (source, [source]),
        (tmp_path / "." / "source", [None, source]),
        (folder / "part", [folder]),
    ):
        with pytest.raises(OutputError, match="is an input and would be overwritten"):
            require_file(target, inputs=inputs)
    with pytest.raises(OutputError, match="is an input and would be overwritten"):
        require_directory(folder, kind="thing", inputs=[folder])
    require_file(folder / "new", inputs=[folder])


def test_places_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="no such directory"):
        require_file(tmp_path / "none" / "x")
    with pytest.raises(OutputError, match="this is a directory: name a file"):
        require_file(tmp_path)
    with pytest.raises(OutputError, match="too long"):
        require_file(tmp_path / ("x" * 300))
    with pytest.raises(OutputError, match="not a directory that nymlink made"):
        require_directory(file, kind="thing")
    for check in (lambda: require_directory(file / "x", kind="thing"), lambda: require_place(file / "x" / "y")):
        with pytest.raises(OutputError, match=r"is a file: choose another place|Not a directory"):
            check()
    thing = made(tmp_path / "thing")
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    for check in (
        lambda: require_file(tmp_path / "new"),
        lambda: require_directory(tmp_path / "a" / "b", kind="thing"),
        lambda: require_changeable(thing),
    ):
        with pytest.raises(OutputError, match="Read-only file system"):
            check()


def test_places_that_can_be_are_left_as_they_are(tmp_path: Path) -> None:
    require_file(tmp_path / "new")
    require_file(Path(os.devnull), inputs=[Path(os.devnull)])
    require_directory(tmp_path / "a" / "b", kind="thing")
    require_directory(made(tmp_path / "thing"), kind="thing")
    assert [path.name for path in tmp_path.iterdir()] == ["thing"]


def test_a_drive_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: False)
    with pytest.raises(OutputError, match="/ does not exist: choose another place"):
        require_directory(tmp_path / "index", kind="index")
